#!/usr/bin/env bats
# perturb.bats - neardup perturb: words inserted, removed, swapped and replaced at random

bats_require_minimum_version 1.5.0
load common

setup_documents() {
    python3 -c 'import json
for d in range(20):
    print(json.dumps({"id": d, "text": "  " + "\n ".join(f"w{d}x{i}" for i in range(60)) + " "}))' >a.jsonl
}

@test "perturb: so many edits are so many edited words" {
    setup_documents
    for n in 0 1 3 8; do
        neardup perturb -q --delete $n --seed $n a.jsonl >deleted.jsonl
        neardup perturb -q --insert $n a.jsonl >inserted.jsonl
        neardup perturb -q --replace $n a.jsonl >replaced.jsonl
        neardup perturb -q --swap $n a.jsonl >swapped.jsonl
        python3 - $n <<'END'
import json, sys
n = int(sys.argv[1])
def read(name):
    return [json.loads(line) for line in open(name)]
words = {w for r in read("a.jsonl") for w in r["text"].split()}
for a, d, i, r, s in zip(*map(read, ["a.jsonl", "deleted.jsonl", "inserted.jsonl", "replaced.jsonl", "swapped.jsonl"])):
    old = a["text"].split()
    assert all((x["id"], x["words"], x["edits"]) == (a["id"], 60, n) for x in (d, i, r, s))
    gone = d["text"].split()
    assert len(gone) == 60 - n and [w for w in old if w in set(gone)] == gone
    more = iter(i["text"].split())
    assert all(w in more for w in old) and len(i["text"].split()) == 60 + n and set(i["text"].split()) <= words
    other = r["text"].split()
    assert sum(x != y for x, y in zip(old, other)) == n and len(other) == 60 and set(other) <= words
    turned = s["text"].split()
    places = [k for k in range(60) if turned[k] != old[k]]
    assert len(places) == 2 * n and all(turned[k] == old[k + 1] and turned[k + 1] == old[k] for k in places[::2])
    assert r["text"].startswith("  ") and s["text"].startswith("  ") and (n or s["text"] == a["text"])
END
    done
}

@test "perturb: shares hold on average, and the same document is edited in the same way" {
    setup_documents
    neardup perturb -q --delete 1% --swap 0.04 a.jsonl >edited.jsonl
    # 60 words: .6 and 2.4 of each document.
    python3 -c 'import json
edits = [json.loads(line)["edits"] for line in open("edited.jsonl")]
assert set(edits) <= {2, 3, 4} and 50 <= sum(edits) <= 70, edits'
    tail -5 a.jsonl >some.jsonl
    neardup perturb -q --delete 1% --swap 0.04 some.jsonl | cmp - <(tail -5 edited.jsonl)
    run -1 cmp <(neardup perturb -q --delete 1% --swap 0.04 --seed 2 a.jsonl) edited.jsonl
    neardup perturb -q --insert 3 --replace 3 -j 1 a.jsonl >one
    neardup perturb -q --insert 3 --replace 3 -j 8 a.jsonl | cmp - one
}

@test "perturb: only words of a lexicon" {
    printf 'Hull\nport\nzebra\n' >words
    echo '{"id":1,"text":"The port of hull, Hull and the Portsmouth"}' >a.jsonl
    [ "$(neardup perturb -q --delete 9 --lexicon words a.jsonl)" = '{"id":1,"text":"The of and the Portsmouth","words":8,"edits":3}' ]
    neardup perturb -q --replace 100% --lexicon words a.jsonl >edited
    run grep -cE '"text":"The (Hull|zebra) of (Hull|port|zebra) (port|zebra) and the Portsmouth"' edited
    [ "$output" = 1 ]
    echo two words >>words
    run neardup perturb -q --delete 1 --lexicon words a.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"words:4: a line of a lexicon is one word"* ]]
    : >none
    run neardup perturb -q --delete 1 --lexicon none a.jsonl
    [[ $output == *"none: there is no word"* ]]
}

