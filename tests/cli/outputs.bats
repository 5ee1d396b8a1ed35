#!/usr/bin/env bats
# outputs.bats - files in, files out

load common

@test "the name of the output says how it is compressed" {
    small_corpus
    neardup dedup small.jsonl -o plain -q
    for ending in gz zst xz bz2 lz4; do
        neardup dedup small.jsonl -o "out.$ending" -q
        neardup dedup small.jsonl -o "again.$ending" -q
        cmp "out.$ending" "again.$ending"
    done
    gzip -dc out.gz | cmp - plain
    zstd -dcq out.zst | cmp - plain
    xz -dc out.xz | cmp - plain
    bzip2 -dc out.bz2 | cmp - plain
    lz4 -dcq out.lz4 | cmp - plain
    neardup dedup small.jsonl -o /dev/null -q --manifest m.gz --clusters c.xz
    gzip -dc m.gz | head -1 | grep -q '^{"neardup":'
    [ "$(xz -dc c.xz | wc -l)" -eq 5 ]
}

@test "slow: survivors in many pieces are whole, in a file and in a pipe" {
    local i
    for i in {1..4000}; do # a copy of the first between any two, and some far larger than a buffer
        printf '{"id": %d, "text": "number %d is by itself"}\n' "$i" "$i"
        printf '{"text": "a copy of the first, and no other"}\n'
        ((i % 1000)) || printf '{"id": "long", "text": "%d %0100000d"}\n' "$i" 0
    done >many.jsonl
    awk '!/a copy/ || !n++' many.jsonl >expected
    for threads in 1 3; do
        neardup dedup many.jsonl -o out -q --threads $threads
        cmp out expected
        neardup dedup many.jsonl -q --threads $threads | cmp - expected
        neardup dedup many.jsonl -o out.gz -q --threads $threads
        gzip -dc out.gz | cmp - expected
    done
}

@test "compressed inputs are recognised by their content" {
    small_corpus
    neardup dedup small.jsonl -o plain -q
    gzip -k small.jsonl
    zstd -q small.jsonl
    xz -k small.jsonl
    bzip2 -k small.jsonl
    lz4 -q small.jsonl small.jsonl.lz4
    for ending in gz zst xz bz2 lz4; do
        mv "small.jsonl.$ending" "in$ending.jsonl"
        neardup dedup "in$ending.jsonl" -o out -q
        cmp out plain
        neardup dedup -f jsonl -o out -q <"in$ending.jsonl"
        cmp out plain
        neardup dedup "in$ending.jsonl" -o out -q --keep longest
        [ "$(ids out)" = "b 4 5" ]
    done
}

@test "a missing final newline is added only where another record follows" {
    printf '{"id":1,"text":"a b c d"}' >1.jsonl
    printf '{"id":2,"text":"e f g h"}' >2.jsonl
    neardup dedup 1.jsonl 2.jsonl -o out -q
    printf '{"id":1,"text":"a b c d"}\n{"id":2,"text":"e f g h"}' | cmp - out
    neardup dedup 1.jsonl 2.jsonl -o out -q --keep last
    printf '{"id":1,"text":"a b c d"}\n{"id":2,"text":"e f g h"}' | cmp - out
}

@test "lines and paragraphs of plain text" {
    printf 'a b c d e\nf g h i j\na b c d e\n' >lines.txt
    neardup dedup lines.txt --unit line -o out -q
    printf 'a b c d e\nf g h i j\n' | cmp - out
    printf 'a b c\nd e\n\nf g h i j' >p1.txt
    printf 'a b c\nd e\n\n\nk l m n o\n' >p2.txt
    neardup dedup p1.txt p2.txt --unit paragraph -o out -q
    printf 'a b c\nd e\n\nf g h i j\n\nk l m n o\n' | cmp - out
    # The output has the same paragraphs when it goes in again.
    neardup dedup out --format text --unit paragraph -o again -q
    cmp out again
}

