#!/usr/bin/env bats
# sketch_files.bats - neardup sketch -o FILE.sketch, and info, verify, dump, merge and subset

load common

# 400 documents, the last ten without an id.
corpus() {
    python3 - <<'END'
import json, random
random.seed(7)
for i in range(400):
    record = {"id": f"d{i}"} if i < 390 else {}
    record["text"] = " ".join(random.choice("abcdefghij") * 2 for _ in range(random.randrange(60)))
    print(json.dumps(record))
END
}

@test "a sketch file holds what neardup sketch prints" {
    corpus >docs.jsonl
    neardup sketch docs.jsonl -o docs.sketch
    neardup sketch docs.jsonl -o rows.jsonl
    neardup sketch dump docs.sketch >dumped.jsonl
    python3 - <<'END'
import json
for a, b in zip(open("rows.jsonl"), open("dumped.jsonl"), strict=True):
    a, b = json.loads(a), json.loads(b)
    assert all(a[k] == b[k] for k in ("id", "tokens", "shingles", "simhash", "identity")), (a, b)
    assert bytes.fromhex(b["low_bytes"]) == bytes(m & 255 for m in a["minima"])
    assert b["at"].startswith("docs.jsonl:")
END
    neardup sketch info docs.sketch >info
    grep -qx 'documents: 400' info
    grep -qx 'shingles: kept' info
    grep -qx 'shingle = 3' info
    [ -z "$(neardup sketch verify docs.sketch)" ]
}

@test "the same file on any number of threads, and with its shingles" {
    corpus >docs.jsonl
    for threads in 1 2 7; do
        neardup sketch -j "$threads" docs.jsonl -o "$threads.sketch"
    done
    cmp 1.sketch 2.sketch
    cmp 1.sketch 7.sketch
    neardup sketch --no-shingles docs.jsonl -o bare.sketch
    [ "$(stat -c %s bare.sketch)" -lt "$(stat -c %s 1.sketch)" ]
    neardup sketch dump 1.sketch --shingle-hashes >with
    neardup sketch dump 1.sketch >without
    cmp <(neardup sketch dump bare.sketch) without
    python3 - <<'END'
import json
for line in open("with"):
    row = json.loads(line)
    hashes = [int(h, 16) for h in row["shingle_hashes"]]
    assert len(hashes) == row["shingles"] and hashes == sorted(set(hashes))
END
}

@test "fingerprints of a signature are kept" {
    corpus >docs.jsonl
    neardup sketch --recipe manku-2007 docs.jsonl -o m.sketch
    neardup sketch --recipe manku-2007 docs.jsonl >m.jsonl
    cmp <(neardup sketch dump m.sketch | grep -o '"fingerprint":[^,}]*' | tr -d '[]') \
        <(grep -o '"fingerprint":[^,}]*' m.jsonl)
    neardup sketch info m.sketch | grep -qx 'fingerprint: 64 bits'
}

@test "merge and subset" {
    corpus >docs.jsonl
    head -n 150 docs.jsonl >a.jsonl
    tail -n +151 docs.jsonl >b.jsonl
    neardup sketch a.jsonl -o a.sketch
    neardup sketch b.jsonl -o b.sketch
    neardup sketch docs.jsonl -o all.sketch
    neardup sketch merge a.sketch b.sketch -o merged.sketch
    cmp <(neardup sketch dump merged.sketch --shingle-hashes | sed 's/"at":"[^"]*",//;s/"id":"[ab].jsonl:[0-9]*",//') \
        <(neardup sketch dump all.sketch --shingle-hashes | sed 's/"at":"[^"]*",//;s/"id":"docs.jsonl:[0-9]*",//')
    printf 'd3\nd399\n\ndocs.jsonl:395\r\n' >ids
    run neardup sketch subset all.sketch ids -o some.sketch
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: no document is called 'd399'" ]
    [ ! -e some.sketch ]
    grep -v d399 ids | neardup sketch subset all.sketch - -o some.sketch
    [ "$(neardup sketch dump some.sketch | grep -o '"id":"[^"]*"' | tr '\n' ' ')" = \
        '"id":"d3" "id":"docs.jsonl:395" ' ]
}

@test "files of two recipes do not merge" {
    corpus >docs.jsonl
    neardup sketch docs.jsonl -o three.sketch
    neardup sketch -w 5 docs.jsonl -o five.sketch
    run neardup sketch merge three.sketch five.sketch -o both.sketch
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: five.sketch: its sketches were made by another recipe: shingle differs" ]
    neardup sketch --no-shingles docs.jsonl -o bare.sketch
    run neardup sketch merge three.sketch bare.sketch -o both.sketch
    [ "$output" = "neardup: three.sketch has shingles, and bare.sketch has none" ]
    run neardup sketch merge three.sketch -o three.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"'three.sketch' is also an input"* ]]
}

