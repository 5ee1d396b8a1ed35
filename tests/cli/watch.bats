#!/usr/bin/env bats
# watch.bats - neardup client watch: folders, a file that grows, a pipe; with a service that is away at times

# shellcheck disable=SC2154,SC2030,SC2031 # url, line and pid are those of service.bash; each test has its own
bats_require_minimum_version 1.5.0
load common
load service

teardown() {
    [ -z "${watch:-}" ] || kill -KILL "$watch" || true
    [ -z "${pid:-}" ] || kill "$pid" || true
}

fake() { # MISHAP…
    needs_server_program
    rm -f log
    start python3 "$BATS_TEST_DIRNAME/fake_service.py" log "$@"
}

watch() { # ARGUMENT…: in the background, with its answers in `out` and its messages in `err`
    "$NEARDUP" client watch --url "$url" "$@" >>out 2>err 3>&- &
    watch=$!
}

# Wait until a command succeeds.
until_it() { # COMMAND…
    for _ in $(seq 600); do
        if "$@"; then return 0; fi
        sleep .05
    done
    echo "never: $*"
    cat out err
    return 1
}

answered() { # N: so many lines were written
    [ "$(wc -l <out)" -ge "$1" ]
}

end_watch() { # SIGNAL STATUS
    local status=0
    kill "-$1" "$watch"
    wait "$watch" || status=$?
    watch=
    cat err
    [ "$status" -eq "$2" ]
}

# "place id" of each answer, sorted.
places() {
    python3 -c 'import json
print(*sorted("%s %s" % (row["at"], row.get("id")) for row in map(json.loads, open("out"))), sep="\n")'
}

posted() { # the ids that were posted, in order
    python3 -c 'import json
print(*[d["id"] for line in open("log") for d in json.loads(line)["documents"]])'
}