@test "the header of CSV and TSV is written once" {
    printf 'id,text\n1,a b c d\n2,"e f\ng h"\n' >1.csv
    printf 'id,text\n3,a b c d\n4,i j k l\n' >2.csv
    neardup dedup 1.csv 2.csv -o out.csv -q
    printf 'id,text\n1,a b c d\n2,"e f\ng h"\n4,i j k l\n' | cmp - out.csv
    printf 'id\ttext\n1\ta b c d\n2\ta b c d\n' >1.tsv
    neardup dedup 1.tsv -o out.tsv -q
    printf 'id\ttext\n1\ta b c d\n' | cmp - out.tsv
    printf 'id,text\n' >empty.csv
    neardup dedup empty.csv -o none.csv -q
    cmp none.csv empty.csv
}

@test "different headers or formats in one output are an error that names both" {
    printf 'id,text\n1,a b c d\n' >1.csv
    printf 'text,id\na b c d,2\n' >2.csv
    small_corpus
    run neardup dedup 1.csv 2.csv -o out -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"1.csv and 2.csv have different headers"* ]]
    [ ! -e out ]
    run neardup dedup 1.csv small.jsonl -o out -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"1.csv is CSV, small.jsonl is JSON Lines"* ]]
    echo "some text in a file" >doc.txt
    run neardup dedup doc.txt small.jsonl -o out -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"doc.txt is a document, small.jsonl holds records"*"--output-dir"* ]]
    [ "$(ls -A)" = "$(printf '1.csv\n2.csv\ndoc.txt\nsmall.jsonl')" ]
}

@test "--output-dir mirrors every container, also an empty one" {
    mkdir -p shards/deep
    small_corpus
    head -2 small.jsonl | gzip >shards/1.jsonl.gz
    tail -3 small.jsonl >shards/deep/2.jsonl
    echo '{"id":"z","text":"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"}' >shards/3.jsonl
    neardup dedup shards/1.jsonl.gz shards/deep/2.jsonl shards/3.jsonl --output-dir clean/ -q
    [ "$(cd clean && find . -type f | sort)" = "$(printf './shards/1.jsonl.gz\n./shards/3.jsonl\n./shards/deep/2.jsonl')" ]
    gzip -dc clean/shards/1.jsonl.gz | cmp - <(head -1 small.jsonl)
    cmp clean/shards/deep/2.jsonl <(tail -2 small.jsonl)
    [ ! -s clean/shards/3.jsonl ]
    neardup dedup shards --output-dir whole -q --keep last
    [ "$(ids whole/shards/deep/2.jsonl)" = "c 4 5" ]
    [ -e whole/shards/3.jsonl ]
    [ ! -s whole/shards/3.jsonl ]
}

@test "--output-dir takes documents and containers together" {
    small_corpus
    mkdir in
    mv small.jsonl in
    echo "a text that stands in a file by itself" >in/doc.txt
    echo "a text that stands in a file by itself" >in/other.txt
    neardup dedup in --output-dir out -q
    cmp in/doc.txt out/in/doc.txt
    [ ! -e out/in/other.txt ]
    [ "$(ids out/in/small.jsonl)" = "a 4 5" ]
}

@test "two inputs that would be one file are an error" {
    small_corpus
    mkdir sub
    run neardup dedup small.jsonl ./small.jsonl --output-dir out -q
    [ "$status" -eq 2 ]
    [[ $output == *"two inputs would be written to it"* ]]
    [ -z "$(find out -type f)" ]
}

@test "a directory of documents becomes a list, copies or links" {
    mkdir -p in/sub
    echo "the first of three texts in files" >in/a.txt
    echo "another one, quite different from it" >in/sub/b.html
    echo "the first of three texts in files" >in/sub/c.txt
    neardup dedup in/ -o kept.txt -q
    [ "$(cat kept.txt)" = "$(printf 'in/a.txt\nin/sub/b.html')" ]
    neardup dedup in --copy-to copies -q
    [ "$(cd copies && find . -type f | sort)" = "$(printf './in/a.txt\n./in/sub/b.html')" ]
    cmp in/sub/b.html copies/in/sub/b.html
    [ "$(stat -c %h in/a.txt)" -eq 1 ]
    neardup dedup in --link-to links -q
    [ "$(cd links && find . -type f | sort)" = "$(printf './in/a.txt\n./in/sub/b.html')" ]
    [ in/a.txt -ef links/in/a.txt ]
    neardup dedup in --link-to links -q
    [ in/a.txt -ef links/in/a.txt ]
}

