#!/usr/bin/env bats
# measured.bats - the histogram of what decided, in the summary of dedup

load common

# The counts of the summary are those of the manifest's rows, by fractions; what decided is computed
# from the numbers of shingles, with components from the pairs.
agrees() { # MEASURE OPTION…
    local measure=$1
    shift
    neardup dedup large.jsonl -q --max-bad 5% -o out -n --summary dry "$@" 2>/dev/null
    neardup dedup large.jsonl -q --max-bad 5% -o out --summary s --manifest m "$@" 2>/dev/null
    neardup pairs large.jsonl -q --max-bad 5% --json -o p --verify "${verify:-jaccard}" -t "${threshold:-0.8}" 2>/dev/null
    python3 - "$measure" "${threshold:-0.8}" <<'EOF'
import json, sys
from fractions import Fraction as F
s, dry = json.load(open("s")), json.load(open("dry"))
rows = [r for r in map(json.loads, list(open("m"))[1:]) if r.get("identical") == "no"]
pairs = {}
for p in map(json.loads, open("p")):
    pairs[p["a"], p["b"]] = pairs[p["b"], p["a"]] = p
threshold, counts = F(sys.argv[2]), {}
edges = [F(i, 20) for i in range(20, 0, -1) if F(i, 20) > threshold] + [threshold]
for row in rows:
    shared, a, b = (row[key] for key in ("shared", "shingles_removed", "shingles_kept"))
    if "via" in row:
        p = pairs[row["removed"], row["via"]]
        shared, a, b = p["shared"], p["shingles_a"], p["shingles_b"]
    value = {"resemblance": lambda: F(shared, a + b - shared), "containment": lambda: F(shared, a),
             "containment-of-kept": lambda: F(shared, b), "containment-either": lambda: F(shared, min(a, b)),
             "cosine": lambda: F(shared ** 2, a * b)}[sys.argv[1]]()
    power = 2 if sys.argv[1] == "cosine" else 1
    edge = next(edge for edge in edges if value >= edge ** power)
    counts[edge] = counts.get(edge, 0) + 1
assert s["measured_by"] == sys.argv[1], s
assert s["measured"] == [[float(edge), counts.get(edge, 0)] for edge in edges], (s["measured"], counts)
assert sum(counts.values()) == s["near"] >= 50, s
assert len(counts) > 1
assert dry["measured"] == s["measured"]
EOF
}

@test "measured: the histogram of stars, components and complete link is that of the manifest" {
    large_corpus large.jsonl
    agrees resemblance
    agrees resemblance -j1
    agrees resemblance -j3 --keep longest
    agrees resemblance --cluster components
    agrees resemblance --cluster components -j1 --keep longest
    agrees resemblance --cluster complete
    agrees resemblance --within lang --keep longest --annotate
    agrees resemblance --method simhash
}

@test "slow: measured: it ends at the threshold, and is by the measure that decides" {
    large_corpus large.jsonl
    threshold=0.83
    agrees resemblance -t 0.83
    agrees resemblance -t 0.83 --cluster components
    threshold=0.13
    agrees resemblance -t 0.13 --candidates all
    for threshold in $(sized "0.6 0.8" 0.8); do
        for measure in containment containment-of-kept containment-either cosine; do
            agrees "$measure" --verify "$measure" -t "$threshold"
            agrees "$measure" --verify "$measure" -t "$threshold" --keep longest -j3
        done
        for measure in cosine containment-either; do
            verify=$measure
            agrees "$measure" --verify "$measure" -t "$threshold" --cluster components
            agrees "$measure" --verify "$measure" -t "$threshold" --cluster complete
        done
    done
}

@test "measured: a step is reached exactly or not at all" {
    # Comments say how many shingles of three words there are.
    python3 - <<'EOF'
import json
words = [f"w{i}" for i in range(300)]
def document(name, tokens):
    print(json.dumps({"id": name, "text": " ".join(tokens)}), file=out)
with open("in.jsonl", "w") as out:
    document("a", words[:40])  # 38 shingles
    document("b", words[:42])  # 40 of them: 38/40, exactly 0.95
    document("c", words[100:138])  # 36
    document("d", words[100:138] + ["more", "and"])  # 38: 36/38, a little less
    document("e", words[200:203] * 6)  # 3
    document("f", words[200:203] * 7)  # the same 3: exactly 1, of other words
EOF
    run neardup dedup in.jsonl --shingle 3 -t 0.9 -o out --summary s
    [ "$status" -eq 0 ]
    grep -q '"measured_by":"resemblance","measured":\[\[1,1\],\[0.95,1\],\[0.9,1\]\],' s
    [[ $output == *"Near documents removed, by resemblance"$'\n'"       1   0.95    0.9  or more"$'\n'"       1      1      1"$'\n'* ]]
    run neardup dedup in.jsonl --shingle 3 -t 1 -o out --summary s
    grep -q '"measured":\[\[1,1\]\],' s
}

@test "measured: absent where nothing is verified, and where nothing is removed" {
    small_corpus
    run neardup dedup small.jsonl -o out --verify none --summary s
    [[ $output != *"Near documents"* ]]
    run grep measured s
    [ "$status" -eq 1 ]
    run neardup pairs small.jsonl -o out --summary s
    [[ $output != *"Near documents"* ]]
    run grep measured s
    [ "$status" -eq 1 ]
    run neardup dedup small.jsonl -o out -t 1 --summary s
    [[ $output != *"Near documents"* ]]
    grep -q '"measured":\[\[1,0\]\]' s
}
