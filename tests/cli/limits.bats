#!/usr/bin/env bats
# limits.bats - input that is made to take too much is a bad record, and little memory or stack no crash

load common

# A message: its header with one line more, and another so many times.
message() { # FILE FIRST AGAIN TIMES
    python3 - "$@" <<'PY'
import sys
name, first, again, times = sys.argv[1:]
unescape = lambda text: text.encode().decode("unicode_escape")
head = "From: a@b.c\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nMessage-ID: <x@y>\n"
open(name, "w").write(head + unescape(first) + unescape(again) * int(times) + "\n\nbody\n")
PY
}

has_sanitizer() {
    grep -qa '__asan_init\|__tsan_init' "$NEARDUP"
}

@test "mail with a million lines, parts or folds is a bad record, within little memory" {
    has_sanitizer && skip "sanitizers need more memory"
    message lines.eml '' 'X: y\n' 1000000
    message parts.eml 'Content-Type: multipart/mixed; boundary=b\n\n' '--b\n\n\n' 1000000
    message folds.eml 'Subject: a\n' ' b\n' 1000000
    for kind in lines parts folds; do
        run bash -c "ulimit -v 400000; '$NEARDUP' sketch -q -j1 $kind.eml"
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"the first: $kind.eml: message has more than "* ]]
    done
}

@test "a message for which there is no memory is a bad record, and the others are read" {
    has_sanitizer && skip "sanitizers need more memory"
    message big.eml '' '\nsome words of a text' 1000000
    message small.eml 'Subject: s' '' 0
    refused=0
    for kilobytes in 60000 100000 140000 180000 220000 260000; do
        run bash -c "ulimit -v $kilobytes; '$NEARDUP' sketch -q -j1 big.eml small.eml -o out"
        [ "$status" -lt 128 ]
        if [[ $output == *"big.eml: message needs more memory than is available"* ]]; then
            refused=$((refused + 1))
            grep -q '"id":"x@y"' out
        fi
        rm -f out
    done
    [ "$refused" -ge 1 ]
    [ -z "$(find . -name '.neardup*')" ]
}

@test "--no-mail: what looks like mail is text, what is named so is refused" {
    message a.eml 'Subject: s' '' 0
    cp a.eml plain
    run "$NEARDUP" sketch -q --no-mail plain
    [ "$status" -eq 0 ]
    [[ $output == *'"id":"plain"'* ]]
    run "$NEARDUP" sketch -q --no-mail a.eml
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"a.eml: is mail, which is not read with --no-mail"* ]]
    neardup dedup -q --no-mail plain -o out --manifest m
    grep -q '"mail":"none"' m
}

@test "an element with 80,000 attributes is a bad record" {
    python3 -c 'print("<div", *("a%d=1" % i for i in range(80000)), ">x")' >a.html
    echo "<p>one two three" >b.html
    run "$NEARDUP" sketch -q a.html b.html
    [[ ${lines[0]} == "neardup: a.html: page has an element with more than 2000 attributes" ]]
    [[ $output == *'"id":"b.html"'* ]]
}

@test "pages with 300,000 links, metas, blocks or tags that end nothing are read within little memory" {
    has_sanitizer && skip "sanitizers need more memory"
    python3 - <<'PY'
n = 300000
pages = {"links": "<a href=x>w</a> " * n, "metas": "<meta name=date content=1>" * n, "blocks": "x<br>" * n,
         "ends": "<div>" * 4000 + "</x>" * n, "attribute": '<p title="' + "x" * 8000000 + '">x', "open": "<p>x" * n}
for name, page in pages.items():
    open(name + ".html", "w").write(page)
PY
    for page in links metas blocks ends attribute open; do
        run bash -c "ulimit -v 400000; '$NEARDUP' sketch -q -j1 --set boilerplate=drop --id-field canonical $page.html -o out"
        [ "$status" -eq 0 ]
    done
}

@test "a small stack is refused, and the least that is not suffices for the deepest input" {
    has_sanitizer && skip "sanitizers need more stack"
    python3 - <<'PY'
head = "Date: Mon, 1 Jan 2024 10:00:00 +0000\nMessage-ID: <x@y>\n"
open("groups.eml", "w").write("From: " + "a:" * 990 + "x@y\n" + head + "\nx\n")
open("nest.eml", "w").write("From: a@b\n" + head + "Content-Type: multipart/mixed; boundary=b0\n\n" + "".join(
    f"--b{i}\nContent-Type: multipart/mixed; boundary=b{i + 1}\n\n" for i in range(4900)) + "--b4900\n\nx\n")
open("messages.eml", "w").write("From: a@b\n" + head + "Content-Type: message/rfc822\n\n" * 19000 + "x\n")
open("deep.jsonl", "w").write('{"text":"a","x":' + "[" * 1000 + "]" * 1000 + "}\n")
open("deep.html", "w").write("<div><b><p>" * 1600 + "x")
PY
    for packer in gzip zstd xz bzip2 lz4; do "$packer" -c deep.jsonl >"deep.$packer"; done
    tar cf deep.tar deep.jsonl deep.html
    # To be loaded, the program needs 15 KiB, of which the kernel takes up to 8 at random, and the environment.
    for kilobytes in 32 64 128 1000; do
        run env -i "$BASH" -c "ulimit -s $kilobytes; exec '$NEARDUP' sketch -q deep.jsonl"
        [ "$status" -eq 2 ]
        [[ $output == "neardup: the stack limit is below 1024 KiB"* ]]
    done
    for file in groups.eml nest.eml messages.eml deep.*; do
        for threads in 1 2; do
            run bash -c "ulimit -s 1024; '$NEARDUP' dedup -q -j$threads $file $file -o out"
            [ "$status" -lt 128 ] || { echo "$file: $status $output"; return 1; }
        done
    done
}
