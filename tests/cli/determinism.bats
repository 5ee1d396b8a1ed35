#!/usr/bin/env bats
# determinism.bats - threads, processors and pipes change nothing

load common

# All outputs of a run under a name.
outputs() {
    local name=$1
    shift
    "$NEARDUP" dedup "$@" --max-bad 5% -o "$name.out" --manifest "$name.manifest" --clusters "$name.clusters" -q 2>"$name.err"
}

same() {
    for kind in out manifest clusters err; do
        cmp "$1.$kind" "$2.$kind"
    done
}

@test "1, 2 and 8 threads give the same bytes" {
    large_corpus large.jsonl
    for options in "" "--keep longest" "--cluster components" "--method simhash --bits 6" \
        "--within lang --keep max:n" "--shingle 5c"; do
        # shellcheck disable=SC2086
        for threads in 1 2 8; do outputs t$threads large.jsonl --threads $threads $options; done
        same t1 t2
        same t1 t8
    done
    for threads in 1 2 8; do
        neardup pairs large.jsonl --max-bad 5% -q --threads $threads >p$threads 2>/dev/null
        neardup sketch large.jsonl --max-bad 5% -q --threads $threads >s$threads 2>/dev/null
    done
    [ -s p1 ]
    [ -s s1 ]
    cmp p1 p2
    cmp p1 p8
    cmp s1 s2
    cmp s1 s8
}

@test "every kind of kernels gives the same bytes" {
    large_corpus large.jsonl
    NEARDUP_CPU=scalar outputs scalar large.jsonl
    NEARDUP_CPU=scalar neardup sketch large.jsonl --max-bad 5% -q >scalar.sketch 2>/dev/null
    tried=0
    for cpu in avx2 avx512 neon; do
        NEARDUP_CPU=$cpu neardup sketch -q </dev/null 2>/dev/null || continue
        tried=$((tried + 1))
        NEARDUP_CPU=$cpu outputs $cpu large.jsonl
        same scalar $cpu
        NEARDUP_CPU=$cpu neardup sketch large.jsonl --max-bad 5% -q >$cpu.sketch 2>/dev/null
        cmp scalar.sketch $cpu.sketch
    done
    [ "$tried" -gt 0 ] || skip "this processor has scalar kernels only"
}

@test "a pipe gives what the file gives" {
    large_corpus large.jsonl
    for keep in first last; do
        neardup dedup large.jsonl --max-bad 5% -o file.out --clusters file.c -q --keep $keep 2>/dev/null
        # shellcheck disable=SC2094
        neardup dedup -f jsonl --max-bad 5% --clusters pipe.c -q --keep $keep >pipe.out 2>/dev/null < <(cat large.jsonl)
        cmp file.out pipe.out
        cmp <(sed 's/large\.jsonl://g' file.c) <(sed 's/-://g' pipe.c)
    done
}

@test "a document larger than a batch, and many small ones" {
    python3 - <<'EOF'
import json
with open("in.jsonl", "w") as out:
    big = " ".join(f"t{i}" for i in range(1500000))
    out.write(json.dumps({"id": "big", "text": big}) + "\n")
    for i in range(20000):
        out.write(json.dumps({"id": i, "text": ""}) + "\n")
    out.write(json.dumps({"id": "again", "text": big + " end"}) + "\n")
EOF
    for keep in first longest; do
        neardup dedup in.jsonl -o out -q --keep $keep --clusters $keep.c --summary s
        [ "$(wc -l <out)" -eq 2 ]
        grep -q '"empty_documents":20000,' s
    done
    [ "$(tail -1 first.c)" = "$(printf 'again\tbig')" ]
    [ "$(head -1 longest.c)" = "$(printf 'big\tagain')" ]
}
