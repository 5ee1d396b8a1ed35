#!/usr/bin/env bats
# terminal.bats - what reaches a terminal, and what lists of paths and TSV hold

load common

evil_ids() {
    python3 - <<'PY' >evil.jsonl
import json
text = "one two three four five six seven eight nine ten"
for i, bad in enumerate(["\x1b]0;title\x07", "\x9b31m", "\u202egpj", "\x00", "\x7f", "\u2066x"]):
    print(json.dumps({"id": f"a{bad}{i}", "text": text}, ensure_ascii=False).replace("\x7f", "\\u007f"))
PY
}

# No byte that steers: ESC, BEL, NUL, DEL, C1, marks of direction.
is_clean() {
    python3 -c 'import re,sys
text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
bad = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\udc80-\udc9f]", text)
sys.exit(f"{bad} in {text!r}" if bad else 0)'
}

@test "ids, paths and texts reach a terminal with what could steer it escaped" {
    evil_ids
    mkdir folder
    printf 'one two three' >"folder/a"$'\e]0;x\a'"b"
    printf 'one two four' >"folder/c"$'\xe2\x80\xae'"d"$'\xc2\x9b'
    for command in "pairs -q evil.jsonl" "dedup -q folder" "dedup -q evil.jsonl" "template -q evil.jsonl" \
        "sketch -q folder" "dedup -q evil.jsonl --clusters - -o /dev/null" "filter -q -p evil.jsonl evil.jsonl" \
        "explain --corpus evil.jsonl evil.jsonl:1 evil.jsonl:2" "track -q evil.jsonl" "collapse -q evil.jsonl"; do
        # shellcheck disable=SC2086
        NO_COLOR=1 on_terminal $command >seen || true
        [ -s seen ]
        is_clean <seen || { echo "$command"; cat -v seen; return 1; }
    done
    on_terminal pairs -q evil.jsonl >seen
    grep -qF 'a\x1B]0;title\x070' seen
}

@test "in a file TSV has them escaped, and other outputs have them as they are" {
    evil_ids
    neardup pairs -q evil.jsonl -o pairs.tsv
    is_clean <pairs.tsv
    grep -qF 'a\x1B]0;title\x070' pairs.tsv
    neardup dedup -q evil.jsonl -o - --clusters clusters.tsv >kept.jsonl
    is_clean <clusters.tsv
    head -n 1 evil.jsonl | cmp - kept.jsonl
}

@test "messages have the marks of direction taken out" {
    run "$NEARDUP" dedup "none"$'\xe2\x80\xae'"x" "none"$'\xd8\x9c'"y" "none"$'\x9b'"z"
    [ "$status" -eq 2 ]
    is_clean <<<"$output"
}

@test "an archive is not written to a terminal" {
    echo "one two three" >a.txt
    tar cf a.tar a.txt
    run on_terminal dedup -q a.tar
    [ "$status" -eq 2 ]
    [[ $output == *"is not written to a terminal: use -o"* ]]
    neardup dedup -q a.tar | tar t
}

@test "lists of paths: -0, and a path with a line end in one line" {
    mkdir d
    echo "one two three" >d/$'a\nb\\'
    echo "four five six" >d/'c\d'
    run "$NEARDUP" dedup -q d
    [ "$status" -eq 0 ]
    [ "$output" = 'd/a\nb\\
d/c\d' ]
    neardup dedup -q -0 d >list
    printf 'd/a\nb\\\0d/c\\d\0' | cmp - list
    neardup dedup -q --null d -o list2
    cmp list list2
}

@test "--glob and --exclude hold in folders and for the entries of archives" {
    mkdir -p t/sub
    echo "one two" >t/a.txt
    echo "three four" >t/sub/b.txt
    echo "five six" >t/c.md
    (cd t && tar cf ../t.tar .)
    run "$NEARDUP" dedup -q t --exclude '*.md'
    [ "$output" = $'t/a.txt\nt/sub/b.txt' ]
    run "$NEARDUP" dedup -q t --glob '*.txt' --exclude 'sub/*'
    [ "$output" = "t/a.txt" ]
    neardup dedup -q t.tar --glob '*.txt' --exclude 'sub/*' -o out.tar
    [ "$(tar tf out.tar | grep -v '/$')" = "./a.txt" ]
    mkdir with
    cp t.tar with
    neardup dedup -q with --glob '*.tar' --exclude '*.md' -o out.tar
    [ "$(tar tf out.tar | grep -vc '/$')" -eq 2 ]
    run "$NEARDUP" dedup t --exclude '*.md' -o /dev/null
    [[ $output == *"neardup: left out 1 file: 1 matches no pattern that was given"* ]]
    neardup dedup -q t --exclude '*.md' --manifest m -o /dev/null
    grep -q '"excludes":\["\*.md"\]' m
}

@test "warnings and failed inputs are capped as bad records are" {
    mkdir many
    for i in $(seq 30); do printf '\xff\xfea\0%s\0' x >"many/$i.txt"; done
    run "$NEARDUP" dedup -q many -o /dev/null
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 21 ]
    [[ ${lines[20]} == "neardup: 30 warnings in all; only the first 20 are shown above" ]]
    run "$NEARDUP" sketch -q $(seq -f none%g 25) many/1.txt
    [ "$(grep -c 'cannot be opened' <<<"$output")" -eq 20 ]
    [[ $output == *"25 messages about inputs that failed in all; only the first 20 are shown above"* ]]
}
