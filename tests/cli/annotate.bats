#!/usr/bin/env bats
# annotate.bats - dedup --annotate: all records, each with what it duplicates

load common

# Print the annotations of JSON Lines, one record a line.
annotations() { # FILE KEY…
    python3 -c 'import json,sys
for line in open(sys.argv[1]):
    record = json.loads(line)
    print(json.dumps(record.get("id")), *[json.dumps(record["neardup"].get(key)) for key in sys.argv[2:]])' "$@"
}

@test "annotate: every record is written, with its cluster, what it duplicates and how near" {
    small_corpus
    neardup dedup small.jsonl -q --annotate -o out.jsonl --clusters c.tsv --manifest m.jsonl
    annotations out.jsonl match cluster duplicate_of identical resemblance shared shingles >got
    cat >expected <<'END'
"a" false "a" null null null null null
"b" true "a" "a" "no" 0.9375 15 16
"c" true "a" "a" "bytes" 1 15 15
4 false 4 null null null null null
5 false 5 null null null null null
END
    cmp expected got
    # The rest of each record is as it came, and the other outputs are those of a run without.
    python3 - <<'END'
import json
for one, two in zip(open("small.jsonl"), open("out.jsonl")):
    assert two.startswith(one.rstrip()[:-1] + ',"neardup":{'), two
    del (record := json.loads(two))["neardup"]
    assert record == json.loads(one)
END
    neardup dedup small.jsonl -q -o /dev/null --clusters c2.tsv --manifest m2.jsonl
    cmp c.tsv c2.tsv
    cmp m.jsonl m2.jsonl
}

# A document is kept by dedup if and only if its annotation has no match, and the pairs agree with
# the manifest.
agrees() { # OPTION…
    neardup dedup large.jsonl -q --max-bad 5% -o kept.jsonl --manifest m.jsonl --clusters c.tsv "$@" 2>/dev/null
    neardup dedup large.jsonl -q --max-bad 5% --annotate -o out.jsonl "$@" 2>/dev/null
    python3 - "$@" <<'END'
import json, sys
records = [json.loads(line) for line in open("out.jsonl")]
notes = [record.pop("neardup") for record in records]
kept = [record for record, note in zip(records, notes) if not note["match"]]
assert kept == [json.loads(line) for line in open("kept.jsonl")]
rows = [row for row in map(json.loads, list(open("m.jsonl"))[1:]) if "removed" in row]
marked = [note for note in notes if note["match"]]
assert len(rows) == len(marked) > 300
for row, note in zip(rows, marked):
    near = row.get("via", row["kept"])
    assert (note["cluster"], note["duplicate_of"]) == (row["kept"], near)
    assert note["identical"] == row["identical"]
    assert note.get("resemblance") == (row["via_resemblance"] if "via" in row else row["resemblance"])
    if "via" not in row and row["verified"]:
        assert note["shared"] == row["shared"] and note["shingles"] == row["shingles_removed"]
    by = {"containment_of_removed": "containment", "containment_of_kept": "containment_of_other"}
    measure = "cosine" if "cosine" in sys.argv else "resemblance"
    if "via" in row or row["identical"] != "no" or not row["verified"]:
        assert "decided_by" not in note
    else:
        assert note["decided_by"] == by.get(row.get("decided_by"), measure)
    if "via" not in row and row["verified"] and any("containment" in word for word in sys.argv):
        assert note["containment"] == row["containment_of_removed"]
        assert note["containment_of_other"] == row["containment_of_kept"]
    else:
        assert not {"containment", "containment_of_other"} & set(note)
    if "via" not in row and row.get("signatures"):
        for name, has in row["signatures"].items():
            assert note["signatures"][name] == {"shared": has["shared"], "document": has["removed"], "kept": has["kept"]}
clusters = [line.split("\t")[1][:-1] for line in open("c.tsv")]
assert clusters == [str(note["cluster"]) for note in notes]
sizes = [None if note["match"] else clusters.count(str(note["cluster"])) for note in notes]
assert sizes == [note.get("copies") for note in notes]
END
}