@test "perturb: what cannot be edited is left, and what cannot be asked for is refused" {
    printf '{"id":"%s","text":"%s"}\n' a '' b one c '  ' d 'one one' >a.jsonl
    neardup perturb -q --delete 5 --swap 1 --replace 2 a.jsonl >edited
    [ "$(sed 's/.*"edits":\(.*\)}/\1/' edited | tr '\n' ' ')" = "0 1 0 2 " ]
    run neardup perturb a.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"no edits: give --insert, --delete, --swap or --replace"* ]]
    run neardup perturb --insert 120% a.jsonl
    [[ $output == *"no number of words and no share"* ]]
    run neardup perturb --insert -3 a.jsonl
    [ "$status" -eq 2 ]
    run neardup perturb -q --insert 1 - <a.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"read twice: name files, or a --lexicon"* ]]
    neardup perturb -q --delete 1 - <a.jsonl >edited
}

@test "perturb: an edited text has so many edits, and terms in another order are the same terms" {
    setup_documents
    for n in 1 3 8; do
        neardup perturb -q --insert 1 --delete $((n - 1)) --seed $n a.jsonl >b.jsonl
        neardup perturb -q --swap $n a.jsonl >c.jsonl
        for d in 0 7 19; do
            for name in a b c; do sed -n $((d + 1))p $name.jsonl >${name}1.jsonl; done
            edits=$(neardup compare a1.jsonl b1.jsonl --metric edit || true)
            [ "$edits" -le $n ]
            edits=$(neardup compare a1.jsonl c1.jsonl --metric edit || true)
            [ "$edits" -le $((2 * n)) ]
            [ "$(neardup compare a1.jsonl c1.jsonl --metric cosine-tf || true)" = 1.000000 ]
        done
    done
}

@test "perturb --beside: the output is the truth of itself; --least leaves out short documents" {
    {
        echo '{"id":7,"text":"one two three four five six seven eight nine ten eleven twelve"}'
        printf '%s\n' '{"id":"b","text":"short and\tsharp"}'
        echo '{"id":"c","text":"red orange yellow green blue indigo violet black white grey brown pink"}'
    } >a.jsonl
    neardup perturb -q --delete 1 --beside --least 4 a.jsonl >both.jsonl
    python3 - <<'END'
import json
rows = [json.loads(line) for line in open("both.jsonl")]
assert [(r["id"], r["edits"], r["cluster"]) for r in rows] == [(7, 0, 7), ("7~", 1, 7), ("c", 0, "c"), ("c~", 1, "c")], rows
texts = {d["id"]: d["text"] for d in map(json.loads, open("a.jsonl"))}
assert rows[0]["text"] == texts[7] and rows[2]["text"] == texts["c"]
assert len(rows[1]["text"].split()) == 11 and len(rows[3]["text"].split()) == 11
END
    # Edited as without the option.
    neardup perturb -q --delete 1 a.jsonl >alone.jsonl
    [ "$(python3 -c 'import json
for line in open("alone.jsonl"): print(json.loads(line)["text"])' | sed 2d)" = "$(python3 -c 'import json
for i, line in enumerate(open("both.jsonl")): print(json.loads(line)["text"]) if i % 2 else 0')" ]
    neardup sweep -q --set threshold=0.5,1 --truth both.jsonl both.jsonl >rows
    [ "$(cut -f 1,5-7 rows | tail -2)" = "$(printf '0.5\t2\t2\t0\n1\t0\t0\t0')" ]
    printf '9\tx\tred\n8\ty\tblue\nsharp\n' >lexicon
    neardup perturb -q --delete 2 --lexicon lexicon --least 2 a.jsonl >two
    [ "$(cat two)" = '{"id":"c","text":"orange yellow green indigo violet black white grey brown pink","words":12,"edits":2}' ]
}
