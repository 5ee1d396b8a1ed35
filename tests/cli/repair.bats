#!/usr/bin/env bats
# repair.bats - texts in which bytes were no UTF-8 are equal only where those bytes are the same

load common

# Two words in Latin-1 that differ in one letter, each twice, and the character that stands for both
# once they are repaired.
fish() {
    printf 'p\xeache\np\xe8che\np\xeache\np\xe8che\np\xef\xbf\xbdche\n'
}

# Print them as records.
fish_records() {
    fish | LC_ALL=C awk '{ printf "{\"id\":%d,\"text\":\"%s\"}\n", NR, $0 }'
}

# The numbers of the lines of a file that stand in another, in order.
lines_of() {
    python3 - "$1" "$2" <<'PY'
import sys
whole = open(sys.argv[1], "rb").read().splitlines()
kept = open(sys.argv[2], "rb").read().splitlines()
at = 0
for line in kept:
    at = whole.index(line, at)
    print(at + 1, end=" ")
    at += 1
PY
}

@test "lines that differ in a byte that is no UTF-8 are both kept, and copies of them are not" {
    fish >fish.txt
    neardup dedup --unit line --quiet fish.txt -o out.txt
    [ "$(lines_of fish.txt out.txt)" = "1 2 5 " ]
}

@test "slow: every kind of cluster, order and reader says the same of them" {
    fish_records >fish.jsonl
    gzip -k fish.jsonl
    for options in "" "--cluster components" "--cluster complete" "--keep longest" "--threads 1" \
        "--short tokens" "--method simhash" "--method identical" "--verify none" \
        "--short tokens --verify none" "--recipe broder-1997" "--recipe text-profile"; do
        for input in fish.jsonl fish.jsonl.gz; do
            # shellcheck disable=SC2086 # the options are several words
            neardup dedup $options --quiet $input -o out.jsonl
            [ "$(lines_of fish.jsonl out.jsonl)" = "1 2 5 " ]
        done
        # shellcheck disable=SC2086
        neardup dedup $options --format jsonl --quiet <fish.jsonl >out.jsonl
        [ "$(lines_of fish.jsonl out.jsonl)" = "1 2 5 " ]
    done
}

@test "pairs and filter say the same of them" {
    fish_records >fish.jsonl
    for options in "" "--short tokens" "--verify none" "--recipe broder-1997" "--recipe text-profile"; do
        # shellcheck disable=SC2086
        neardup pairs $options --quiet fish.jsonl | cut -f 1,2 | tr '\t\n' '- ' >pairs
        [ "$(cat pairs)" = "1-3 2-4 " ]
        head -n 1 fish.jsonl >known.jsonl
        # shellcheck disable=SC2086
        neardup filter --prototypes known.jsonl $options --quiet --invert fish.jsonl -o out.jsonl
        [ "$(lines_of fish.jsonl out.jsonl)" = "2 4 5 " ]
    done
}

@test "collapse, explain and compare say the same of them" {
    fish_records >fish.jsonl
    neardup collapse --quiet fish.jsonl -o out.jsonl
    [ "$(lines_of fish.jsonl out.jsonl)" = "1 2 5 " ]
    run neardup explain --corpus fish.jsonl 1 2
    [[ "$output" =~ identical:\ *no ]]
    run neardup explain --corpus fish.jsonl 1 3
    [[ "$output" =~ identical:\ *bytes ]]
    run neardup compare --corpus fish.jsonl 1 2
    [[ "$output" =~ identical:\ *no ]]
    run neardup compare --corpus fish.jsonl 1 3
    [[ "$output" =~ identical:\ *bytes ]]
}

@test "long documents are identical by their tokens only where their repaired bytes agree" {
    local words="one two three four five six seven eight nine ten eleven twelve"
    printf '{"id":1,"text":"%s p\xeache"}\n{"id":2,"text":"%s p\xe8che"}\n{"id":3,"text":"%s, P\xeaCHE"}\n' \
        "$words" "$words" "$words" >long.jsonl
    neardup dedup --method identical --quiet long.jsonl -o out.jsonl --manifest m.jsonl
    [ "$(ids out.jsonl 2>/dev/null || lines_of long.jsonl out.jsonl)" = "1 2 " ]
    [ "$(rows m.jsonl identical)" = '"tokens"' ]
    neardup dedup --quiet long.jsonl -o out.jsonl --manifest m.jsonl
    [ "$(rows m.jsonl identical | tr '\n' ' ')" = '"no" "tokens" ' ]
}

@test "only the bytes of the text count, not those of another field or of an id" {
    printf '{"text":"one","by":"p\xeache"}\n{"text":"one","by":"p\xe8che"}\n' >by.jsonl
    neardup dedup --quiet by.jsonl -o out.jsonl
    [ "$(wc -l <out.jsonl)" -eq 1 ]
    printf 'by,text\np\xeache,one\np\xe8che,one\n' >by.csv
    neardup dedup --quiet by.csv -o out.csv
    [ "$(wc -l <out.csv)" -eq 2 ]
    printf 'by,text\np\xeache,o\xeane\np\xe8che,o\xe8ne\np,o\xeane\n' >by.csv
    neardup dedup --quiet by.csv -o out.csv
    [ "$(wc -l <out.csv)" -eq 3 ]
}