@test "slow: annotate: stars, components, complete link and every keep policy agree with the manifest" {
    large_corpus large.jsonl
    agrees
    agrees -j1
    agrees --keep longest
    agrees --cluster components
    agrees --cluster complete
    agrees --within lang -j3
    agrees --method simhash
    agrees --verify none --method simhash
    agrees --recipe broder-1997
    for measure in containment containment-of-kept containment-either cosine; do
        agrees --verify $measure
        agrees --verify $measure --keep longest
    done
    for measure in containment-either cosine; do
        agrees --verify $measure --cluster components
        agrees --verify $measure --cluster complete
    done
}

@test "annotate: the number of copies follows from the clusters, in the same bytes in every way of running" {
    python3 "$BATS_TEST_DIRNAME/clusters_model.py" copies "$NEARDUP"
    # New documents are compared with old ones alone: there are no clusters, and nothing is counted.
    head -2 in.jsonl | sed 's/"id": "[0-9]*"/"id":"x"/' >new.jsonl
    neardup dedup new.jsonl -q --annotate --against old.sketch --only-against -o out.jsonl
    run grep -c copies out.jsonl
    [ "$output" = 0 ]
}

@test "annotate: the number of threads does not change it, and a name that says so is compressed" {
    large_corpus large.jsonl
    neardup dedup large.jsonl -q --max-bad 5% -j1 --annotate -o one.jsonl 2>/dev/null
    neardup dedup large.jsonl -q --max-bad 5% -j3 --annotate -o two.jsonl.zst 2>/dev/null
    zstd -dqc two.jsonl.zst >two.jsonl
    cmp one.jsonl two.jsonl
    neardup dedup -f jsonl -q --max-bad 5% --annotate <large.jsonl 2>/dev/null >three.jsonl
    cmp <(sed 's/large.jsonl:/-:/g' one.jsonl) three.jsonl
    # Bad records cannot be annotated; --removed has them.
    neardup dedup large.jsonl -q --max-bad 5% --annotate -o out.jsonl --removed bad.jsonl 2>/dev/null
    [ "$(sort -u bad.jsonl)" = '{broken' ]
    [ "$(cat out.jsonl bad.jsonl | wc -l)" -eq "$(wc -l <large.jsonl)" ]
    run neardup dedup large.jsonl -q --annotate -o out.jsonl
    [ "$status" -eq 3 ]
    [[ $output == *"done, but 4 bad records were left out" ]]
}

@test "annotate: records of every form of JSON, and one that was annotated before" {
    cat >in.jsonl <<'END'
{"text":"a b c d","neardup":{"match":true,"x":[1,"}"]},"id":1}
 {"neardup":1,"id":2,"text":"a b c d" }
{"id":3,"text":"the \"neardup\": \\\" is in the text","more":{"neardup":{"kept":1}}, "neardup" : "x,}"}
{}
{"id":5,"text":"caf\u00e9 of the four words","neardup":null}
END
    printf '{"id":6,"text":"no line end, and CR LF above"}\r\n{"id":7,"text":"last one without"}' >>in.jsonl
    neardup dedup in.jsonl -q --missing-text empty --annotate -o out.jsonl
    python3 - <<'END'
import json
def once(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)
ins, outs = open("in.jsonl", newline="").read(), open("out.jsonl", newline="").read()
assert ins.endswith("}") == outs.endswith("}")
assert ins.count("\r\n") == outs.count("\r\n")
ins, outs = ins.split("\n"), outs.split("\n")
assert len(ins) == len(outs)
for one, two in zip(ins, outs):
    one, two = json.loads(one), json.loads(two, object_pairs_hook=once)
    note = two.pop("neardup")
    one.pop("neardup", None)
    assert one == two
    assert note["match"] == (two.get("id") == 2), note
END
    # Again: the annotations are replaced, and the same.
    neardup dedup out.jsonl -q --missing-text empty --annotate -o again.jsonl
    cmp <(sed 's/out.jsonl/in.jsonl/' again.jsonl) out.jsonl
}