@test "links across file systems are symbolic" {
    [ -d /dev/shm ] && [ -w /dev/shm ] || skip "no second file system"
    [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ] || skip "no second file system"
    mkdir in
    echo "a text in a file that will be linked" >in/a.txt
    out=$(mktemp -d /dev/shm/neardup-XXXXXX)
    neardup dedup in --link-to "$out" -q
    [ -L "$out/in/a.txt" ]
    cmp in/a.txt "$out/in/a.txt"
    rm -r "$out"
}

@test "--glob chooses files in directories" {
    mkdir in
    echo "one text about something" >in/a.txt
    echo "two texts about nothing at all" >in/b.md
    neardup dedup in --glob '*.txt' -o out -q
    [ "$(cat out)" = in/a.txt ]
    neardup dedup in --glob '*.txt' --glob '*.md' -o out -q
    [ "$(cat out)" = "$(printf 'in/a.txt\nin/b.md')" ]
    run neardup dedup in --glob '*.tex' -o new -q
    [ "$status" -eq 0 ]
    [ ! -s new ]
    [ "$output" = "neardup: warning: in: no file below it matches" ]
    mkdir none
    run neardup dedup none -o new -q
    [ "$output" = "neardup: warning: none: no file below it" ]
}

@test "tar in, tar out; zip in, zip out" {
    mkdir in
    echo "the first of three texts in an archive" >in/a.txt
    echo "another one, quite different from it" >in/b.txt
    cp in/a.txt in/c.txt
    small_corpus
    mv small.jsonl in/d.jsonl
    tar -cf in.tar in/a.txt in/b.txt in/c.txt in/d.jsonl
    neardup dedup in.tar -o out.tar.gz -q --manifest m
    neardup dedup in.tar -o again.tar.gz -q
    cmp out.tar.gz again.tar.gz
    mkdir x
    tar -C x -xzf out.tar.gz
    [ "$(cd x/in && ls)" = "$(printf 'a.txt\nb.txt\nd.jsonl')" ]
    cmp in/a.txt x/in/a.txt
    [ "$(ids x/in/d.jsonl)" = "a 4 5" ]
    rows m removed_at kept_at | grep -qxF '"in.tar!in/c.txt" "in.tar!in/a.txt"'
    rows m removed_at | grep -qxF '"in.tar!in/d.jsonl:2"'
    neardup dedup in.tar -q >stdout.tar
    tar -tf stdout.tar >list
    [ "$(wc -l <list)" -eq 3 ]
    (cd in && zip -q ../in.zip a.txt b.txt c.txt)
    neardup dedup in.zip -o out.zip -q
    neardup dedup in.zip -o again.zip -q
    cmp out.zip again.zip
    [ "$(unzip -Z1 out.zip)" = "$(printf 'a.txt\nb.txt')" ]
    neardup dedup in.zip --copy-to copies -q
    cmp in/b.txt copies/in.zip/b.txt
}

@test "entries keep odd and long names" {
    mkdir in
    long=$(printf 'x%.0s' $(seq 150))
    mkdir -p "in/$long/$long"
    echo "the first of three texts in an archive" >"in/ümläut-東京.txt"
    echo "another one, quite different from it" >"in/$long/$long/b.txt"
    echo "this one's name is no text at all" >"in/$(printf 'b\xff.txt')"
    tar --sort=name -cf in.tar in
    for locale in C C.UTF-8; do
        LC_ALL=$locale neardup dedup in.tar -o out.$locale.tar -q
        LC_ALL=$locale neardup dedup in.tar -o out.$locale.zip -q
    done
    cmp out.C.tar out.C.UTF-8.tar
    cmp out.C.zip out.C.UTF-8.zip
    python3 - <<'EOF'
import tarfile, zipfile
names = [n for n in tarfile.open("in.tar").getnames() if n.endswith(".txt")]
kept = [n for n in tarfile.open("out.C.tar").getnames() if n.endswith(".txt")]
assert kept == names and len(names) == 3, names
zipped = [n for n in zipfile.ZipFile("out.C.zip").namelist() if n.endswith(".txt")]
assert zipped[1] == names[1] and len(set(zipped) & set(names)) == 2, (zipped, names)
EOF
}

