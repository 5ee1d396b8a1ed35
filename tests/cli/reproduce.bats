#!/usr/bin/env bats
# reproduce.bats - neardup reproduce: results of papers run again

load common
bats_require_minimum_version 1.5.0

labs() {
    (cd "$BATS_TEST_DIRNAME/../../lab" && printf '%s\n' *.ini)
}

# mine: a reproduction whose steps read what comes with it.
mine() {
    cat >mine.ini <<'END'
# mine.ini - a test
[reproduction]
title = A test
paper = Nobody 1999,
    section 3
corpus = three documents
remark = A remark that is longer than one line is wrapped, so that it can be read on a terminal of a
    hundred columns without any trouble, and goes on.
cannot = The rest.

[file docs]
{"id":"a","text":"one two three four five six seven eight nine ten eleven twelve"}
{"id":"b","text":"one two three four five six seven eight nine ten eleven thirteen"}
{"id":"c","text":"an other text without much in common with the two that stand above it"}
[file truth]
a	b	1
a	c	0
[file rule]
\[sketch]
shingle = 2

[step sweep]
run = sweep --quiet --format jsonl --recipe {rule} --set threshold=0.5,0.9 --truth {truth}
    --universe labelled {docs}
[step pairs]
run = pairs --quiet --format jsonl --threshold 0.5 {docs}
[step summary]
run = dedup --quiet --format jsonl --threshold 0.5 --dry-run --summary - {docs}
[step lost]
run = pairs --quiet {corpora}/none/docs.jsonl.zst
[step after]
run = eval --truth {lost} {pairs}

[series recall]
about = recall by threshold
table = sweep
labels = half most
value = recall
paper = 1 .5
expect = 1 0
[series half]
table = sweep sweep
where = threshold=0.5
where = best=1
labels = once twice
value = (precision + 1) * 2 - 8 / 2
paper = - 0
expect = 0 0
[series counts]
table = pairs
labels = rows
value = rows + sum($3) - $3
expect = 1
[series removed]
table = summary
labels = share
value = removed / documents
expect = .3333
[series skipped]
table = after
labels = a
value = $1
END
}

