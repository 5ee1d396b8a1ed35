#!/usr/bin/env bats
# filters.bats - files of other kinds, read through programs

load common

bats_require_minimum_version 1.5.0

BUY="buy these wonderful pills now and never be tired again in all your long and happy life"
MEET="shall we meet on monday at the usual place and talk about the weather, my dear friend?"

# The test program makes capital letters of a file small ones.
LOWER="x:tr A-Z a-z"

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir d
    echo "$BUY" >d/a.x
    echo "${BUY^^}" >d/b.X
    echo "$MEET" >d/c.txt
}

# A page of PDF with this line.
pdf() { # TEXT
    python3 - "$1" <<'PY'
import sys
show = "BT /F1 12 Tf 72 720 Td (%s) Tj ET" % sys.argv[1]
parts = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
         "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 900 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
         "<< /Length %d >>\nstream\n%s\nendstream" % (len(show), show),
         "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
made, at = "%PDF-1.4\n", []
for number, part in enumerate(parts, 1):
    at.append(len(made))
    made += "%d 0 obj\n%s\nendobj\n" % (number, part)
start = len(made)
made += "xref\n0 6\n0000000000 65535 f \n" + "".join("%010d 00000 n \n" % place for place in at)
sys.stdout.write(made + "trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start)
PY
}

@test "filters: a command reads the files of an ending, in any case of letters, and nothing else" {
    neardup dedup -q --filter "$LOWER" d --manifest m.jsonl -o out
    printf 'd/a.x\nd/c.txt\n' | cmp - out
    [ "$(rows m.jsonl removed kept identical)" = '"d/b.X" "d/a.x" "bytes"' ]
    head -n 1 m.jsonl | grep -qF '"filters":["x:tr A-Z a-z"]'
    head -n 1 m.jsonl | grep -qF '{"path":"d/a.x","format":"filtered"'
    neardup dedup -q --filter "$LOWER" --format text d | cmp - out
    run neardup dedup -q d
    [ "$status" -eq 0 ]
    [ "$(wc -l <<<"$output")" -eq 2 ]
}

@test "filters: of several for one ending the last counts" {
    run -2 neardup dedup -q --filter "$LOWER" --filter "x:false" d
    neardup dedup -q --filter "x:false" --filter "$LOWER" d -o out
    printf 'd/a.x\nd/c.txt\n' | cmp - out
}

@test "filters: what fails is a bad record with its file and its reason, and the others are read" {
    neardup dedup -q --max-bad 1 --filter 'x:grep -v BUY || exit 7' d --manifest m.jsonl >out 2>err || [ $? -eq 3 ]
    printf 'd/a.x\nd/c.txt\n' | cmp - out
    grep -qx "neardup: d/b.X: the filter 'grep -v BUY || exit 7' failed with status 7" err
    [ "$(rows m.jsonl skipped reason)" = "\"d/b.X\" \"the filter 'grep -v BUY || exit 7' failed with status 7\"" ]
    while IFS='|' read -r command reason; do
        run neardup dedup -q --filter "x:$command" --filter-limits time=1,output=100 d/a.x
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"d/a.x: the filter '$command' $reason" ]]
    done <<'ROWS'
exit 1|failed with status 1
echo no such font >&2; exit 1|failed with status 1: no such font
kill -11 $$|was ended by signal 11
sleep 60|ran longer than 1 second
yes|wrote more than 100 bytes
true|wrote no text
printf "\f \n"|wrote no text
ROWS
    run -2 neardup dedup -q --strict --filter "x:false" d
    neardup dedup -q --missing-text empty --filter "x:true" d -o out
    [ "$(wc -l <out)" -eq 2 ]
}

@test "filters: the limit of memory holds" {
    run neardup dedup -q --filter 'x:python3 -c "x = bytearray(1 << 30)"' --filter-limits memory=300M d/a.x
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"failed with status 1: Traceback"* ]]
    run -0 neardup dedup -q --filter 'x:python3 -c "print(len(bytearray(1 << 28)))"' d/a.x
}

@test "filters: the same bytes for any number of threads, and in their order" {
    mkdir many
    for i in $(seq 60); do
        echo "$((i % 7)) $BUY $((i % 7)) $((i % 7)) $((i % 7))" >"many/$i.x"
    done
    for threads in 1 2 8; do
        neardup pairs -q -j "$threads" --filter 'x:sleep 0.0$(head -c 1); cat; cat /dev/stdin' many >"pairs.$threads"
        neardup dedup -q -j "$threads" --filter "$LOWER" many --manifest "m.$threads" >"out.$threads"
    done
    [ -s pairs.1 ]
    cmp pairs.1 pairs.2
    cmp pairs.1 pairs.8
    cmp m.1 m.8
    cmp out.1 out.8
    [ "$(sort out.1 | uniq | wc -l)" -eq "$(wc -l <out.1)" ]
}

