#!/usr/bin/env bats
# commands.bats - pairs, explain, sketch, help, and the man pages' examples

load common

# The names of all commands, from the help.
commands() {
    neardup --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'
}

@test "--version and help" {
    run neardup --version
    [ "$status" -eq 0 ]
    [[ $output =~ ^neardup\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    [ "$(neardup -V)" = "$output" ]
    run neardup --help
    [ "$status" -eq 0 ]
    [[ $output == *"neardup dedup"*"neardup pairs"*"neardup explain"*"neardup sketch"* ]]
    [ "$(commands | wc -l)" -ge 15 ]
    for command in $(commands); do
        neardup help "$command" >by_help
        neardup "$command" --help >by_option
        cmp by_help by_option
        grep -q "^Usage: neardup $command " by_help
    done
}

@test "no group of the help is another command's" {
    run neardup dedup --help
    [ "$(grep -E '^[A-Z]' <<<"$output" | tail -n +3 | tr '\n' ',')" = \
        "What is a duplicate,Which document is kept,Input,Output,Resources,For experts,Help,Examples," ]
}

@test "the man pages are made: every option of the help is in the page, and no other" {
    man=$(dirname "$NEARDUP")/man
    for command in $(commands); do
        neardup help "$command" | grep -oE '^ .{5}--[a-z-]+' | grep -oE '[a-z][a-z-]+$' | grep -vx help | sort -u >by_help
        sed -n 's/^\.It .*Fl Fl \([a-z-]*\).*/\1/p' "$man/neardup-$command.1" | sort -u >page
        diff by_help page
    done
    grep -A1 'Fl t , Fl Fl threshold Ar RATIO' "$man/neardup-dedup.1" | grep -q '^Documents with at least this resemblance'
}

@test "a man page that explains an option which the command does not have is not made" {
    printf '.Sh DESCRIPTION\nWords.\n.Sh OPTIONS\n.Bl -tag -width Ds\n.It Fl Fl %s\nMore.\n.El\n' sample >page
    neardup manual mirrors <page >made
    grep -A4 'Fl Fl sample Ar N' made | grep -qx 'More.'
    run neardup manual dedup <page
    [ "$status" -eq 2 ]
    [[ $output == *"neardup: dedup has no option --sample"* ]]
    run neardup manual nonsense <page
    [ "$status" -eq 2 ]
    run neardup manual dedup </dev/null
    [ "$status" -eq 2 ]
    echo .Sh NAME >page
    run neardup manual dedup <page
    [ "$status" -eq 2 ]
}

@test "each command has a page, each page is of a command, and neardup(1) names each twice" {
    man=$BATS_TEST_DIRNAME/../../man
    diff <(commands | sort) <(cd "$man" && printf '%s\n' neardup-*.1 | sed 's/neardup-\(.*\)\.1/\1/' | sort)
    diff <(commands | sort) <(sed -n 's/^\.Xr neardup-\([a-z]*\) 1.*/\1/p' "$(dirname "$NEARDUP")/man/neardup.1" |
        sort | uniq -c | sed -n 's/^ *2 //p')
}

@test "each command has a bit of its own in cli/settings.h" {
    sed -n 's/^ *FOR_[A-Z]* = \(1 << [0-9]*\),.*/\1/p' "$BATS_TEST_DIRNAME/../../cli/settings.h" >bits
    [ "$(wc -l <bits)" -eq "$(commands | wc -l)" ]
    [ -z "$(sort bits | uniq -d)" ]
}

@test "the man pages are well formed" {
    command -v mandoc || skip "no mandoc"
    mandoc -Tlint -Wwarning "$(dirname "$NEARDUP")"/man/*.1
}

@test "the examples of the man pages work" {
    man=$BATS_TEST_DIRNAME/../../man
    mkdir bin DIR shards
    ln -s "$NEARDUP" bin/neardup
    PATH=$PWD/bin:$PATH
    small_corpus
    cp small.jsonl corpus.jsonl
    zstd -q corpus.jsonl
    gzip -c small.jsonl >part-1.gz
    gzip -c small.jsonl >shards/1.jsonl.gz
    echo "some words in a file" | tee DIR/a DIR/b >a.txt
    cp a.txt b.txt
    mkdir spam pages site
    echo '<a href=b.html>to b</a>' | tee site/a.html >site/b.html
    echo "buy this now and never work again" | tee spam/1 mail.txt monday.html tuesday.html wednesday.html
    for i in 1 2 3; do echo "home about news contact page $i of many" >pages/$i; done
    cp small.jsonl results.jsonl
    cp small.jsonl docs.jsonl
    cp small.jsonl new.jsonl
    cp small.jsonl spam.jsonl
    cp small.jsonl mail.jsonl
    echo '{"id":9,"text":"a letter from a friend about the weather","url":"http://a.org/x","address":"http://a.org/","fetched":"2024-01-02"}' | tee -a mail.jsonl >versions.jsonl
    for host in a b; do
        for page in 1 2 3; do
            echo "{\"text\":\"one text or another $page\",\"url\":\"http://$host.org/$page\",\"address\":\"http://$host.org/$page\"}"
        done
    done >pages.jsonl
    printf 'From: a\nDate: b\nMessage-ID: <c>\n\nbuy this now and never work again\n' |
        tee spam.mbox >message
    echo '{"set":"s","question":"which of the words of this question stand in the other text too"}' >quiz.jsonl
    echo '{"id":"t","text":"a text of its own that nobody asked about before"}' >train.jsonl
    printf '%s\t%s\n' a 1 b 1 c 1 4 2 5 3 >truth.tsv
    printf '%s\t%s\t1\n' a b a c | tee labels.tsv exact.tsv listed.tsv near.tsv distances.tsv >pairs.tsv
    printf '%s\t%s\n' a a b a c a 4 4 5 5 >clusters.tsv
    printf 'one\ntwo\n' >words.txt
    echo a >removed-ids.txt
    printf '\0\0\0\0' >000000.remove
    head -n 1 small.jsonl | jq -r .text >suspect.txt
    printf '\0\0\0\0\0\0\0\0' >000000.clusters
    echo '{"id":"a","attributes":{"dups":[[0,9,1.0]]}}' >attributes.jsonl
    printf 'ff\n01\n' | tee fingerprints.txt more.txt >queries.txt
    sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^neardup\|^zcat/p}' "$man"/*.1 |
        grep -v '^neardup \(serve\|store\|client\) ' >examples # serve.bats, store.bats, client.bats
    [ "$(wc -l <examples)" -ge 8 ]
    while read -r example; do
        bash -c "$example" </dev/null || { echo "failed: $example"; return 1; }
    done <examples
    [ "$(ids unique.jsonl)" = "a 4 5" ]
    [ "$(cat kept.txt)" = DIR/a ]
    [ -s removed.jsonl ]
    [ -s clusters.tsv ]
    [ -s clean/shards/1.jsonl.gz ]
}

@test "pairs: every pair, the earlier id first" {
    small_corpus
    run neardup pairs small.jsonl -q
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf 'a\tb\t0.9375\t15\t16\na\tc\t1\t15\t15\nb\tc\t0.9375\t15\t16')" ]
    run neardup pairs small.jsonl -q --within lang
    [ "$output" = "$(printf 'a\tb\t0.9375\t15\t16')" ]
    run neardup pairs small.jsonl -q --verify none
    [ "${lines[0]}" = "$(printf 'a\tb\t\t\t')" ]
    neardup pairs small.jsonl -q -o pairs.tsv.gz --summary s
    [ "$(gzip -dc pairs.tsv.gz | wc -l)" -eq 3 ]
}

@test "pairs: none is status 1" {
    echo '{"id":1,"text":"all alone in this file"}' >one.jsonl
    run neardup pairs one.jsonl -q
    [ "$status" -eq 1 ]
    [ -z "$output" ]
}

@test "pairs: the pairs of standard input" {
    small_corpus
    neardup pairs small.jsonl -q >file
    neardup pairs -f jsonl -q <small.jsonl | cmp - file
}

@test "explain: two files" {
    printf 'a rose is a rose is a rose' >a.txt
    printf 'a rose is a flower which is a rose' >b.txt
    run neardup explain a.txt b.txt --shingle 4
    [ "$status" -eq 1 ]
    # The example of Broder's slides, by distinct shingles: 1 of 8.
    [[ $output == *"resemblance:         0.125000 = 1 shared / 8 in either"* ]]
    [[ $output == *"containment of A:    0.333333"* ]]
    [[ $output == *"containment of B:    0.166667"* ]]
    [[ $output == *"terms in both: 3"*"a rose is"* ]]
    [[ $output == *"terms only in A: 0"* ]]
    [[ $output == *"terms only in B: 2"*"flower which"* ]]
    [[ $output == *"verdict: different: the resemblance is below 4/5"* ]]
    run neardup explain a.txt b.txt --shingle 4 --threshold 1/8 --recall 0.5
    [[ $output == *"verdict:"*"1/8"* ]]
    run neardup explain a.txt b.txt --shingle 4 --threshold 1/8 --candidates all
    [ "$status" -eq 0 ]
    [[ $output == *"verdict: duplicates: the resemblance reaches 1/8"* ]]
}

@test "explain: two ids of a corpus, and places" {
    small_corpus
    run neardup explain --corpus small.jsonl a b
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "A: a (small.jsonl:1): "* ]]
    [[ $output == *"verdict: duplicates: the resemblance reaches 4/5"* ]]
    run neardup explain --corpus small.jsonl a small.jsonl:3
    [[ $output == *"verdict: duplicates: their bytes are equal"* ]]
    run neardup explain --corpus small.jsonl a 4
    [ "$status" -eq 1 ]
    run neardup explain --corpus small.jsonl a nobody
    [ "$status" -eq 2 ]
    [[ $output == "neardup: nobody: no document has this id or place" ]]
}

@test "explain: reasons" {
    printf 'Hello, world' >a.txt
    printf 'hello world' >b.txt
    run neardup explain a.txt b.txt
    [ "$status" -eq 1 ]
    [[ $output == *"both are shorter than a shingle (3)"*"its bytes are equal"* ]]
    run neardup explain a.txt b.txt --short tokens
    [ "$status" -eq 0 ]
    [[ $output == *"verdict: duplicates: their tokens are equal"* ]]
    run neardup explain a.txt b.txt --short keep
    [[ $output == *"--short keep"* ]]
    small_corpus
    run neardup explain --corpus small.jsonl a b --method identical
    [[ $output == *"neither their bytes nor their tokens are equal"* ]]
    run neardup explain --corpus small.jsonl a b --method simhash --bits 0
    [[ $output == *"reaches 4/5, but their sketches do not match"* ]]
    run neardup explain --corpus small.jsonl a b --verify none
    [[ $output == *"their sketches match, and nothing is verified"* ]]
}

@test "explain: wrong usage" {
    small_corpus
    run neardup explain - -
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: standard input cannot be both documents" ]
    run neardup explain small.jsonl
    [ "$status" -eq 2 ]
    run neardup explain small.jsonl small.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"small.jsonl: contains 5 documents; name one by its id with --corpus"* ]]
    run neardup explain none.txt small.jsonl
    [ "$status" -eq 2 ]
}

@test "sketch: one JSON object a document" {
    small_corpus
    neardup sketch small.jsonl >s
    python3 - <<'EOF'
import json
rows = [json.loads(line) for line in open("s")]
assert [r["id"] for r in rows] == ["a", "b", "c", 4, 5]
a, b, c = rows[:3]
assert a["tokens"] == 17 and a["shingles"] == 15 and len(a["minima"]) == 128, a
assert a["minima"] == c["minima"] and a["identity"] == c["identity"] != b["identity"]
assert len(a["simhash"]) == 16 and int(a["simhash"], 16)
equal = sum(x == y for x, y in zip(a["minima"], b["minima"]))
assert 90 < equal < 128, equal
EOF
    neardup sketch small.jsonl -o s2 --characters 5 -q
    run cmp -s s s2
    [ "$status" -eq 1 ]
}

@test "pairs: of one site, or of two" {
    words="the same words stand on all of these pages of two sites"
    printf '{"id":%s,"url":"%s","text":"%s"}\n' 1 http://a.org/x "$words" 2 http://A.ORG:80/y "$words." \
        3 https://b.org/x "$words!" 4 nowhere "$words?" >pages.jsonl
    echo "{\"id\":5,\"text\":\"$words;\"}" >>pages.jsonl
    neardup pairs -q --site url pages.jsonl >found
    [ "$(cut -f 1,2,6 found | tr '\t\n' '- ')" = "1-2-same 1-3-other 2-3-other 1-4- 2-4- 3-4- 1-5- 2-5- 3-5- 4-5- " ]
    neardup pairs -q pages.jsonl >plain
    [ "$(awk -F '\t' '{ print NF }' plain | sort -u)" = 5 ]
    cut -f 1-5 found | cmp - plain
    neardup pairs -q --recipe broder-1997 --set shingles.modulus=1 --site url pages.jsonl | head -n 1 >signed
    [ "$(cut -f 7 signed)" = same ]
    run neardup dedup --site url pages.jsonl
    [ "$status" -eq 2 ]
}
