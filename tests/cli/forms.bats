#!/usr/bin/env bats
# forms.bats - --forms: documents that differ only in numbers, names or dates are no duplicates

bats_require_minimum_version 1.5.0
load common

write_said() {
    local said="She said that she lives in Hull with her two brothers and a cat, and has 3 rooms, since Monday"
    {
        printf '{"id":"hull","text":"%s"}\n' "$said"
        printf '{"id":"york","text":"%s"}\n' "${said/Hull/York}"
        printf '{"id":"rooms","text":"%s"}\n' "${said/3 rooms/4 rooms}"
        printf '{"id":"friday","text":"%s"}\n' "${said/Monday/Friday}"
        printf '{"id":"dog","text":"%s"}\n' "${said/a cat/a dog}"
        printf '{"id":"signs","text":"%s"}\n' "${said/, and/ - and}"
    } >said.jsonl
}

kept() { neardup dedup -q -t 0.6 "$@" said.jsonl | jq -r .id | paste -sd' '; }

@test "forms: of the classes that are named, and of no others" {
    write_said
    [ "$(kept)" = hull ]
    [ "$(kept --forms none)" = hull ]
    [ "$(kept --forms numbers)" = "hull rooms" ]
    [ "$(kept --forms names)" = "hull york rooms" ]
    [ "$(kept --forms dates)" = "hull york rooms friday" ]
}

@test "forms: every way of running that has the texts decides the same" {
    write_said
    cat said.jsonl said.jsonl >all.jsonl
    mv all.jsonl said.jsonl
    for forms in numbers names dates; do
        plain=$(kept --forms $forms)
        [ "$(kept --set forms=$forms)" = "$plain" ]
        [ "$(kept --forms $forms --memory 64M)" = "$plain" ]
        [ "$(kept --forms $forms --candidates all)" = "$plain" ]
        [ "$(kept --forms $forms --checkpoint seen.$forms)" = "$plain" ]
        [ "$(kept --forms $forms --checkpoint seen.$forms)" = "$plain" ]
        [ "$(kept --forms $forms --threads 4)" = "$plain" ]
    done
}

@test "forms: pairs, filter and explain know them" {
    write_said
    neardup pairs -q -t 0.4 --forms dates said.jsonl | cut -f 1,2 | tr '\t' ' ' | sort >pairs
    printf '%s\n' "dog signs" "friday dog" "hull dog" "hull signs" "rooms dog" "york dog" >expected
    diff expected pairs
    head -n 1 said.jsonl >prototype.jsonl
    [ "$(neardup filter -q -t 0.6 --forms dates -p prototype.jsonl said.jsonl | jq -r .id | paste -sd' ')" = "hull dog signs" ]
    neardup explain -t 0.6 --forms names --corpus said.jsonl hull york | grep -q "only names differ"
    neardup explain -t 0.6 --forms numbers --corpus said.jsonl hull york | grep -q "reaches 3/5"
    neardup explain --forms names --corpus said.jsonl hull york | grep -q "is below 4/5"
}

@test "forms: what has no texts, or compares not all members, refuses them" {
    write_said
    neardup sketch -q said.jsonl -o said.sketch
    run -2 neardup dedup -q --forms names said.sketch
    [[ $output == *"forms: said.sketch is a sketch file, and this needs the documents themselves"* ]]
    run -2 neardup dedup -q --forms names --against said.sketch said.jsonl
    [[ $output == *"forms: said.sketch has sketches, and telling forms apart needs the texts"* ]]
    run -2 neardup dedup -q --forms names --set cluster=complete said.jsonl
    [[ $output == *"forms: with cluster 'complete' not all members of a cluster are compared"* ]]
    run -2 neardup dedup -q --forms names --method identical said.jsonl
    [[ $output == *"forms: equal documents differ in no words"* ]]
}