@test "an entry without a name is kept in a tar, and refused where it cannot be" {
    python3 - <<'EOF'
import io, tarfile
with tarfile.open("odd.tar", "w") as t:
    entry = tarfile.TarInfo("")
    entry.size = 5
    t.addfile(entry, io.BytesIO(b"words"))
EOF
    neardup dedup odd.tar -o out.tar -q
    python3 -c 'import tarfile; assert tarfile.open("out.tar").getnames() == [""]'
    run neardup dedup odd.tar -o out.zip -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: a zip cannot hold an entry named ''" ]]
    run neardup dedup odd.tar --copy-to d -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: odd.tar!: cannot be a file of its own in a folder; use -o or --output-dir" ]]
}

@test "records out of an archive may go to one file" {
    small_corpus
    head -2 small.jsonl >1.jsonl
    tail -3 small.jsonl >2.jsonl
    tar -cf in.tar 1.jsonl 2.jsonl
    neardup dedup in.tar -o out.jsonl.gz -q
    gzip -d out.jsonl.gz
    [ "$(ids out.jsonl)" = "a 4 5" ]
}

@test "the manifest: header, rows in input order, evidence" {
    small_corpus
    echo '{broken' >>small.jsonl
    neardup dedup small.jsonl -o out -q --manifest m || true
    head -1 m | python3 -c 'import json,sys
h = json.loads(sys.stdin.readline())
assert h["neardup"] and h["unicode"] == "15.0" and h["html_parser"].startswith("libxml2 ") and "threshold = 4/5" in h["recipe"], h
assert h["options"]["text_fields"] == ["text"], h
i, = h["inputs"]
assert i["path"] == "small.jsonl" and i["format"] == "jsonl" and i["records"] == 6, i
assert i["bytes"] > 500 and len(i["xxh3"]) == 16, i'
    [ "$(rows m removed kept removed_at kept_at method identical verified)" = "$(printf '%s\n' \
        '"b" "a" "small.jsonl:2" "small.jsonl:1" "minhash" "no" true' \
        '"c" "a" "small.jsonl:3" "small.jsonl:1" "identity" "bytes" true' \
        'null null null null null null null')" ]
    [ "$(rows m resemblance shared shingles_removed shingles_kept containment_of_removed containment_of_kept | head -1)" = \
        "0.9375 15 16 15 0.9375 1" ]
    rows m distance | head -1 | grep -qE '^[0-9]+$'
    [ "$(rows m skipped | tail -1)" = '"small.jsonl:6"' ]
    rows m reason | tail -1 | grep -q '"'
}

@test "ids keep their JSON type" {
    printf '%s\n' '{"id":17,"text":"a b c d"}' '{"id":"17","text":"a b c d"}' '{"id":1e3,"text":"a b c d"}' '{"text":"a b c d"}' >t.jsonl
    neardup dedup t.jsonl -o out -q --manifest m --clusters c
    tail -3 m | grep -o '"removed":[^,]*,"kept":[^,]*' >got
    printf '%s\n' '"removed":"17","kept":17' '"removed":1e3,"kept":17' '"removed":"t.jsonl:4","kept":17' | cmp - got
    printf '17\t17\n17\t17\n1e3\t17\nt.jsonl:4\t17\n' | cmp - c
}

