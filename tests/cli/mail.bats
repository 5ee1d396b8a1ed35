#!/usr/bin/env bats
# mail.bats - mail in files of its own, in mboxes and Maildirs, by all commands that read documents

load common

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    message one@a "$BUY" >spam.eml
    neardup sketch spam.eml 2>&1 | grep -q 'built without GMime' && skip "built without GMime"
    return 0
}

BUY="buy these wonderful pills now and never be tired again in all your long and happy life"
MEET="shall we meet on monday at the usual place and talk about the weather, my dear friend?"

# message ID TEXT: a message in quoted-printable.
message() {
    printf 'Received: by x\nFrom: a@b.example\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n'
    printf 'Message-ID: <%s>\nSubject: =?utf-8?q?caf=C3=A9?=\nMIME-Version: 1.0\n' "$1"
    printf 'Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n'
    printf '\n%s =\nund =FCber\n' "$2"
}

envelope() {
    echo "From a@b.example Mon Jan  1 10:00:00 2024"
}

an_mbox() {
    { envelope && message two@a "$BUY!" && echo &&
        envelope && message three@a "$MEET" && echo &&
        envelope && message four@a "${BUY^^}"; } >all.mbox
}

@test "mail: dedup keeps one message of each, byte for byte, and knows mail by its content" {
    an_mbox
    cp all.mbox copy
    neardup dedup all.mbox -q --manifest m.jsonl >out.mbox
    [ "$(grep -c '^From a@b' out.mbox)" -eq 2 ]
    { envelope && message two@a "$BUY!" && echo && envelope && message three@a "$MEET" && echo; } >expected
    cmp expected out.mbox
    [ "$(rows m.jsonl removed kept)" = '"four@a" "two@a"' ]
    head -n1 m.jsonl | grep -q '"mail_parser":"GMime 3'
    neardup dedup copy -q >out2.mbox
    cmp out.mbox out2.mbox
    run neardup dedup spam.eml copy
    [ "$status" -eq 2 ]
    [[ $output == *"spam.eml is a document, copy holds records: they cannot go to one output"* ]]
}

@test "mail: mboxes behind one another stay parted, whatever their ends" {
    for i in 1 2 3; do { envelope && message "$i@a" "$i $MEET $i$i$i and $i"; } >$i.mbox; done
    truncate -s -1 1.mbox
    neardup dedup -t 0.99 -q 1.mbox 2.mbox 3.mbox >out.mbox
    [ "$(neardup sketch -q out.mbox | wc -l)" -eq 3 ]
}

@test "mail: a message without an envelope gets one behind another message" {
    { envelope && message one@a "$BUY"; } >a.mbox
    { message two@a "$MEET" && echo && envelope && message three@a "$MEET and the rest"; } >b.mbox
    neardup dedup -t 1 -q a.mbox b.mbox -f mbox >out.mbox
    [ "$(neardup sketch -q -f mbox out.mbox | wc -l)" -eq 3 ]
    [ "$(grep -c '^From MAILER-DAEMON Thu Jan  1 00:00:00 1970$' out.mbox)" -eq 1 ]
    neardup dedup -t 1 -q -f mbox b.mbox >out.mbox
    cmp b.mbox out.mbox
}

@test "mail: a Maildir is a folder of messages; tmp/ is passed over" {
    mkdir -p box/cur box/new box/tmp
    message five@a "$BUY" >"box/cur/1700000000.M1.host:2,S"
    message six@a "$BUY or not" >box/new/1700000001.M2.host
    echo "half a" >box/tmp/1700000002.M3.host
    run neardup pairs -q -t 0.5 box
    [ "$status" -eq 0 ]
    [ "$(echo "$output" | cut -f1,2)" = $'five@a\tsix@a' ]
    run neardup dedup -q -t 0.5 box
    [ "$output" = "box/cur/1700000000.M1.host:2,S" ]
    neardup filter -q -t 0.5 -p spam.eml --output-dir caught box
    cmp box/new/1700000001.M2.host caught/box/new/1700000001.M2.host
}

@test "mail: header fields are fields" {
    an_mbox
    sed -i '0,/^From: a@b/s//From: =?utf-8?q?J=C3=B6rg?= <a@b/' all.mbox
    run neardup dedup -q --within from all.mbox
    [ "$(echo "$output" | grep -c '^From a@b')" -eq 3 ]
    run neardup dedup -q --keep newest:date --id-field subject all.mbox --clusters c.tsv
    [ "$(cut -f1 c.tsv | sort -u)" = "café" ]
    run neardup pairs -q --text-field subject -w 1 all.mbox
    [ "${#lines[@]}" -eq 3 ]
}

