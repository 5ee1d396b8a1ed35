#!/usr/bin/env bats
# mirrors.bats - neardup mirrors: pairs of hosts

load common

# a.org and b.org: ten equal pages, five similar, five different, of 22 paths in either; c.org has
# other paths, d.org the paths of a.org and other texts.
pages() {
    python3 - <<'PY' >pages.jsonl
import json, random
random.seed(3)
words = [f"w{i}" for i in range(2000)]
text = lambda: " ".join(random.choices(words, k=200))
out = []
def page(host, path, text):
    out.append({"url": f"http://{host}{path}", "text": text})
for i in range(20):
    t = text()
    page("a.org", f"/docs/page{i}.html", t)
    other = t if i < 10 else t + " and one more thing" if i < 15 else text()
    page("B.org:80", f"/docs/page{i}.html#top", other)
    page("c.org", f"/papers/{i}", t)
    page("d.org", f"/docs/page{i}.html", text())
page("a.org", "/only/here", text())
page("b.org", "/there?q=1", text())
random.shuffle(out)
for i, row in enumerate(out):
    print(json.dumps({"id": i, **row}))
PY
}

@test "mirrors: shares of equal and similar pages at the same paths" {
    pages
    neardup mirrors pages.jsonl --sample 0 --json >rows.jsonl
    python3 - <<'PY'
import json
(row,) = [json.loads(line) for line in open("rows.jsonl")]
assert sorted((row["a"], row["b"])) == ["a.org", "b.org"], row
assert (row["pages_a"], row["pages_b"]) == (21, 21)
assert (row["either"], row["shared"], row["equal"], row["similar"]) == (22, 20, 10, 5), row
assert (10 + 5 * .9) / 22 < row["score"] < 15 / 22
assert 0 < row["words"] < 1
PY
    neardup mirrors pages.jsonl --sample 0 --score 0 >rows.tsv
    [ "$(cut -f1,2 rows.tsv | sed 1d | tr '\t' '\n' | sort -u | tr '\n' ' ')" = "a.org b.org d.org " ]
    [ "$(head -1 rows.tsv | cut -f1-5)" = "$(printf 'a\tb\tpages_a\tpages_b\teither')" ]
}

@test "mirrors: a sample takes the same paths of every host" {
    pages
    neardup mirrors pages.jsonl --sample 8 --json --score 0.3 >rows.jsonl
    python3 - <<'PY'
import json
(row,) = [json.loads(line) for line in open("rows.jsonl")]
assert row["pages_a"] == 21 and 6 <= row["either"] <= 8 and row["shared"] >= row["either"] - 2, row
PY
    neardup mirrors pages.jsonl --sample 8 -j1 --score 0 >one
    neardup mirrors pages.jsonl --sample 8 -j4 --score 0 >four
    cmp one four
}

@test "mirrors: common paths bring no hosts together" {
    for host in a b c d; do
        for path in "" x y; do
            echo "{\"url\":\"https://$host.org/$path\",\"text\":\"the same text on every page of them\"}"
        done
    done >pages.jsonl
    run neardup mirrors --id-field url pages.jsonl
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 7 ]
    run neardup mirrors pages.jsonl --common 3
    [ "$status" -eq 1 ]
    run neardup mirrors pages.jsonl --least-paths 4
    [ "$status" -eq 1 ]
}

@test "mirrors: what is wrong is said" {
    echo '{"url":"nowhere","text":"some words"}' >bad.jsonl
    run neardup mirrors bad.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"bad.jsonl:1: field 'url' is not an address with a host"* ]]
    run neardup mirrors bad.jsonl --url-field at --strict
    [ "$status" -eq 2 ]
    [[ $output == *", the address of the page, is missing"* ]]
    run neardup mirrors bad.jsonl --score 2
    [ "$status" -eq 2 ]
}