@test "an escaped lone surrogate, an escaped U+FFFD and a wrong byte are three texts" {
    # shellcheck disable=SC2028 # the backslashes are of JSON
    {
        echo '{"text":"a \ud800 b"}'
        echo '{"text":"a \udc01 b"}'
        echo '{"text":"a \ufffd b"}'
        printf '{"text":"a \xef\xbf\xbd b"}\n'
        printf '{"text":"a \xff b"}\n'
        echo '{"text":"a \uD800 b"}'
        printf '{"text":"a \\u0020\xff b"}\n'
        printf '{"text":"a \\u0020\xff b\\u0020\xef\xbf\xbd"}\n'
        printf '{"text":"a \\u0020\xef\xbf\xbd b\\u0020\xff"}\n'
        printf '{"text":"a \\u0020\\ufffd b\\u0020\xff"}\n'
    } >marks.jsonl
    neardup dedup --quiet marks.jsonl -o out.jsonl
    [ "$(lines_of marks.jsonl out.jsonl)" = "1 2 3 5 7 8 9 " ]
}

@test "several text fields are one text" {
    {
        printf '{"a":"x","b":"\xea"}\n'
        printf '{"a":"x","b":"\xe8"}\n'
        printf '{"a":"x\\n\xea"}\n'
        printf '{"b":"x\\n\xe8"}\n'
    } >two.jsonl
    neardup dedup --text-field a --text-field b --quiet two.jsonl -o out.jsonl
    [ "$(lines_of two.jsonl out.jsonl)" = "1 2 " ]
}

@test "the texts of an array are one text" {
    {
        printf '{"id":1,"m":[{"c":"x"},{"c":"\xea"}]}\n'
        printf '{"id":2,"m":[{"c":"x"},{"c":"\xe8"}]}\n'
        printf '{"id":3,"m":[{"c":"x\\n\xea"}],"by":"\xff"}\n'
    } >array.jsonl
    neardup dedup --text-field 'm.*.c' --quiet array.jsonl -o out.jsonl
    [ "$(lines_of array.jsonl out.jsonl)" = "1 2 " ]
}

@test "a record of a hundred thousand wrong texts is read in one pass over it" {
    python3 - <<'PY'
import sys
texts = b",".join(b'"\xea"' for _ in range(200000))
open("much.jsonl", "wb").write(b'{"m":[' + texts + b']}\n' + b'{"m":[' + texts + b'],"k":1}\n')
PY
    neardup dedup --text-field 'm.*' --quiet much.jsonl -o out.jsonl
    [ "$(wc -l <out.jsonl)" -eq 1 ]
}

@test "groups whose names differ in such bytes are two" {
    for by in "p\\xeache" "p\\xe8che" "p\\xeache"; do
        printf '{"text":"the same","by":"%b"}\n' "$by"
    done >within.jsonl
    for options in "" "--keep last"; do
        # shellcheck disable=SC2086
        neardup dedup --within by $options --quiet within.jsonl -o out.jsonl
        [ "$(wc -l <out.jsonl)" -eq 2 ]
    done
    neardup pairs --within by --quiet within.jsonl >pairs
    [ "$(wc -l <pairs)" -eq 1 ]
}

@test "series of track whose names differ in such bytes are two" {
    for by in "p\\xeache" "p\\xe8che"; do
        printf '{"text":"the same","by":"%b"}\n' "$by"
    done >series.jsonl
    neardup track --series by --quiet series.jsonl >rows
    [ "$(grep -c new rows)" -eq 2 ]
}

@test "pages and mail that name UTF-8 and are Latin-1" {
    for page in 1-ea 2-e8 3-ea; do
        printf '<html><head><meta charset="utf-8"></head><body>p%bche</body></html>' \
            "\\x${page#*-}" >$page.html
    done
    neardup dedup --quiet ./*.html -o kept
    [ "$(tr '\n' ' ' <kept)" = "./1-ea.html ./2-e8.html " ]
    for letter in ea e8 ea; do
        printf 'From: a@b.c\nDate: Thu, 1 Jan 2004 00:00:00 +0000\n'
        printf 'Content-Type: text/plain; charset=utf-8\n\np%bche\n\n' "\\x$letter"
    done >mails
    sed 's/^From:/From a@b.c Thu Jan  1 00:00:00 2004\n&/' mails >mails.mbox
    neardup dedup --quiet mails.mbox -o out.mbox
    [ "$(grep -c '^From ' out.mbox)" -eq 2 ]
}

@test "an empty text field is left out of the text, as an absent one is" {
    {
        echo '{"id":1,"a":"","b":"x"}'
        echo '{"id":2,"b":"x"}'
        echo '{"id":3,"a":"x","b":""}'
        echo '{"id":4,"a":"x","b":null}'
        printf '%s\n' '{"id":5,"a":"x\n"}'
        echo '{"id":6,"a":"","b":""}'
        echo '{"id":7,"a":""}'
    } >empty.jsonl
    neardup dedup --text-field a --text-field b --quiet empty.jsonl -o out.jsonl
    [ "$(ids out.jsonl)" = "1 5 6" ]
}

@test "a paragraph keeps the blanks of its last line" {
    printf '\n \none  \n\none \r\n \none\n\n\n one  \n\none  ' >blanks.txt
    neardup dedup --unit paragraph --quiet blanks.txt -o out.txt
    [ "$(cat -A out.txt | tr -d '\n')" = '$ $one  $$one ^M$ $$one$$$ one  $$' ]
}