@test "annotate: CSV and TSV have columns more" {
    printf 'id,text,n\r\n"x, ""y""","one two three four five six",1\r\n2,"one two three\r\nfour five six",2\r\n3,"one two three four five six",3' >t.csv
    neardup dedup t.csv -q --annotate -o out.csv
    python3 - <<'END'
import csv
text = open("out.csv", newline="").read()
assert text.count("\r\n") == 4 and not text.endswith("\n")
rows = list(csv.DictReader(open("out.csv", newline="")))
assert [row["n"] for row in rows] == ["1", "2", "3"]
assert list(rows[0])[3:] == ["neardup." + name for name in "match cluster copies duplicate_of identical decided_by resemblance shared shingles containment containment_of_other hamming".split()]
assert [row["neardup.match"] for row in rows] == ["false", "true", "true"]
assert [row["neardup.cluster"] for row in rows] == ['x, "y"'] * 3
assert [row["neardup.duplicate_of"] for row in rows] == ["", 'x, "y"', 'x, "y"']
assert [row["neardup.identical"] for row in rows] == ["", "tokens", "bytes"]
assert [row["neardup.resemblance"] for row in rows] == ["", "1", "1"]
END
    run neardup dedup out.csv -q --annotate -o again.csv
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: out.csv has columns neardup.… of an earlier annotation: remove them first" ]]
    [ ! -e again.csv ]
    # Each signature of a recipe has a column.
    printf 'text\tid\none two three four five six\ta\\tb\nnothing of that kind at all\t2\none two three four five six\t3\n' >t.tsv
    neardup dedup t.tsv -q --annotate --recipe broder-1997 -o out.tsv --keep longest 2>/dev/null
    [ "$(head -1 out.tsv | tr '\t' '\n' | tail -1)" = neardup.shared.shingles ]
    [ "$(awk -F'\t' '{print NF}' out.tsv | sort -u)" = 15 ]
    [ "$(cut -f 2-7 out.tsv | tail -1)" = "$(printf '3\ttrue\ta\\tb\t\ta\\tb\tbytes')" ]
    neardup dedup out.tsv -q -o /dev/null
    printf 'id,text' >head.csv
    neardup dedup head.csv -q --annotate -o head.out
    [ "$(cat head.out)" = id,text,neardup.match,neardup.cluster,neardup.copies,neardup.duplicate_of,neardup.identical,neardup.decided_by,neardup.resemblance,neardup.shared,neardup.shingles,neardup.containment,neardup.containment_of_other,neardup.hamming ]
}

@test "annotate: each shard by itself, and archives in their form" {
    mkdir in
    small_corpus
    head -2 small.jsonl >in/a.jsonl
    tail -3 small.jsonl | gzip >in/b.jsonl.gz
    neardup dedup in -q --annotate --output-dir out
    [ "$(annotations out/in/a.jsonl match | tr '\n' ' ')" = '"a" false "b" true ' ]
    zcat out/in/b.jsonl.gz >b.jsonl
    [ "$(annotations b.jsonl match cluster | tr '\n' ' ')" = '"c" true "a" 4 false 4 5 false 5 ' ]
    tar -cf in.tar in/a.jsonl
    neardup dedup in.tar -q --annotate -o out.tar
    tar -xOf out.tar in/a.jsonl >a.jsonl
    grep -q '"copies":3' out/in/a.jsonl # of all shards
    sed -i 's/"copies":3/"copies":2/' out/in/a.jsonl
    cmp a.jsonl out/in/a.jsonl
}

@test "annotate: mail has a header field, and no message is lost" {
    printf 'From a@b Mon Jan  1 00:00:00 2024\nFrom: a@b\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nMessage-ID: <1@b>\nSubject: one\n\nsome words that stand in two messages\n\nFrom a@b Mon Jan  1 00:00:01 2024\nFrom: a@b\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nMessage-ID: <2@b>\nSubject: one\n\nsome words that stand in two messages\n' >two.mbox
    neardup dedup two.mbox -q --annotate -o out.mbox
    [ "$(grep -v '^X-Neardup\|^	' out.mbox)" = "$(cat two.mbox)" ]
    [ "$(grep '^X-Neardup\|^	' out.mbox | tr '\n\t' '  ')" = 'X-Neardup: none; copies=2;  cluster="1@b" X-Neardup: match; identical=tokens; resemblance=1; shared=6; shingles=6; hamming=0;  duplicate_of="1@b";  cluster="1@b" ' ]
    # A message in a file that is compressed, of filter as well.
    sed 1d two.mbox | head -7 | gzip >m.eml.gz
    neardup dedup m.eml.gz -q -f mail --annotate --output-dir out
    zcat out/m.eml.gz | grep -q '^X-Neardup: none; copies=1;$'
    neardup filter -p two.mbox m.eml.gz -q -f mail --annotate --output-dir out2
    zcat out2/m.eml.gz | grep -q '^X-Neardup: match; '
}