@test "reproduce: every file of lab/ is shipped, listed and well formed" {
    run --separate-stderr neardup reproduce list
    [ "$status" -eq 0 ]
    diff <(labs | sed 's/\.ini$//' | sort) <(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' <<<"$output" | sort)
    for name in $(labs); do
        # Whatever needs a corpus is skipped, and says which.
        run neardup reproduce "$BATS_TEST_DIRNAME/../../lab/$name" --tsv
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
        run ! grep -P '\t(no|failed)$' <<<"$output"
    done
    python3 "$BATS_TEST_DIRNAME/../../tools/make_recipe_texts.py" --check
}

@test "reproduce: what needs no corpus gives what was expected" {
    for name in slides-rose manku-3.1 manku-3.2; do
        neardup reproduce $name >report
        grep -q "$name: " report
        run ! grep -q "expected\|skipped\|failed" report
    done
    neardup reproduce slides-rose --tsv >rows
    [ "$(sed -n 2p rows)" = "$(printf 'slides-rose\tresemblance\tr(A,B)\t0.25\t0.25\t0.25\tyes')" ]
}

@test "reproduce: with the corpora, all numbers are as expected" {
    corpora=$BATS_TEST_DIRNAME/../../../shared/data
    [ -d "$corpora/reuters21578" ] || skip "the corpora are not there"
    neardup reproduce manku-fig-1 kolcz-table-1 seshasai-6.4.3 --corpora "$corpora" --tsv >rows
    [ "$(grep -c 'yes$' rows)" -ge 50 ]
    run ! grep -P '\t(no|skipped|failed)$' rows
}

@test "reproduce: a file of one's own: values, order, what is skipped" {
    mine
    run -3 neardup reproduce ./mine.ini
    [[ $output == *"mine: A test"*"Nobody 1999, section 3"*"Here: three documents"* ]]
    [[ $output == *"the same order; 1 of 2 numbers are within 10% of the paper's"* ]]
    [[ $output == *"skipped: needs what was not run: lost"* ]]
    [[ $output == *"Not reproduced:"*"The rest."* ]]
    run ! grep -q '.\{101\}' <<<"$output"
    neardup reproduce ./mine.ini --tsv >rows || [ $? -eq 3 ]
    [ "$(cut -f 2,3,5,7 rows | sed 1d | tr '\t\n' ' ;')" = "recall half 1 yes;recall most 0 yes;half once 0 yes;half twice 0 yes;counts rows 1 yes;removed share 0.333333 yes;skipped a - skipped;" ]
    sed 's/^expect = 1 0/expect = 1 .1/; /^\[series skipped/,$d' mine.ini >other.ini
    run -1 neardup reproduce ./other.ini
    [[ $output == *"expected"*"0.1"* ]]
    # The report goes to a file, the files of the steps where they are asked for, and nothing stays in TMPDIR.
    mkdir tmp
    TMPDIR=tmp neardup reproduce ./other.ini -q -o report --files kept || [ $? -eq 1 ]
    [ -s report ]
    [ "$(head -1 kept/other/docs | cut -c 1-9)" = '{"id":"a"' ]
    [ "$(head -1 kept/other/rule)" = "[sketch]" ]
    TMPDIR=tmp neardup reproduce ./other.ini -q >again || [ $? -eq 1 ]
    cmp report again
    [ -z "$(ls -A tmp)" ]
}

@test "reproduce --report: a page with the same numbers, which loads nothing" {
    mine
    sed -i 's/^title = A test/title = A <b>test<\/b> \& more/' mine.ini
    run -3 neardup reproduce ./mine.ini -o report --report page.html
    neardup reproduce ./mine.ini -q >again || [ $? -eq 3 ]
    cmp report again
    grep -qF 'A &#60;b&#62;test&#60;/b&#62; &#38; more' page.html
    grep -q 'the same order; 1 of 2 numbers are within 10% of the paper' page.html
    grep -q 'Skipped: needs what was not run: lost' page.html
    grep -q '<h3>Not reproduced</h3>' page.html
    run ! grep -qE 'https?://|<script|<link|url\(' <(sed 's#http://www.w3.org/2000/svg##' page.html)
    python3 - <<'END'
import html.parser, re
stack = []
class Parser(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "rect", "line", "circle", "polyline"): stack.append(tag)
    def handle_endtag(self, tag):
        if tag not in ("rect", "line", "circle", "polyline"): assert stack.pop() == tag, tag
page = open("page.html").read()
Parser().feed(page)
assert not stack, stack
assert re.findall(r"<td>(.*?)</td>", page)[:4] == ["1", "1", "0.5", "0"]
END
    sed -i 's/^expect = 1 0/expect = 1 .1/; /^\[series skipped/,$d' mine.ini
    run -1 neardup reproduce ./mine.ini -q -o report --report page.html
    grep -q '<td class="off">0</td><td>0.1</td>' page.html
    neardup reproduce manku-3.1 kolcz-table-1 slides-rose -q -o report --report page.html || [ $? -eq 3 ]
    [ "$(grep -c '<section>' page.html)" = 3 ]
    run -2 neardup reproduce list --report page.html
    run -2 neardup reproduce ./mine.ini --report mine.ini
    run -2 neardup reproduce ./mine.ini -o same.html --report same.html
}

@test "reproduce: pages of packages that are unpacked in a folder" {
    for arch in amd64 i386; do
        mkdir -p "pk/usr/share/doc/installation-guide-$arch/en"
        for i in 1 2 3 4 5; do
            echo "<p>the page $i of a manual tells about $((i * i)) things that are the same on every machine, whatever it is" >"pk/usr/share/doc/installation-guide-$arch/en/$i.html"
        done
    done
    neardup reproduce henzinger-guide --packages pk --tsv >rows
    [ "$(cut -f 2-5 rows | sed -n 2,4p | tr '\t\n' ' ;')" = "identity share 0.275 0.5;most B - 1;most C - 1;" ]
    run -3 neardup reproduce henzinger-guide --packages none --tsv
    [[ $output == *"skipped"* ]]
}

@test "reproduce: a step that fails says why, and what needs it too" {
    mine
    sed 's/threshold=0.5,0.9/threshold=0.5,9/; /^\[series skipped/,$d' mine.ini >bad.ini
    run -2 neardup reproduce ./bad.ini
    [[ $output == *"step sweep failed: neardup: threshold=9: "* ]]
    [[ $output == *"recall by threshold"*"failed: neardup: threshold=9: "* ]]
    sed 's/^value = recall/value = recal/; /^\[series skipped/,$d' mine.ini >bad.ini
    run -2 neardup reproduce ./bad.ini
    [[ $output == *"there is no column recal"* ]]
    sed 's/^value = recall/value = (recall/; /^\[series skipped/,$d' mine.ini >bad.ini
    run -2 neardup reproduce ./bad.ini
    [[ $output == *"a ) is missing"* ]]
    sed '/^labels = half most/s/most/most more/; s/^paper = 1 .5/paper = 1 .5 -/; s/^expect = 1 0/expect = 1 0 -/' mine.ini >bad.ini
    run -2 neardup reproduce ./bad.ini
    [[ $output == *"there are 2 values and 3 labels"* ]]
}

@test "reproduce: what is no reproduction is refused, with file, line and reason" {
    head='[reproduction]\ntitle = A\npaper = B\n'
    n=0
    while IFS='|' read -r text message; do
        printf %b "$text" >bad.ini
        run -2 neardup reproduce ./bad.ini
        [[ $output == *"./bad.ini:"*"$message"* ]]
        n=$((n + 1))
    done <<END
title = A|no section has begun before title
${head}here|a line has the form KEY = VALUE: here
${head}titel = x|[reproduction] has no key titel
${head}title = x|the key is there twice
${head}[step a|a heading ends with ]
${head}[step]|sections are
${head}[chapter a]|there are no sections of the kind chapter
${head}[step A]|small letters
${head}[step a]\nrun = recipe list\n[step a]|there are two steps or files
${head}[step a]|a step needs a command, and a file lines: a
${head}[step a]\nwalk = x|[step] has no key walk
${head}[step a]\nrun = recipe list\n[series s]\ntable = b\nvalue = 1\nlabels = a|the table is no step and no file: b
${head}[series s]\nvalue = 1|table, value or labels are missing
${head}[series s]\npaper = x|this is no number: x
${head}[series s]\nnear = x|this is no number: x
${head}[step a]\nrun = recipe list\n[series s]\ntable = a\nvalue = 1\nlabels = a\npaper = 1 2|there are not as many numbers as labels
[reproduction]\ntitle = A|needs a title and a paper
\n  a|goes on with none
END
    [ "$n" -eq 18 ]
    run -2 neardup reproduce slide-rose
    [[ $output == *"did you mean 'slides-rose'?"* ]]
    run -2 neardup reproduce ./none.ini
    [[ $output == *"none.ini: cannot be read"* ]]
    run -2 neardup reproduce
    [[ $output == *"reproduce needs list, all, or names"* ]]
}

@test "reproduce: whoever stops it finds no folder left" {
    mkdir tmp
    cat >long.ini <<'END'
[reproduction]
title = A
paper = B
[step long]
run = pairs -q --format jsonl /dev/stdin
[step fifo]
run = pairs -q --format jsonl fifo
END
    mkfifo fifo
    TMPDIR=$PWD/tmp "$NEARDUP" reproduce ./long.ini &
    pid=$!
    for _ in $(seq 400); do
        pgrep -P $pid >child && [ -s child ] && tr '\0' ' ' <"/proc/$(cat child)/cmdline" | grep -q fifo && break
        sleep 0.05
    done
    [ -n "$(ls tmp)" ]
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    [ "$status" -eq 143 ]
    [ -z "$(ls -A tmp)" ]
}
