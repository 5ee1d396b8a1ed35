#!/usr/bin/env bats
# equal.bats - which documents are equal: the same in every command, kind of cluster and recipe

load common

# a and b have the same tokens and other bytes, c has b's bytes, d none of it.
four_documents() {
    cat >four.jsonl <<'END'
{"id":"a","text":"We shall meet again where the two rivers meet, at noon."}
{"id":"b","text":"we shall meet again where the two rivers meet at noon"}
{"id":"c","text":"we shall meet again where the two rivers meet at noon"}
{"id":"d","text":"nothing of this kind was ever said by anybody at all"}
END
}

# Short and empty documents: 1 and 2 are equal in tokens, 1 and 3 in bytes, 5 and 7 are empty, 6 has no tokens.
short_documents() {
    cat >short.jsonl <<'END'
{"id":1,"text":"Hello"}
{"id":2,"text":"hello"}
{"id":3,"text":"Hello"}
{"id":4,"text":"buy"}
{"id":5,"text":""}
{"id":6,"text":"!"}
{"id":7,"text":""}
{"id":8,"text":"sell"}
END
}

# Print what the commands say of one file: the pairs, and which document the explanation joins to which.
found_pairs() {
    neardup pairs -q "$@" >pairs.tsv || [ $? -eq 1 ]
    cut -f 1,2 pairs.tsv | tr '\t' - | tr '\n' ' '
}

kept() {
    neardup dedup -q "$@" -o kept.jsonl
    ids kept.jsonl
}

@test "equal tokens are duplicates where the signature of both is rejected" {
    four_documents
    for recipe in broder-1997 text-profile; do
        for cluster in star components complete; do
            [ "$(kept four.jsonl --recipe $recipe --cluster $cluster)" = "a d" ]
        done
        [ "$(found_pairs four.jsonl --recipe $recipe)" = "a-b a-c b-c " ]
        head -n 1 four.jsonl >prototypes.jsonl
        tail -n 3 four.jsonl >stream.jsonl
        neardup filter -q --recipe $recipe -p prototypes.jsonl stream.jsonl -o caught.jsonl
        [ "$(ids caught.jsonl)" = "b c" ]
        neardup explain --recipe $recipe --corpus four.jsonl a b >said
        grep -q "^ *verdict.*duplicate" said
    done
}

@test "slow: short documents are equal by their policy in every command" {
    short_documents
    for recipe in default broder-1997 text-profile manku-2007; do
        for cluster in star components complete; do
            [ "$(kept short.jsonl --recipe $recipe --cluster $cluster)" = "1 2 4 5 6 8" ]
            [ "$(kept short.jsonl --recipe $recipe --cluster $cluster --short tokens)" = "1 4 5 6 8" ]
            [ "$(kept short.jsonl --recipe $recipe --cluster $cluster --set short=keep)" = "1 2 3 4 5 6 7 8" ]
        done
        [ "$(found_pairs short.jsonl --recipe $recipe)" = "1-3 5-7 " ]
        [ "$(found_pairs short.jsonl --recipe $recipe --set short=tokens)" = "1-2 1-3 2-3 5-7 " ]
        [ "$(found_pairs short.jsonl --recipe $recipe --short keep)" = "" ]
        printf '{"id":"p","text":"Hello"}\n{"id":"q","text":""}\n' >prototypes.jsonl
        neardup filter -q --recipe $recipe -p prototypes.jsonl short.jsonl -o caught.jsonl
        [ "$(ids caught.jsonl)" = "1 3 5 7" ]
        neardup filter -q --recipe $recipe --short tokens -p prototypes.jsonl short.jsonl -o caught.jsonl
        [ "$(ids caught.jsonl)" = "1 2 3 5 7" ]
        run neardup filter -q --recipe $recipe --set short=keep -p prototypes.jsonl short.jsonl -o caught.jsonl
        [ "$status" -eq 1 ]
    done
}