@test "clusters escape what would break a line; paths that are no UTF-8 become \\xNN" {
    printf '%s\n' '{"id":"a\tb\nc\\d","text":"a b c d"}' >t.jsonl
    neardup dedup t.jsonl -o out -q --clusters c
    printf 'a\\tb\\nc\\\\d\ta\\tb\\nc\\\\d\n' | cmp - c
    mkdir in
    echo "a text in a file with an odd name" >"in/$(printf 'odd\xff.txt')"
    cp in/* in/z.txt
    neardup dedup in -o out -q --clusters c --manifest m
    grep -qxF 'in/z.txt	in/odd\xFF.txt' c
    [ "$(rows m kept)" = '"in/odd\\xFF.txt"' ]
}

@test "every document is in the clusters" {
    large_corpus large.jsonl
    neardup dedup large.jsonl --max-bad 5% -o out -q --clusters c --manifest m 2>/dev/null
    [ "$(wc -l <c)" -eq 2000 ]
    [ "$(cut -f2 c | sort -u | wc -l)" -eq "$(wc -l <out)" ]
    [ "$(awk -F'\t' '$1 != $2' c | wc -l)" -eq "$(rows m removed | grep -vc null)" ]
}

@test "--summary is JSON and agrees with the outputs" {
    small_corpus
    neardup dedup small.jsonl -o out -q --summary s
    python3 - <<'EOF'
import json
s = json.load(open("s"))
assert s["documents"] == 5 and s["kept"] == 3 and s["removed"] == 2, s
assert s["identical_bytes"] == 1 and s["near"] == 1 and s["clusters"] == 1, s
assert s["largest_clusters"] == [{"kept": "a", "documents": 3}], s
assert s["inputs"][0]["format"] == "jsonl" and s["inputs"][0]["first"] == "small.jsonl", s
assert s["verified"] is True and s["peak_bytes"] > 0 and s["bands"] > 0, s
t = s["turns"]
assert t["processor"] > 0 and abs(sum(t.values()) - t["processor"]) <= t["processor"], t
assert [round(p, 2) for p, _ in s["s_curve"]][:2] == [0.05, 0.1] and s["s_curve"][15][1] > 0.99, s
EOF
}

@test "the table says what each file was taken for" {
    small_corpus
    gzip small.jsonl
    run neardup dedup small.jsonl.gz -o out
    [ "$status" -eq 0 ]
    [[ $output == *"small.jsonl.gz: JSON Lines, gzip, 5 records"* ]]
    [[ $output == *"removed"*"2"*"40.0%"* ]]
    [[ $output == *"Chance that a pair is compared"* ]]
}

@test "--dry-run writes only the summary" {
    small_corpus
    for keep in first longest; do
        run neardup dedup small.jsonl -o out --dry-run --keep $keep --manifest m --clusters c --summary s
        [ "$status" -eq 0 ]
        [ "$(ls -A)" = "$(printf 's\nsmall.jsonl')" ]
        grep -q '"kept":3,' s
        [[ $output == *"kept"* ]]
        neardup dedup small.jsonl --dry-run --keep $keep --summary - -q | grep -q '"kept":3,'
    done
}

@test "every line of the summary is true" {
    small_corpus
    : >empty.jsonl
    # No chance is shown where there is no document.
    run neardup dedup empty.jsonl -o out --summary s
    [[ $output != *Chance* ]]
    grep -q '"s_curve":\[\]' s
    [[ $output == *"  0 candidates, 0 of them compared exactly"* ]]
    # Nothing is verified: then nothing is called compared, and what is equal is not called unverified.
    run neardup dedup small.jsonl -o out --verify none --summary s
    [ "${lines[0]}" = "NOT VERIFIED: 1 of the documents removed matched a kept one only by sketches; the texts were not compared" ]
    [[ $output == *"Chance that the sketches of a pair match"* ]]
    [[ $output == *"candidate"*", none compared exactly"* ]]
    [[ $output != *"comparisons"* ]]
    grep -q '"checks":0,' s
    run neardup dedup small.jsonl -o out --recipe manku-2007
    [[ $output != *"NOT VERIFIED"* ]]
    [[ $output == *"equal bytes                     1"* ]]
    # The index may have reserved more than the process used.
    [[ $output == *"peak memory "*"; the index reserved "* ]]
    [[ $output != *"of it the index"* ]]
    # A list of pairs keeps and removes nothing.
    run neardup pairs small.jsonl -o out --summary s
    [[ $output == *"pairs                             3"* ]]
    python3 - <<'EOF'
import json
s = json.load(open("s"))
assert s["pairs"] == 3 and s["documents"] == 5 and s["checks"] > 0, s
assert not {"kept", "removed", "near", "clusters", "identical_bytes", "largest_clusters"} & set(s), s
EOF
    run neardup pairs empty.jsonl -o none
    [[ $output == *"pairs                             0"* ]]
    neardup dedup small.jsonl -q -o out --summary s
    [ "$(grep -c '"pairs"' s)" -eq 0 ]
}

@test "progress is shown where it is asked for" {
    large_corpus large.jsonl
    run neardup dedup large.jsonl -o out --progress
    [[ ${lines[4]} == *"neardup:"*"documents"* || $output == *"documents"*"/s"* ]]
    run neardup dedup large.jsonl -o out --quiet --progress
    [[ $output != *"/s"* ]]
}

@test "-o replaces a file in one step and keeps a symbolic link" {
    small_corpus
    echo old >target
    ln -s target link
    neardup dedup small.jsonl -o link -q
    [ -L link ]
    [ "$(ids target)" = "a 4 5" ]
    (umask 027 && neardup dedup small.jsonl -o fresh -q)
    [ "$(stat -c %a fresh)" = 640 ]
}

@test "an output may lie in the directory that is read" {
    mkdir in
    echo "some text in a file here" >in/a.txt
    echo "another file of other words" >in/b.txt
    neardup dedup in -o in/kept.txt --manifest in/m --summary in/s -q
    [ "$(cat in/kept.txt)" = "$(printf 'in/a.txt\nin/b.txt')" ]
}

@test "what has no name or is no file cannot go into a folder" {
    small_corpus
    echo "some text in a file here" >a.txt
    tar -cf a.tar a.txt
    run neardup dedup -f jsonl --output-dir d -q <small.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"standard input has no name for a file in a folder; use -o"* ]]
    for option in --copy-to --link-to; do
        run neardup dedup small.jsonl $option d -q
        [ "$status" -eq 2 ]
        [[ $output == *"small.jsonl holds records"*"use -o or --output-dir"* ]]
    done
    run neardup dedup a.tar --link-to d -q
    [ "$status" -eq 2 ]
    [[ $output == *"a.tar is an archive: its entries cannot be linked to; use --copy-to"* ]]
    [ -z "$(find . -path './d/*' -type f)" ]
}

@test "a run that fails leaves no empty folders" {
    small_corpus
    mkdir -p in/sub there
    echo "some text in a file here" >in/sub/a.txt
    for folder in new/deep there; do
        run neardup dedup in small.jsonl --copy-to $folder -q
        [ "$status" -eq 2 ]
        [[ $output == *"small.jsonl holds records"* ]]
    done
    [ ! -e new ]
    [ -d there ]
    [ -z "$(ls -A there)" ]
    neardup dedup in --copy-to new/deep -q
    [ -f new/deep/in/sub/a.txt ]
}

@test "low thresholds warn of what unrelated documents cost" {
    large_corpus large.jsonl
    run neardup dedup large.jsonl -o out --threshold 0.3 --summary s
    [[ $output == *"warning: unrelated documents become candidates"* ]]
    run neardup dedup large.jsonl -o out
    [[ $output != *"warning: unrelated"* ]]
    [[ $output == *"candidates a document"* ]]
}

@test "-o may be an input" {
    small_corpus
    neardup dedup small.jsonl -o small.jsonl -q --force --keep longest
    [ "$(ids small.jsonl)" = "b 4 5" ]
}

@test "pipes and devices are written in place" {
    small_corpus
    mkfifo pipe
    cat pipe >copy &
    neardup dedup small.jsonl -o pipe -q
    wait
    [ "$(ids copy)" = "a 4 5" ]
    [ -p pipe ]
    neardup dedup small.jsonl -o /dev/null -q
    [ -c /dev/null ]
}

@test "an empty input gives an empty output" {
    : >empty.jsonl
    neardup dedup empty.jsonl -o out -q
    [ -f out ]
    [ ! -s out ]
    neardup dedup -f jsonl -q </dev/null >out
    [ ! -s out ]
    mkdir none
    neardup dedup none -o out -q || [ "$?" -eq 2 ]
}