@test "annotate: what has no place for it is refused, and nothing is published" {
    small_corpus
    echo "a text that is a file" >a.txt
    echo "<p>a page that is a file</p>" >a.html
    echo old >out
    for input in a.txt "-f text --unit line a.txt" a.html "small.jsonl a.txt" "--keep longest a.txt"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" dedup $input -q --annotate -o out
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == "neardup: a."*" has no place for an annotation: use --clusters or --manifest" ]]
        [ "$(cat out)" = old ]
    done
    run neardup dedup small.jsonl -q --annotate -o small.jsonl
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"'small.jsonl' is an input and would be overwritten: choose another output" ]]
    run neardup dedup small.jsonl -q --annotate --output-dir .
    [ "$status" -eq 2 ]
    for options in "--copy-to d" "--link-to d" "-0"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" dedup small.jsonl -q --annotate $options
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"annotate writes records"* ]]
    done
    neardup dedup a.txt small.jsonl -q --annotate -n
}

@test "annotate: the summary speaks of duplicates, as nothing is removed" {
    small_corpus
    for keep in first longest; do
        run neardup dedup small.jsonl --annotate -o out --keep $keep --summary s
        [ "$status" -eq 0 ]
        [ "$(grep -c removed <<<"$output")" = 0 ]
        [ "$(grep -c kept <<<"$output")" = 0 ]
        [ "$(grep -Ec '^  (not )?duplicates +[23]  +[46]0.0%$' <<<"$output")" = 2 ]
        [ "$(grep -c '^Near duplicates, by resemblance$' <<<"$output")" = 1 ]
        grep -q '"kept":3,"removed":2,' s
    done
    run neardup dedup small.jsonl --annotate -o out --verify none
    [[ ${lines[0]} == "NOT VERIFIED: 1 of the documents marked as duplicates matched a kept one only by sketches; the texts were not compared" ]]
}

@test "annotate: the containment that decided is named, in JSON, in columns and in mail" {
    local part="one two three four five six seven eight nine"
    printf 'id,text\nlong,%s ten eleven twelve thirteen fourteen\npart,%s\n' "$part" "$part" >t.csv
    printf '{"id":"%s","text":"%s"}\n' part "$part" long "$part ten eleven twelve thirteen fourteen" >t.jsonl
    for name in long part; do
        printf 'From a@b Mon Jan  1 00:00:00 2024\nMessage-ID: <%s>\nSubject: one\n\n' $name
        grep "^$name," t.csv | cut -d, -f2
        echo
    done >t.mbox
    neardup dedup t.csv -q --annotate --verify containment -o out.csv
    tail -1 out.csv | grep -q '^part,.*,true,long,,long,no,containment,0.5833333333333334,7,7,1,0.5833333333333334,'
    head -2 out.csv | tail -1 | grep -q ',false,long,2,,,,,,,,,$'
    neardup dedup t.csv -q --annotate --verify containment-either -o out.csv
    tail -1 out.csv | grep -q '^part,.*,true,long,,long,no,containment,0.5833333333333334,7,7,1,0.5833333333333334,'
    # The document contains the kept one.
    for measure in containment-of-kept containment-either; do
        neardup dedup t.jsonl -q --annotate --verify $measure -o out.jsonl
        annotations out.jsonl decided_by containment containment_of_other shared shingles >got
        printf '%s\n' '"part" null null null null null' '"long" "containment_of_other" 0.5833333333333334 1 7 12' >expected
        cmp expected got
        # filter calls them the same.
        head -1 t.jsonl >known.jsonl
        neardup filter -p known.jsonl t.jsonl -q --annotate --set verify=$measure -o rows
        tail -1 rows | grep -q '"containment":0.5833333333333334,"containment_of_other":1,'
    done
    neardup dedup t.mbox -q --annotate --verify containment -o out.mbox
    [ "$(grep -Ec '^X-Neardup: match; identical=no; decided_by=containment; resemblance=0.6153846153846154; shared=8; shingles=8; containment=1; containment_of_other=0.6153846153846154[;]' out.mbox)" = 1 ]
}
