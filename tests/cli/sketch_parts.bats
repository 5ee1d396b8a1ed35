#!/usr/bin/env bats
# sketch_parts.bats - neardup sketch --part i/n: the parts, merged, are the file of the whole

load common

# Merge parts 1 to n of these inputs, for several n, and compare with the whole.
parts_make_the_whole() { # OPTION|FILE…
    neardup sketch -q "$@" -o whole.sketch
    for n in 1 2 3 7; do
        files=()
        for ((i = 1; i <= n; i++)); do
            neardup sketch -q "$@" --part "$i/$n" -o "part-$i.sketch"
            files+=("part-$i.sketch")
        done
        neardup sketch merge "${files[@]}" -o merged.sketch
        cmp merged.sketch whole.sketch
        rm -f part-*.sketch merged.sketch
    done
    rm whole.sketch
}

# N records of JSON Lines, some blank lines among them; the first ID is FIRST.
records() { # N FIRST
    python3 - "$1" "$2" <<'END'
import json, random, sys
n, first = map(int, sys.argv[1:])
random.seed(first)
for i in range(first, first + n):
    print(json.dumps({"id": f"d{i}", "text": " ".join(random.choices("abcdefghij", k=random.randrange(40)))}))
    if random.random() < 0.1:
        print()
END
}

@test "of one file of JSON Lines, and of several" {
    records 300 0 >a.jsonl
    parts_make_the_whole a.jsonl
    records 40 300 >b.jsonl
    records 5 340 >c.jsonl
    : >empty.jsonl
    parts_make_the_whole a.jsonl empty.jsonl b.jsonl c.jsonl empty.jsonl
    parts_make_the_whole a.jsonl a.jsonl
    parts_make_the_whole --no-shingles b.jsonl a.jsonl
    parts_make_the_whole --recipe manku-2007 c.jsonl
    parts_make_the_whole empty.jsonl
    parts_make_the_whole -j 1 a.jsonl
}

@test "of records that are larger than a part" {
    records 3 0 >a.jsonl
    python3 -c 'print("{\"text\":\"" + " ".join(map(str, range(60000))) + "\"}")' >>a.jsonl
    records 3 3 >>a.jsonl
    parts_make_the_whole a.jsonl
}

@test "of CSV, TSV, lines, paragraphs and messages" {
    { echo id,text; for i in {1..60}; do printf '%s,"some words\nand ""more"" of %s"\n' "$i" "$i"; done; } >a.csv
    { printf '\357\273\277text\tid\n'; for i in {1..40}; do printf 'a b c %s\t%s\n' "$i" "$i"; done; } >b.tsv
    parts_make_the_whole a.csv b.tsv a.csv
    seq 1 200 | sed 's/$/ words on a line/' >lines.txt
    parts_make_the_whole --unit line lines.txt
    sed 's/$/\n/' lines.txt >paragraphs.txt
    parts_make_the_whole --unit paragraph paragraphs.txt
    for i in {1..20}; do
        printf 'From a@b Thu Jan  1 00:00:00 2024\nSubject: s%s\nMessage-ID: <%s@x>\n\nsome body of %s\n\n' "$i" "$i" "$i"
    done >a.mbox
    parts_make_the_whole a.mbox
}

@test "of documents that are files, of compressed files and of archives" {
    mkdir pages
    for i in {1..9}; do printf '<p>page %s of %s and more' "$i" "$(seq 1 "$i" | tr '\n' ' ')" >"pages/$i.html"; done
    parts_make_the_whole pages
    records 100 0 | gzip -n >a.jsonl.gz
    records 30 100 >b.jsonl
    records 100 130 | gzip -n >c.jsonl.gz
    parts_make_the_whole a.jsonl.gz b.jsonl c.jsonl.gz
    tar --mtime=@0 --owner=0 --group=0 --sort=name -cf pages.tar pages
    parts_make_the_whole a.jsonl.gz pages.tar b.jsonl pages.tar
    records 200 0 | iconv -f UTF-8 -t UTF-16 >wide.jsonl
    parts_make_the_whole wide.jsonl b.jsonl
}

@test "each document is in one part, and what is bad is told by its part only" {
    { records 100 0; echo broken; records 100 100; } >a.jsonl
    for i in 1 2 3; do
        run neardup sketch a.jsonl --part "$i/3" -o "part-$i.sketch"
        echo "$output" >>told
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    done
    [ "$(grep -c 'a.jsonl:' told)" -eq 1 ]
    for i in 1 2 3; do neardup sketch dump "part-$i.sketch"; done | grep -o '"id":"[^"]*"' | sort >ids
    [ "$(wc -l <ids)" -eq 200 ]
    [ "$(uniq ids | wc -l)" -eq 200 ]
}