@test "short documents with other words are never duplicates, whatever their sketches say" {
    printf '{"id":%s,"text":"%s"}\n' 1 "buy" 2 "sell" 3 "buy now" 4 "buying now" >short.jsonl
    for options in "--bands 128x1 --verify none" "--recipe manku-2007" "--method simhash --bits 15 --verify none"; do
        for cluster in star components complete; do
            # shellcheck disable=SC2086
            [ "$(kept short.jsonl $options --cluster $cluster --short tokens)" = "1 2 3 4" ]
        done
        # shellcheck disable=SC2086
        [ "$(found_pairs short.jsonl $options --short tokens)" = "" ]
    done
}

@test "a document belongs to the cluster of what it equals, by bytes or by tokens" {
    words=$(printf 'w%s ' $(seq 40))
    {
        echo "{\"id\":\"lead\",\"text\":\"$words\"}"
        echo "{\"id\":\"far\",\"text\":\"$words x1 x2 x3 x4 x5 x6\"}"
        echo "{\"id\":\"near\",\"text\":\"$words x1 x2 x3 x4 x5 x6 y1 y2 y3 y4 y5 y6\"}"
        echo "{\"id\":\"bytes\",\"text\":\"$words x1 x2 x3 x4 x5 x6\"}"
        echo "{\"id\":\"tokens\",\"text\":\"$words X1 x2 x3 x4 x5 x6\"}"
    } >chain.jsonl
    neardup dedup -q --cluster complete chain.jsonl -o kept.jsonl --clusters clusters.tsv
    [ "$(grep -P '^(far|bytes|tokens)\t' clusters.tsv | cut -f 2 | tr '\n' ' ')" = "lead lead lead " ]
    [ "$(ids kept.jsonl)" = "lead near" ]
}

@test "components without verification do not say that they verified" {
    {
        echo '{"id":1,"text":"one two three four five six seven eight nine ten eleven twelve thirteen"}'
        echo '{"id":2,"text":"one two three four five six seven eight nine ten eleven twelve fourteen"}'
        echo '{"id":3,"text":"One two three four five six seven eight nine ten eleven twelve fourteen"}'
    } >near.jsonl
    for cluster in components complete star; do
        neardup dedup -q --verify none --bands 128x1 --cluster $cluster near.jsonl -o kept.jsonl --manifest rows.jsonl
        [ "$(rows rows.jsonl removed verified resemblance shared | sed -n 1p)" = "2 false null null" ]
    done
    neardup dedup -q --verify none --bands 128x1 --cluster components near.jsonl -o kept.jsonl --manifest rows.jsonl
    [ "$(rows rows.jsonl removed via via_resemblance)" = "$(printf '2 1 null\n3 2 1')" ]
    neardup dedup -q --cluster components -t .5 near.jsonl -o kept.jsonl --manifest rows.jsonl
    [ "$(rows rows.jsonl removed verified | sed -n 1p)" = "2 true" ]
}

@test "the nearest is so by the measure that decides, in filter as in dedup" {
    # d has 40 shingles, and is nearer to s by cosine, to p by resemblance.
    python3 - <<'PY'
import json
words = [f"w{i}" for i in range(42)]
def write(name, docs):
    with open(name, "w") as f:
        for i, text in docs:
            f.write(json.dumps({"id": i, "text": " ".join(text)}) + "\n")
p = ("p", words[:34] + [f"p{i}" for i in range(28)]) # 60 shingles, 32 shared: cosine .653, resemblance .471
s = ("s", words[:20]) # 18, all shared: cosine .671, resemblance .45
write("stream.jsonl", [("d", words)])
write("two.jsonl", [p, s])
write("all.jsonl", [p, s, ("d", words)])
PY
    neardup filter -q -p two.jsonl --verify cosine -t .6 --candidates all -a stream.jsonl -o rows.jsonl
    python3 -c 'import json; assert json.loads(open("rows.jsonl").readline())["prototype"] == "s"'
    neardup filter -q -p two.jsonl -t .4 --candidates all -a stream.jsonl -o rows.jsonl
    python3 -c 'import json; assert json.loads(open("rows.jsonl").readline())["prototype"] == "p"'
    neardup dedup -q --verify cosine -t .6 --candidates all all.jsonl -o kept.jsonl --clusters clusters.tsv
    grep -qx "$(printf 'd\ts')" clusters.tsv
}
