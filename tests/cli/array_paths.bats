#!/usr/bin/env bats
# array_paths.bats - text fields whose path goes through arrays: messages.*.content

load common

# Show which text a record gives by what it is equal to: the records of a file with the text fields
# given, and those of another whose field "text" is what was expected.
same_texts() { # RECORDS EXPECTED FIELD…
    local options=() records=$1 expected=$2
    shift 2
    for field in "$@"; do options+=(--text-field "$field"); done
    neardup sketch "$records" -q --shingle 1c "${options[@]}" >got.sketch
    neardup sketch "$expected" -q --shingle 1c >expected.sketch
    [ "$(wc -l <got.sketch)" -eq "$(wc -l <"$expected")" ]
    cmp <(sed 's/"id":"[^"]*",//' got.sketch) <(sed 's/"id":"[^"]*",//' expected.sketch)
    # Equal to the last byte: every pair of the two is removed as identical.
    { cat "$records" && cat "$expected"; } >both.jsonl
    neardup dedup both.jsonl -q --shingle 32 "${options[@]}" --text-field text --manifest m.jsonl -o /dev/null
    [ "$(rows m.jsonl identical | grep -c bytes)" -ge "$(wc -l <"$expected")" ]
}

@test "array paths: the elements' texts in their order, joined by line ends" {
    cat >chat.jsonl <<'END'
{"messages":[{"role":"user","content":"one two"},{"role":"assistant","content":"three \u00e9"}]}
{"messages":[{"content":"only one"}]}
{"messages":[{"role":"user"},{"content":null},{"content":""},{"content":"after what is missing, null or empty"},{"content":"last"}]}
{"messages":[{"content":"first of equal keys","content":"second of them"}],"messages":[{"content":"of another array"}]}
{"messages.*.content":"the whole path, dots and all, comes first","messages":[{"content":"not this"}]}
{"messages":[{"content":"nor this"}],"messages.*.content":"wherever it stands"}
{"messages":{"*":{"content":"a key that is a star"}}}
{"messages":[[{"content":"of an array within, not reached"}],{"content":"reached"},7,"x",{"deeper":{"content":"no"}}]}
END
    cat >texts.jsonl <<'END'
{"text":"one two\nthree é"}
{"text":"only one"}
{"text":"after what is missing, null or empty\nlast"}
{"text":"first of equal keys"}
{"text":"the whole path, dots and all, comes first"}
{"text":"wherever it stands"}
{"text":"a key that is a star"}
{"text":"reached"}
END
    same_texts chat.jsonl texts.jsonl 'messages.*.content'
}

@test "array paths: arrays of texts, arrays within arrays, and several fields" {
    cat >in.jsonl <<'END'
{"title":"a title","pages":[{"lines":["l1","l2"]},{"lines":[]},{"lines":["l3"]}]}
{"pages":[{"lines":["l4"]}],"title":"t"}
{"title":"alone"}
END
    printf '%s\n' '{"text":"a title\nl1\nl2\nl3"}' '{"text":"t\nl4"}' '{"text":"alone"}' >texts.jsonl
    same_texts in.jsonl texts.jsonl title 'pages.*.lines.*'
    # The fields in the order of the options, whatever stands first in the record.
    printf '%s\n' '{"text":"l1\nl2\nl3\na title"}' '{"text":"l4\nt"}' '{"text":"alone"}' >texts.jsonl
    same_texts in.jsonl texts.jsonl 'pages.*.lines.*' title
    printf '%s\n' '{"p":["a","b"],"q":[[1],["c"]]}' >in.jsonl
    printf '%s\n' '{"text":"a\nb"}' >texts.jsonl
    same_texts in.jsonl texts.jsonl 'p.*'
    run neardup sketch in.jsonl -q --text-field 'q.*.*'
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"in.jsonl:1: q.*.* is a number"* ]]
}

@test "array paths: a record without such a text is bad, and says what it has" {
    printf '{"messages":[],"id":1}\n{"id":2,"messages":"none"}\n{"messages":[{"content":[{"text":"in parts"}]}]}\n{"messages":[{"content":"some words"}]}\n' >in.jsonl
    run neardup dedup in.jsonl -q --max-bad 100% --text-field 'messages.*.content' -o out
    [[ ${lines[0]} == *'in.jsonl:1: messages.*.content is absent: the record has messages, id;'* ]]
    [[ ${lines[1]} == *'in.jsonl:2: messages.*.content is absent: the record has id, messages'* ]]
    [[ ${lines[2]} == *'in.jsonl:3: messages.*.content is an array' ]]
    [ "$(cat out)" = '{"messages":[{"content":"some words"}]}' ]
    neardup dedup in.jsonl -q --missing-text empty --text-field 'messages.*.content' -o out
    [ "$(wc -l <out)" -eq 2 ]
    # Parts within parts have a path as well.
    neardup dedup in.jsonl -q --max-bad 100% --text-field 'messages.*.content.*.text' -o out 2>err
    [ "$(cat out)" = '{"messages":[{"content":[{"text":"in parts"}]}]}' ]
}

@test "array paths: bytes that were repaired in one element keep texts apart" {
    printf '{"m":[{"c":"p\xeache and others"},{"c":"more words"}]}\n{"m":[{"c":"p\xe8che and others"},{"c":"more words"}]}\n' >in.jsonl
    printf '{"m":[{"c":"more words"},{"c":"a \\ud800 of words"}]}\n{"m":[{"c":"more words"},{"c":"a \\ud801 of words"}]}\n' >>in.jsonl
    neardup dedup in.jsonl -q --text-field 'm.*.c' -o /dev/null --manifest m 2>/dev/null
    [ "$(rows m identical | tr '\n' ' ')" = '"no" "no" ' ]
    neardup dedup in.jsonl in.jsonl -q --text-field 'm.*.c' -o /dev/null --manifest m 2>/dev/null
    [ "$(rows m identical | tail -4 | grep -c bytes)" -eq 2 ]
}

@test "array paths: long records, and every number of threads" {
    python3 - <<'END'
import json, random
random.seed(3)
with open("chat.jsonl", "w") as a, open("flat.jsonl", "w") as b:
    for i in range(400):
        turns = [" ".join(random.choices("ab cd ef gh ij kl é mn".split(), k=random.randrange(0, 40))) for _ in range(random.randrange(1, 30))]
        if i % 3 == 0 and i:
            turns = last[:-1] + ["changed"]
        last = turns
        print(json.dumps({"id": i, "messages": [{"role": "user", "content": t, "n": [i, {"content": "not this"}]} for t in turns]}), file=a)
        print(json.dumps({"id": i, "text": "\n".join(t for t in turns if t)}), file=b)
END
    neardup dedup flat.jsonl -q -o /dev/null --clusters expected
    for threads in 1 3; do
        neardup dedup chat.jsonl -q -j $threads --text-field 'messages.*.content' -o /dev/null --clusters got
        cmp expected got
    done
    [ "$(cut -f 2 got | sort -u | wc -l)" -lt 390 ]
}