@test "client watch: what is there, what is new and what has changed, each once" {
    fake
    mkdir -p in/deep
    echo "a text" >in/a.txt
    printf '%s\n' '{"id":"r1","text":"one"}' '{"id":"r2","text":"two"}' >in/deep/r.jsonl
    printf '%%PDF-1.4\n\0' >in/no_text.pdf
    watch --settle 1s --state state in
    until_it answered 3
    [ "$(places)" = "in/a.txt in/a.txt
in/deep/r.jsonl:1 r1
in/deep/r.jsonl:2 r2" ]
    mkdir in/new
    echo "another text" >in/new/b.txt
    until_it answered 4
    echo "a text that is longer" >in/a.txt
    until_it answered 5
    [ "$(posted)" = "in/a.txt r1 r2 in/new/b.txt in/a.txt" ]
    end_watch INT 0
    grep -q '^neardup: 5 documents in ' err
}

@test "client watch: a restart posts nothing twice, and what changed meanwhile" {
    fake
    mkdir in
    for i in 1 2 3 4; do echo "text $i" >"in/$i.txt"; done
    printf 'a name with \\ and a line end' >in/"$(printf 'x\\y\nz').txt"
    watch --settle 1s --state state in
    until_it answered 5
    end_watch TERM 0
    touch -d '2001-02-03' in/1.txt
    echo "text 2, changed" >in/2.txt
    echo "text 5" >in/5.txt
    rm in/4.txt
    watch --settle 1s --state state in
    until_it answered 7
    end_watch TERM 0
    [ "$(posted | tr ' ' '\n' | tail -2 | paste -sd ' ')" = "in/2.txt in/5.txt" ]
    grep -q '^gone	in/4.txt$' state
    # a watch that was killed leaves half a line at most
    printf 'document\t12' >>state
    watch --settle 1s --state state in
    echo "text 6" >in/6.txt
    until_it answered 8
    end_watch TERM 0
    [ "$(posted | tr ' ' '\n' | tail -1)" = in/6.txt ]
    [ "$(wc -l <out)" -eq 8 ]
}

@test "client watch: a second signal ends one whose service does not answer" {
    needs_server_program
    python3 -c 'import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print("http://127.0.0.1:%d" % s.getsockname()[1], flush=True)
kept = [s.accept()]
print("asked", flush=True)
time.sleep(600)' >mute 3>&- &
    pid=$!
    until_it test -s mute
    url=$(head -1 mute)
    mkdir in
    echo text >in/a.txt
    watch --settle 1s in
    until_it grep -q asked mute
    kill -TERM "$watch"
    kill -TERM "$watch"
    sleep .5
    kill -0 "$watch"
    for _ in $(seq 100); do
        kill -TERM "$watch" || break
        sleep .3
    done
    status=0
    wait "$watch" || status=$?
    watch=
    [ "$status" -eq 143 ]
}

@test "client watch: a file that is being written is waited for" {
    fake
    mkdir in
    watch --settle 1s in
    exec 4>in/slow.txt
    for _ in $(seq 12); do
        echo "a line" >&4
        sleep .2
    done
    sleep 1.5
    [ ! -s out ]
    exec 4>&-
    until_it answered 1
    [ "$(python3 -c 'import json
print(json.loads(open("log").readline())["documents"][0]["text"].count("a line"))')" -eq 12 ]
    end_watch TERM 0
}

@test "client watch --delete: the document of a text that is gone, and no other" {
    fake
    mkdir in
    echo "a text" >in/a.txt
    echo "another" >in/b.txt
    echo '{"id":"r1","text":"one"}' >in/r.jsonl
    watch --settle 1s --state state --delete --security x in
    until_it answered 3
    rm in/a.txt in/r.jsonl
    until_it answered 4
    end_watch TERM 0
    echo "text c" >in/c.txt
    mv in/b.txt away
    watch --settle 1s --state state --delete --security x in
    until_it answered 6
    end_watch TERM 0
    [ "$(grep '"DELETE"' log | grep -o '"target": "[^"]*"' | sort)" = '"target": "/v1/documents/in%2Fa.txt?security=x"
"target": "/v1/documents/in%2Fb.txt?security=x"' ]
    # A folder that is empty at once may be one that is no longer mounted.
    echo "text d" >in/d.txt
    watch --settle 1s --state state --delete in
    until_it answered 7
    rm in/*
    until_it grep -q "no document is deleted" err
    sleep 1.5
    end_watch TERM 0
    [ "$(grep -c '"DELETE"' log)" -eq 2 ]
}

@test "client watch: a file that grows is followed, through its replacement" {
    fake
    printf '%s\n' '{"id":"f1","text":"one"}' '' '{"id":"f2","text":"two"}' >feed
    watch --state state feed
    until_it answered 2
    printf '{"id":"f3","text":' >>feed
    sleep .5
    [ "$(wc -l <out)" -eq 2 ]
    echo '"three"}' >>feed
    until_it answered 3
    printf '{"id":"f4","text":"four"}' >>feed
    mv feed feed.1
    echo '{"id":"g1","text":"five"}' >feed
    until_it answered 5
    [ "$(posted)" = "f1 f2 f3 f4 g1" ]
    [ "$(places | paste -sd ,)" = "feed:1 f1,feed:1 g1,feed:3 f2,feed:4 f3,feed:5 f4" ]
    end_watch TERM 0
    echo '{"id":"g2","text":"six"}' >>feed
    watch --state state feed
    until_it answered 6
    printf '{"id":"h1","text":"s"}\n' >feed
    until_it answered 7
    grep -q "has become shorter" err
    end_watch TERM 0
    printf '{"id":"another file","text":"%s"}\n' "$(seq 30 | paste -sd ' ')" >feed
    watch --state state feed
    until_it answered 8
    grep -q "another file than the one that was read before" err
    end_watch INT 0
    [ "$(posted)" = "f1 f2 f3 f4 g1 g2 h1 another file" ]
}

@test "client watch: a file that is not there yet is waited for" {
    fake
    watch feed
    sleep .5
    echo '{"id":"f1","text":"one"}' >feed
    until_it answered 1
    end_watch TERM 0
}

@test "client watch -: a pipe, a record as it comes, to its end" {
    fake
    mkfifo pipe
    "$NEARDUP" client watch --url "$url" - <pipe >>out 2>err &
    watch=$!
    exec 4>pipe
    echo '{"id":"p1","text":"one"}' >&4
    until_it answered 1
    echo '{"id":"p2"}' >&4
    printf '{"id":"p3","text":"three"}' >&4
    exec 4>&-
    status=0
    wait "$watch" || status=$?
    watch=
    [ "$status" -eq 3 ]
    [ "$(posted)" = "p1 p3" ]
    grep -q "standard input:2" err
}

@test "client watch: a service that is away is waited for, and nothing is lost" {
    needs_server_program
    url=http://127.0.0.1:$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
    mkdir in
    echo "text 1" >in/1.txt
    watch --settle 1s --state state in
    until_it grep -q "trying again" err
    end_watch INT 0
    [ ! -s out ]
    start "$NEARDUP" serve --listen "${url#http://}" store
    watch --settle 1s --state state in
    until_it answered 1
    kill "$pid"
    wait "$pid" || true
    echo "text 2" >in/2.txt
    until_it grep -q "trying again" err
    echo "text 3" >in/3.txt
    start "$NEARDUP" serve --listen "${url#http://}" store
    until_it answered 3
    end_watch TERM 0
    [ "$(places | cut -d ' ' -f 1 | paste -sd ' ')" = "in/1.txt in/2.txt in/3.txt" ]
}

@test "client watch: documents that are refused are named, and not sent again" {
    fake refuse
    mkdir in
    printf '%s\n' '{"id":"r1","text":"one"}' '{"id":"r2","text":"two"}' >in/r.jsonl
    watch --settle 1s --state state in
    until_it grep -q 'in/r.jsonl:2' err
    until_it answered 2
    end_watch TERM 3
    watch --settle 1s --state state in
    echo "text" >in/t.txt
    until_it answered 3
    end_watch TERM 0
    [ "$(posted)" = "r1 r2 in/t.txt" ]
}

@test "client watch: a state is of one watch, of one service, and a state" {
    fake
    mkdir in
    echo text >in/a.txt
    watch --settle 1s --state state in
    until_it answered 1
    run -2 neardup client watch --url "$url" --state state in
    [ "$output" = "neardup: state: another watch keeps its state there" ]
    end_watch TERM 0
    run -2 neardup client watch --url http://127.0.0.1:1 --state state in
    [ "$output" = "neardup: state: says what was posted to $url, not to http://127.0.0.1:1" ]
    echo nonsense >>state
    run -2 neardup client watch --url "$url" --state state in
    [ "$output" = "neardup: state:3: is no line of a file of --state" ]
    run -2 neardup client watch --url "$url" --state in/a.txt in
    [ "$output" = "neardup: in/a.txt: is no file of --state" ]
}

@test "client watch: what does not go together" {
    needs_server_program
    mkdir in
    while IFS='|' read -r arguments message; do
        # shellcheck disable=SC2086 # the arguments
        run -2 neardup client watch $arguments
        [[ ${lines[0]} == "neardup: $message"* ]]
    done <<'END'
|client watch takes folders that exist and feeds, or one file or - with JSON Lines
in -|client watch takes folders that exist
feed --delete|--delete, --settle and --every are for folders
- --state s|--state is for folders, files and feeds
feed --format csv|a file that is watched has JSON Lines
in --settle 1y|--settle: '1y' is not a time such as 90s
END
}

# A web archive of one plain text.
page() { # ADDRESS
    printf 'WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: %s\r\n' "$1"
    printf 'Content-Type: text/plain\r\nContent-Length: 14\r\n\r\nsome few words\r\n\r\n'
}

@test "client watch: pages of web archives in a folder, by their addresses" {
    fake
    mkdir crawl
    { page http://a.org/ && page http://b.org/; } | gzip >crawl/one.warc.gz
    watch crawl --settle 1s --state state
    until_it answered 2
    page http://c.org/ >two
    mv two crawl/two.warc
    until_it answered 3
    end_watch TERM 0
    [ "$(posted)" = "http://a.org/ http://b.org/ http://c.org/" ]
}

# rss "ID TEXT"…: a feed with these items
rss() {
    printf '<rss version="2.0"><channel><title>t</title>\n'
    for item in "$@"; do
        printf '<item><guid>%s</guid><description>%s</description></item>\n' "${item%% *}" "${item#* }"
    done
    printf '</channel></rss>\n'
}

@test "client watch: of a feed that is written anew each item is posted once, and again if it changes" {
    fake
    rss "a one" "b two" >news.xml
    watch --settle 1s --every 1s --state state news.xml
    until_it answered 2
    [ "$(places)" = "news.xml:2 a
news.xml:3 b" ]
    rss "c three" "a one" "b two, changed" >new
    mv new news.xml
    until_it answered 4
    end_watch TERM 0
    [ "$(posted)" = "a b c b" ]
    rss "d four" "c three" "a one" >news.xml
    watch --settle 1s --every 1s --state state news.xml
    until_it answered 5
    sleep 2
    end_watch TERM 0
    [ "$(posted)" = "a b c b d" ]
    grep -q '^gone	news.xml	b$' state
    [ "$(grep -c '^item	' state)" -eq 5 ]
}

@test "client watch: feeds among the files of a folder, of JSON too" {
    fake
    mkdir in
    echo text >in/a.txt
    rss "a one" >in/a.rss
    printf '{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"j1","content_text":"x"}]}' >in/b.json
    watch --settle 1s --state state in
    until_it answered 3
    printf '{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"j2","content_text":"y"},{"id":"j1","content_text":"x"}]}' >in/b.json
    rss "a one" "b two" >in/a.rss
    until_it answered 5
    end_watch TERM 0
    [ "$(posted | tr ' ' '\n' | sort | paste -sd ' ')" = "a b in/a.txt j1 j2" ]
}

@test "client watch: a feed in a pipe, again and again" {
    fake
    {
        rss "a one" "b two" | neardup client watch --url "$url" -q --format feed --state state -
        rss "c three" "b two" | neardup client watch --url "$url" -q --format feed --state state -
        rss "a one" "c three, changed" | neardup client watch --url "$url" -q --format feed --state state -
    } >out
    [ "$(posted)" = "a b c c" ]
    [ "$(wc -l <out)" -eq 4 ]
    run -2 neardup client watch --url "$url" --format feed --settle 3s -
    [[ $output == *"--delete, --settle and --every are for folders and files of feeds"* ]]
}