@test "parts are read in the order of their numbers, however they are named" {
    records 300 0 >a.jsonl
    neardup dedup -q a.jsonl -o /dev/null --clusters whole.tsv
    neardup sketch -q a.jsonl -o whole.sketch
    for i in {1..11}; do neardup sketch -q a.jsonl --part "$i/11" -o "part-$i.sketch"; done
    [ "$(neardup sketch info part-10.sketch | grep part:)" = "part: 10/11" ]
    ls part-*.sketch | sed -n 2p | grep -x part-10.sketch
    neardup dedup -q --sketches part-*.sketch --clusters parts.tsv
    cmp whole.tsv parts.tsv
    neardup pairs -q part-*.sketch >parts.pairs
    neardup pairs -q whole.sketch >whole.pairs
    cmp <(tail -n +2 whole.pairs) <(tail -n +2 parts.pairs)
    neardup sketch merge part-*.sketch -o merged.sketch
    cmp whole.sketch merged.sketch
}

@test "slow: what dedup and collapse make of parts is what they make of the whole, byte for byte" {
    records 300 0 >a.jsonl
    records 90 300 | gzip -n >b.jsonl.gz
    : >none.jsonl
    neardup sketch -q a.jsonl none.jsonl b.jsonl.gz a.jsonl -o whole.sketch
    for n in 2 3 7; do
        rm -f part-*.sketch
        for ((i = 1; i <= n; i++)); do
            neardup sketch -q a.jsonl none.jsonl b.jsonl.gz a.jsonl --part "$i/$n" -o "part-$i.sketch"
        done
        for options in "dedup" "dedup --keep last" "dedup --memory 64M" "collapse"; do
            # shellcheck disable=SC2086
            neardup $options -q whole.sketch -o of-whole.sketch
            # shellcheck disable=SC2086
            neardup $options -q part-*.sketch -o of-parts.sketch
            cmp of-whole.sketch of-parts.sketch
            [ "$options" != "dedup" ] || mv of-whole.sketch plain.sketch
            [ "$options" != "dedup --memory 64M" ] || cmp plain.sketch of-whole.sketch
        done
    done
}

@test "a part that is missing or there twice is named" {
    records 60 0 >a.jsonl
    for i in 1 2 3; do neardup sketch -q a.jsonl --part "$i/3" -o "part-$i.sketch"; done
    run neardup dedup -q --sketches part-1.sketch part-3.sketch --clusters c.tsv
    [ "$status" -eq 2 ]
    [[ $output == *"part-3.sketch is part 3 of 3, and part 2 is not here"* ]]
    run neardup pairs -q part-1.sketch part-2.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"part-2.sketch is part 2 of 3, and part 3 is not here"* ]]
    cp part-1.sketch again.sketch
    run neardup sketch merge part-1.sketch again.sketch part-2.sketch -o merged.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"are both part 1 of 3"* ]]
    [ ! -e merged.sketch ]
    neardup dedup -q part-2.sketch --clusters one.tsv
    run neardup sketch merge part-3.sketch part-2.sketch -o two.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"part-3.sketch is part 3 of 3, and part 1 is not here"* ]]
    [ ! -e two.sketch ]
    neardup sketch -q a.jsonl -o whole.sketch
    run neardup sketch merge whole.sketch part-3.sketch -o two.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"part-3.sketch is part 3 of 3, and parts 1 and 2 are not here"* ]]
    [ ! -e two.sketch ]
}

@test "files of other parts are not opened" {
    records 100 0 >a.jsonl
    records 100 100 >b.jsonl
    neardup sketch a.jsonl b.jsonl --part 1/2 -o before.sketch
    printf '{"text":"b"}%*s' $(($(stat -c %s b.jsonl) - 12)) '' >b.jsonl
    neardup sketch a.jsonl b.jsonl --part 1/4 -o one.sketch
    [ "$(neardup sketch info one.sketch | grep sources)" = "sources: 1" ]
    ln -s absent absent.jsonl
    run neardup sketch absent.jsonl a.jsonl --part 2/2 -o two.sketch
    [ "$status" -eq 0 ]
}

@test "the same sketches twice are not parts" {
    records 20 0 >a.jsonl
    neardup sketch a.jsonl -o a.sketch
    neardup sketch merge a.sketch a.sketch -o both.sketch
    [ "$(neardup sketch info both.sketch | grep sources)" = "sources: 2" ]
}

@test "what is no part is refused" {
    records 20 0 >a.jsonl
    for wrong in 0/3 4/3 1 1/ /3 1/0 -1/3 1/3x 1/1048577 ''; do
        run neardup sketch a.jsonl --part "$wrong" -o a.sketch
        [ "$status" -eq 2 ]
        [[ $output == *part* ]]
    done
    run neardup sketch a.jsonl --part 1/2 --recipe seshasai-2009 --df auto=t.df -o a.sketch
    [ "$status" -eq 2 ]
    [[ $output == *"--part does not go with --df auto=FILE"* ]]
    [ ! -e a.sketch ]
}
