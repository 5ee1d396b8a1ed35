#!/usr/bin/env bats
# never.bats - --never: documents that are no duplicates of any (Manku 2007, section 6 B)

load common

# Pages with a kind: four that were not found, two of which have the same bytes, and copies of a text.
pages() {
    local gone="the page that you asked for was not found on this server at this time"
    local text="one two three four five six seven eight nine ten eleven twelve thirteen"
    {
        echo "{\"id\":\"a\",\"kind\":\"page\",\"status\":200,\"text\":\"$text\"}"
        echo "{\"id\":\"x\",\"kind\":\"error\",\"status\":404,\"text\":\"$gone\"}"
        echo "{\"id\":\"b\",\"kind\":\"page\",\"status\":200,\"text\":\"$text fourteen\"}"
        echo "{\"id\":\"y\",\"kind\":\"error\",\"status\":404,\"text\":\"$gone\"}"
        echo "{\"id\":\"z\",\"kind\":\"gone\",\"status\":410,\"text\":\"$gone again\"}"
        echo "{\"id\":\"c\",\"kind\":\"error\",\"status\":404,\"text\":\"$text\"}"
        echo "{\"id\":\"d\",\"status\":200,\"text\":\"$gone\"}"
    } >pages.jsonl
}

@test "documents of --never are kept, and nothing is removed for them, whatever finds duplicates" {
    pages
    for options in "" "-j1" "-j3" "--cluster components" "--cluster complete" "--keep last" "--keep longest" \
        "-m identical" "-m simhash" "--candidates all" "--recipe manku-2007" "--short tokens" "--within kind"; do
        # shellcheck disable=SC2086
        neardup dedup pages.jsonl -q -o out --never status=404,410 $options
        kept=$(ids out)
        for id in x y z c d; do
            [[ " $kept " == *" $id "* ]] || { echo "$options: $kept"; return 1; }
        done
    done
    neardup dedup pages.jsonl -q -o out --never status=404,410
    [ "$(ids out)" = "a x y z c d" ]
    neardup dedup pages.jsonl -q -o out --never status=404 --never kind=gone --summary s --manifest m
    [ "$(ids out)" = "a x y z c d" ]
    grep -q '"never_documents":4,' s
    head -1 m | grep -q '"never":\[\["status","404"\],\["kind","gone"\]\]'
    neardup dedup pages.jsonl -q -o out --never kind=error
    [ "$(ids out)" = "a x y z c" ]
    neardup dedup pages.jsonl -q -o out
    [ "$(ids out)" = "a x" ]
}

@test "documents of --never are in no pair, match no prototype and are none, and are results of their own" {
    pages
    [ "$(neardup pairs pages.jsonl -q --never status=404,410 | cut -f1,2 | tr '\t\n' '  ')" = "a b " ]
    grep '"[axz]"' pages.jsonl >prototypes.jsonl
    [ "$(neardup filter -p prototypes.jsonl pages.jsonl -q | wc -l)" -eq 7 ]
    neardup filter -p prototypes.jsonl pages.jsonl -q --never status=404,410 >out
    [ "$(ids out)" = "a b" ]
    # A prototype that counts is not hidden by an equal one that does not.
    grep '"[xd]"' pages.jsonl >prototypes.jsonl
    neardup filter -p prototypes.jsonl pages.jsonl -q --never kind=error >out
    [ "$(ids out)" = "z d" ]
    neardup collapse pages.jsonl -q --never status=404,410 >out
    [ "$(ids out)" = "a x y z c d" ]
    neardup collapse pages.jsonl -q --never status=410 >out
    [ "$(ids out)" = "a x z" ]
}

@test "--never that names a wrong field is warned of, and one without a value is refused" {
    pages
    run neardup dedup pages.jsonl -q -o out --never state=404,410 --never state=500
    [[ ${lines[0]} == "neardup: warning: never: no document has a field 'state'"* ]]
    for wrong in status status= =404; do
        run neardup pairs pages.jsonl -q --never "$wrong"
        [ "$status" -eq 2 ]
        [ "$output" = "neardup: --never: '$wrong' does not have the form FIELD=A,B,C" ]
    done
    run neardup dedup pages.jsonl -o out --never status=404
    [[ $output == *"never duplicates                  3"* ]]
    run neardup track pages.jsonl --never status=404
    [[ $output == *"is not an option of track"* ]]
}