@test "a damaged file, a cut one, and what is none" {
    corpus >docs.jsonl
    neardup sketch docs.jsonl -o docs.sketch
    size=$(stat -c %s docs.sketch)
    head -c $((size - 1)) docs.sketch >cut.sketch
    run neardup sketch verify cut.sketch
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: cut.sketch: the sketch file is damaged: it ends too early" ]
    cp docs.sketch bad.sketch
    printf '\1' | dd of=bad.sketch bs=1 seek=20000 conv=notrunc status=none
    run neardup sketch verify bad.sketch
    [ "$status" -eq 2 ]
    [[ $output == "neardup: bad.sketch: the sketch file is damaged: the row of a document is not what was written" ]]
    run neardup sketch info docs.jsonl
    [ "$output" = "neardup: docs.jsonl: not a sketch file" ]
}

@test "a file that was cut within its first bytes is not text, and a full disk is named" {
    corpus >docs.jsonl
    neardup sketch -q docs.jsonl -o docs.sketch
    : >empty.sketch
    head -c 7 docs.sketch >cut.sketch
    run neardup dedup empty.sketch -o out.jsonl
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: empty.sketch: is empty, so it is no sketch file" ]
    run neardup pairs cut.sketch
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: cut.sketch: was cut after its first bytes, so it is no sketch file" ]
    [ ! -e out.jsonl ]
    echo 'a text' >text.sketch
    neardup dedup -q --format text text.sketch -o out.txt
    run bash -c "ulimit -f 1; '$NEARDUP' sketch -q docs.jsonl -o big.sketch"
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: big.sketch: cannot be written: File too large" ]
    [ ! -e big.sketch ]
    head -n 30 docs.jsonl >few.jsonl
    run bash -c "ulimit -f 13; '$NEARDUP' dedup -q few.jsonl --against seen.sketch --append -o new.jsonl"
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: seen.sketch: cannot be written: File too large; all other outputs are published: run it again" ]]
    [ -e new.jsonl ]
    [ ! -e seen.sketch ]
}

@test "sketch merge is quiet" {
    corpus >docs.jsonl
    neardup sketch -q docs.jsonl -o docs.sketch
    neardup sketch merge -q docs.sketch -o merged.sketch
}

@test "what does not fit together is refused" {
    corpus >docs.jsonl
    run neardup sketch --no-shingles docs.jsonl
    [ "$output" = "neardup: --no-shingles requires --output FILE.sketch; see neardup help sketch" ]
    run neardup sketch merge a.sketch
    [ "$output" = "neardup: sketch merge needs --output FILE" ]
    run neardup sketch info
    [ "$output" = "neardup: sketch info takes one sketch file" ]
    run neardup sketch info --glob x docs.sketch
    [ "$output" = "neardup: sketch info has no option --glob; it applies to: documents" ]
    mkfifo pipe.sketch
    run neardup sketch docs.jsonl -o pipe.sketch
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: pipe.sketch: a sketch file must be a regular file
neardup: stopped; nothing was published" ]
}