@test "filters: in archives, compressed, in pipes, and written as they came" {
    gzip -k d/b.X
    tar cf a.tar d
    neardup dedup -q --filter "$LOWER" a.tar -o kept.tar
    [ "$(tar tf kept.tar | xargs)" = "d/ d/a.x d/c.txt" ]
    tar xOf kept.tar d/a.x | cmp - d/a.x
    (cd d && zip -q ../a.zip a.x b.X.gz c.txt)
    neardup dedup -q --filter "$LOWER" a.zip --manifest m.jsonl -o kept.zip
    [ "$(rows m.jsonl removed kept)" = '"a.zip!b.X.gz" "a.zip!a.x"' ]
    neardup dedup -q --filter "$LOWER" d --output-dir out
    cmp d/a.x out/d/a.x
    [ "$(find out -type f | wc -l)" -eq 2 ]
    mkfifo pipe.x
    cat d/b.X >pipe.x &
    neardup pairs -q --filter "$LOWER" d/a.x pipe.x >pairs
    grep -q pipe.x pairs
    neardup pairs -q --format filtered --filter "$LOWER" d/a.x - <d/b.X >pairs
    grep -q "d/a.x" pairs
    run neardup dedup --format filtered - <d/a.x
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"format filtered: needs one filter, not 0" ]]
}

@test "filters: other commands read through them, too" {
    neardup filter -q -p d/a.x --filter "$LOWER" d -o out
    printf 'd/a.x\nd/b.X\n' | cmp - out
    neardup explain --filter "$LOWER" d/a.x d/b.X | grep -q "^resemblance: *1.000000"
    neardup dedup -q --filter "$LOWER" --keep longest d --manifest m.jsonl -o out
    neardup report -q --filter "$LOWER" m.jsonl d -o r.html
    grep -q "<html" r.html
    neardup apply -q --filter "$LOWER" m.jsonl d | cmp - out
    neardup dedup -q --filter "$LOWER" --memory 64M d --keep longest | cmp - out
}

@test "filters: nothing stays when neardup is ended by a signal" {
    local pid
    "$NEARDUP" dedup -q --filter 'x:echo $$ >> pids; sleep 1000 & sleep 1000' d -o out &
    pid=$!
    for _ in $(seq 600); do
        if [ -s pids ]; then break; fi
        sleep 0.05
    done
    [ -s pids ]
    kill -TERM "$pid"
    wait "$pid" || [ $? -eq 143 ]
    for _ in $(seq 600); do
        if ! pgrep -g "$(paste -sd, pids)" >left; then break; fi
        sleep 0.05
    done
    [ ! -s left ]
    [ ! -e out ]
}

@test "filters: mistakes in the option are named" {
    while IFS='|' read -r value message; do
        run neardup dedup --filter "$value" d
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"$message"* ]]
    done <<'ROWS'
x:|has no command
:cat|does not name the endings of files before its colon
a/b:cat|does not name the endings of files before its colon
odf|'odf' is none of pdf, docx, odt, epub; another one has the form EXT:COMMAND
ROWS
    run neardup dedup --filter "$LOWER" --filter-limits time=1m d
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"does not have the form time=SECONDS,memory=SIZE,output=SIZE"* ]]
}

@test "filters: without one, the message for a file that is not text names it, and the package" {
    pdf "$BUY" >d/a.pdf
    run neardup dedup d/a.pdf
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: d/a.pdf: is a PDF file, so it is not read as text: --filter pdf reads it (Debian: poppler-utils)" ]]
    neardup dedup -q d >out 2>err
    grep -q "1 is not text (d/a.pdf); --filter pdf reads PDF files (Debian: poppler-utils)" err
    mkdir empty
    PATH=$PWD/empty run "$NEARDUP" dedup -q --filter pdf d/a.pdf
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"d/a.pdf: the filter 'pdftotext "*"' is not installed: Debian's package poppler-utils brings it" ]]
    PATH=$PWD/empty "$NEARDUP" doctor >found || [ $? -eq 1 ]
    grep -qP "^pdftotext\tabsent\t--filter pdf, for PDF files: pdftotext .*; Debian's package poppler-utils\$" found
}

@test "filters: PDF by pdftotext" {
    command -v pdftotext >which || skip "no pdftotext: Debian's package poppler-utils brings it"
    pdf "$BUY" >d/a.pdf
    pdf "$MEET" >d/m.PDF
    head -c 300 d/a.pdf >d/cut.pdf
    echo junk >d/junk.pdf
    neardup dedup -q --max-bad 1 --filter pdf --exclude '*.[xX]' d --manifest m.jsonl >out 2>err || [ $? -eq 3 ]
    printf 'd/a.pdf\nd/c.txt\n' | cmp - out
    grep -q "d/junk.pdf: the filter 'pdftotext .*' failed with status 1" err
    grep -q "d/cut.pdf: the filter 'pdftotext .*' failed with status" err
    rows m.jsonl removed kept | grep -qx '"d/m.PDF" "d/c.txt"'
}

@test "filters: docx, odt and epub by their programs, from files that pandoc makes" {
    command -v pandoc >which || skip "no pandoc, which makes the files: Debian's package pandoc brings it"
    local tried=0
    while read -r kind program; do
        command -v "$program" >which || continue
        tried=$((tried + 1))
        mkdir "$kind"
        echo "$BUY" >"$kind/a.txt"
        pandoc "$kind/a.txt" -f markdown -o "$kind/b.$kind" --metadata title=t
        echo "PK junk" >"$kind/c.$kind"
        neardup pairs -q --max-bad 1 --threshold 0.7 --filter "$kind" "$kind" >pairs 2>err || [ $? -eq 3 ]
        grep -q "$kind/a.txt.*$kind/b.$kind" pairs
        grep -q "$kind/c.$kind: the filter '$program .*' failed with status" err
        run neardup dedup -q "$kind/b.$kind"
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"--filter $kind "*"(Debian: "* ]]
    done <<'ROWS'
docx docx2txt
odt odt2txt
epub pandoc
ROWS
    [ "$tried" -gt 0 ]
}
