#!/usr/bin/env bats
# clusters.bats - neardup clusters: sizes of clusters, near duplicates of a document, without a truth

bats_require_minimum_version 1.5.0
load common

row() {
    printf '%s\t%s\t%s\n' "$@"
}

@test "clusters: components, near duplicates of a document, and documents that are alone" {
    row a b 1 b c 2 d e 3 >distances.tsv
    printf '{"id":"%s","text":"x"}\n' a b c d e f g h >docs.jsonl
    neardup clusters distances.tsv --documents docs.jsonl >table
    [ "$(sed 1d table)" = "$(printf 'distances.tsv\t8\t3\t2\t5\t3\t3\t2.5000\t1.6000\t0.7500\t2')" ]
    [ "$(neardup clusters distances.tsv --total 8)" = "$(cat table)" ]
    [ "$(neardup clusters <distances.tsv | sed 1d | cut -f 2,6)" = "$(printf '5\t0')" ]
    neardup clusters distances.tsv --total 8 --sizes >sizes
    [ "$(sed 1d sizes | cut -f 2-)" = "$(row 1 3 3 2 1 4 3 1 1)" ]
    neardup clusters distances.tsv --total 8 --curve distance >curve
    [ "$(sed 1d curve | cut -f 2,4,5,11)" = "$(printf '%s\t%s\t%s\t%s\n' 1 1 1 0.2500 2 2 1 0.5000 3 3 2 0.7500)" ]
    neardup clusters distances.tsv --total 8 --curve distance:desc --json >rows
    head -1 rows | python3 -c 'import json, sys; row = json.load(sys.stdin); assert (row["at"], row["pairs"], row["mean_near"]) == (3, 1, 0.25), row'
}

@test "clusters: of files of clusters and manifests, all others of a cluster are near duplicates" {
    printf '%s\t%s\n' a x b x c x d y >sets.tsv
    neardup clusters sets.tsv >table
    [ "$(sed 1d table)" = "$(printf 'sets.tsv\t4\t3\t1\t3\t1\t3\t3.0000\t2.0000\t1.5000\t2')" ]
    small_corpus
    neardup dedup small.jsonl -q -o kept --manifest removed.jsonl --clusters clusters.tsv
    neardup clusters removed.jsonl clusters.tsv --documents small.jsonl >table
    [ "$(sed 1d table | cut -f 2- | sort -u)" = "$(printf '5\t3\t1\t3\t2\t3\t3.0000\t1.6667\t1.2000\t2')" ]
}

@test "clusters: random pairs, beside a definition" {
    for seed in 1 2 3; do
        python3 - $seed <<'END'
import random, sys
draw = random.Random(int(sys.argv[1]))
pairs = {tuple(sorted(draw.sample(range(60), 2))): draw.randrange(5) for _ in range(40)}
with open("pairs.tsv", "w") as out:
    out.writelines(f"d{a}\td{b}\t{v}\n" for (a, b), v in pairs.items())
END
        neardup clusters pairs.tsv --total 60 --curve distance --json >figures
        neardup clusters pairs.tsv --total 60 --curve distance --sizes --json >sizes
        python3 - <<'END'
import json
pairs = [line.split() for line in open("pairs.tsv")]
sizes = [json.loads(line) for line in open("sizes")]
for row in map(json.loads, open("figures")):
    near = {f"d{i}": set() for i in range(60)}
    for a, b, v in pairs:
        if int(v) <= row["at"]:
            near[a].add(b)
            near[b].add(a)
    left, found = set(near), []
    while left:
        cluster, more = set(), {left.pop()}
        while more:
            one = more.pop()
            cluster.add(one)
            more |= near[one] - cluster
        left -= cluster
        found.append(len(cluster))
    large = [n for n in found if n > 1]
    degrees = [len(x) for x in near.values()]
    assert row["documents"] == 60 and row["pairs"] == sum(degrees) / 2
    assert (row["clusters"], row["members"], row["alone"]) == (len(large), sum(large), 60 - sum(large))
    assert row["largest_cluster"] == max(found) and row["most_near"] == max(degrees)
    assert abs(row["mean_cluster"] - sum(large) / len(large)) < 1e-9 and abs(row["mean_with_alone"] - 60 / len(found)) < 1e-9
    assert abs(row["mean_near"] - sum(degrees) / 60) < 1e-9
    of = {r["size"]: (r["clusters"], r["documents"]) for r in sizes if r["at"] == row["at"]}
    assert of == {n: (found.count(n), degrees.count(n - 1)) for n in range(1, 61) if found.count(n) or degrees.count(n - 1)}
END
    done
}

@test "clusters: what does not fit is refused" {
    row a b 1 c d 2 >pairs.tsv
    printf '{"id":"%s","text":"x"}\n' a b c >docs.jsonl
    refuse() { # MESSAGE WORDS…
        run neardup clusters "${@:2}"
        [ "$status" -eq 2 ]
        [[ $output == *"$1"* ]] || { echo "$output"; return 1; }
    }
    refuse "pairs.tsv: 4 documents are named, more than --total" pairs.tsv --total 3
    refuse "pairs.tsv:2: the id 'd' is unknown" pairs.tsv --documents docs.jsonl
    refuse "only one of --total and --documents" pairs.tsv --documents docs.jsonl --total 3
    printf '%s\t%s\n' a x b x >sets.tsv
    refuse "sets.tsv: --curve needs a result of pairs" sets.tsv --curve 1
    awk 'BEGIN { for (i = 0; i < 1500; i++) print "a" i "\tb" i "\t" i }' >many.tsv
    refuse "has more than 1000 values" many.tsv --curve 3 -o table
}

@test "clusters --svg: the sizes on logarithmic axes, a chart for each result" {
    row a b 1 b c 2 d e 3 >distances.tsv
    neardup clusters distances.tsv --total 103 --svg sizes.svg >table
    [ "$(neardup clusters distances.tsv --total 103)" = "$(cat table)" ]
    python3 - <<'END'
import math, xml.etree.ElementTree as tree
dots = {"bar": set(), "dot": set()}
for circle in tree.parse("sizes.svg").iter("{http://www.w3.org/2000/svg}circle"):
    dots[circle.get("class")].add((float(circle.get("cx")), float(circle.get("cy"))))
def place(size, value):  # axes from .7 to 10 and to 100
    x, y = (math.log(v / .7) / math.log(most / .7) for v, most in ((size, 10), (value, 100)))
    return round(78 + 698 * x, 1), y
for kind, counts in ("bar", [(1, 98), (2, 1), (3, 1)]), ("dot", [(1, 98), (2, 4), (3, 1)]):
    expected = [place(*c) for c in counts]
    found = sorted(dots[kind])
    assert [x for x, _ in found] == [x for x, _ in expected], (found, expected)
    heights = [(found[-1][1] - y) / (found[-1][1] - found[0][1]) for _, y in found]
    assert all(abs(h - (y - expected[-1][1]) / (expected[0][1] - expected[-1][1])) < .01 for h, (_, y) in zip(heights, expected))
END
    neardup clusters distances.tsv distances.tsv --svg two.svg >table
    [ "$(grep -c 'class="title"' two.svg)" = 2 ]
    run -2 neardup clusters distances.tsv --svg sizes.svg --curve distance
    [[ $output == *"--svg draws one histogram"* ]]
    run -2 neardup clusters distances.tsv --svg distances.tsv
}