@test "mail: one message through filter --annotate is itself, with a field more" {
    message seven@a "$BUY my friend" >in
    neardup filter -q -t 0.7 -p spam.eml --annotate <in >out
    [ "$(head -n1 out)" = 'X-Neardup: match; resemblance=0.7272727272727273; shared=16; shingles=20; hamming=10; prototypes=1;' ]
    [ "$(sed -n 2p out)" = $'\tprototype="one@a"' ]
    tail -n +3 out | cmp - in
    message eight@a "$MEET" >in
    run neardup filter -q -p spam.eml --annotate <in
    [ "$status" -eq 1 ]
    [ "$output" = "$(echo 'X-Neardup: none' && cat in)" ]
    run neardup filter -q -p spam.eml --annotate --json <in
    [ "$status" -eq 1 ]
    [ "$output" = '{"id":"eight@a","match":false}' ]
}

@test "mail: lines that end in CR LF, and names that a header cannot hold" {
    { envelope && message $'n\xc3\xb6 "1"' "$BUY"; } >p.mbox
    message nine@a "$BUY" | sed 's/$/\r/' >in
    neardup filter -q -p p.mbox -a <in >out
    head -n1 out | grep -q '; prototypes=1;'$'\r''$'
    [ "$(sed -n 2p out)" = $'\tprototype*=UTF-8\'\'n%C3%B6%20%221%22\r' ]
    tail -n +3 out | cmp - in
    python3 - <<'PY'
import email
m = email.message_from_binary_file(open("out", "rb"))
assert m.get_param("prototype", header="X-Neardup")[2].encode("latin-1").decode() == 'nö "1"' or \
    email.utils.collapse_rfc2231_value(m.get_param("prototype", header="X-Neardup")) == 'nö "1"'
PY
    sed -i "s/^Message-ID: .*/Message-ID: <$(printf 'x%.0s' {1..700})\"1\">/" p.mbox
    neardup filter -q -p p.mbox -a <in >out
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n < 998 }' out)" -eq 1 ]
    python3 - <<'PY'
import email, email.utils
m = email.message_from_binary_file(open("out", "rb"))
value = email.utils.collapse_rfc2231_value(m.get_param("prototype", header="X-Neardup"))
assert value == "x" * 700 + '"1"', value
PY
}

@test "mail: an mbox and a Maildir are annotated, each in its form" {
    an_mbox
    neardup filter -q -p spam.eml -a all.mbox -o out.mbox
    [ "$(grep -c '^X-Neardup: match' out.mbox)" -eq 2 ]
    [ "$(grep -c '^X-Neardup: none' out.mbox)" -eq 1 ]
    [ "$(sed -n '1p' out.mbox)" = "$(envelope)" ]
    sed '/^X-Neardup:.*;$/,+1d; /^X-Neardup: none/d' out.mbox | cmp - all.mbox
    mkdir -p box/cur
    message a@a "$BUY" >box/cur/1.a.h
    message b@a "$MEET" >box/cur/2.a.h
    run neardup filter -q -p spam.eml -a box
    [ "$status" -eq 2 ]
    [[ $output == *"box/cur/1.a.h and box/cur/2.a.h are separate documents: they cannot go to one output; use --output-dir"* ]]
    neardup filter -q -p spam.eml -a --output-dir marked box
    tail -n +3 marked/box/cur/1.a.h | cmp - box/cur/1.a.h
    tail -n +2 marked/box/cur/2.a.h | cmp - box/cur/2.a.h
}

@test "mail: what is annotated is all mail or none, and goes where it can" {
    echo '{"text":"no mail"}' >no.jsonl
    message ten@a "$BUY" >in.eml
    run neardup filter -q -p spam.eml -a in.eml no.jsonl -o out
    [ "$status" -eq 2 ]
    [[ $output == *"only one of in.eml and no.jsonl is mail"*"--json writes rows for both"* ]]
    [ ! -e out ]
    neardup filter -q -p spam.eml -a --json in.eml no.jsonl -o out
    [ "$(wc -l <out)" -eq 2 ]
    run neardup filter -q -p spam.eml -a --output-dir d no.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"rows of JSON go to one output, not to --output-dir"* ]]
    run neardup filter -p spam.eml --json in.eml
    [ "$status" -eq 2 ]
    run neardup filter -p spam.eml -c --output-dir d in.eml
    [ "$status" -eq 2 ]
}

@test "mail: of no message nothing is written, and nothing is wrong" {
    mkdir -p empty/cur
    run neardup filter -q -p spam.eml -a --output-dir marked empty
    [ "$status" -eq 1 ]
    run neardup filter -q -p spam.eml -a empty -o out
    [ "$status" -eq 1 ]
    [ -e out ]
    [ ! -s out ]
}

@test "mail: no message is lost on its way through --annotate" {
    python3 -c 'print("Subject: deep\n" + "Content-Type: message/rfc822\n\n" * 200 + "x")' >deep
    run neardup filter -q -f mail -p spam.eml -a deep
    [ "$status" -eq 1 ]
    [[ $output == *"deep: message has parts nested deeper than 100"* ]]
    neardup filter -q -f mail -p spam.eml -a deep -o out 2>/dev/null || [ $? -eq 1 ]
    [ "$(head -n1 out)" = 'X-Neardup: unread; reason="message has parts nested deeper than 100"' ]
    tail -n +2 out | cmp - deep
    printf 'no header here\n\nat all\n' >none
    run neardup filter -q -f mail -p spam.eml -a none -o out
    [ "$status" -eq 1 ]
    [[ $output == *"none: message has no header: its first line is not a header field"* ]]
    cmp none out
}

@test "mail: broken messages are read as far as they go, or named" {
    printf 'From: a\nDate: b\nMessage-ID: <x>\nContent-Type: multipart/mixed; boundary=lost\n\n--b\n\n%s\n' "$BUY" >lost.eml
    printf 'Content-Type: text/plain\n\n%s' "$BUY" >short.eml
    printf 'nothing of a header\n' >none.eml
    : >empty.eml
    run neardup pairs lost.eml short.eml spam.eml none.eml empty.eml -t 0.7 --max-bad 1/2
    [ "$status" -eq 0 ]
    [ "$(echo "$output" | grep -c '^[^ ]*'$'\t''[^ ]*'$'\t')" -eq 3 ]
    [[ $output == *"none.eml: message has no header: its first line is not a header field"* ]]
    [[ $output == *"empty.eml: message has no header"* ]]
}

@test "mail: GMime is opened for mail, and for nothing else" {
    echo '{"text":"no mail"}' >no.jsonl
    LD_DEBUG=files neardup dedup -q no.jsonl --manifest m.jsonl -o out 2>log
    grep -q libc log
    run grep gmime log
    [ "$status" -eq 1 ]
    head -n1 m.jsonl | grep -q '"mail_parser":"none"'
    LD_DEBUG=files neardup sketch -q spam.eml 2>&1 >out | grep -q gmime
}

@test "mail: where GMime is not installed, mail is named as what cannot be read, and all else is read" {
    mkdir absent
    : >absent/libgmime-3.0.so.0
    an_mbox
    echo '{"id":"a","text":"no mail"}' >no.jsonl
    LD_LIBRARY_PATH=absent run neardup sketch no.jsonl spam.eml all.mbox -o out
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: spam.eml: mail cannot be read without GMime (Debian: libgmime-3.0-0, Fedora: gmime30): "* ]]
    [[ ${lines[1]} == "neardup: all.mbox: mail cannot be read without GMime (Debian: libgmime-3.0-0, Fedora: gmime30): "* ]]
    [ "${#lines[@]}" -eq 3 ]
    [ "$(wc -l <out)" -eq 1 ]
    LD_LIBRARY_PATH=absent neardup dedup -q no.jsonl --manifest m.jsonl -o out
    cmp no.jsonl out
    message a@a "$BUY" >in
    LD_LIBRARY_PATH=absent run neardup filter -q -p spam.eml -a in
    [ "$status" -eq 2 ]
}

@test "mail: a GMime that lacks a function is none" {
    mkdir other
    cc -shared -o other/libgmime-3.0.so.0 -x c /dev/null
    LD_LIBRARY_PATH=other run neardup sketch spam.eml
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: spam.eml: mail cannot be read without GMime (Debian: libgmime-3.0-0, Fedora: gmime30): "*"undefined symbol: g"* ]]
}
