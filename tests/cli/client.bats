#!/usr/bin/env bats
# client.bats - neardup client, with a service that fails as it is told

# shellcheck disable=SC2154 # url, line and pid are those of service.bash
load common
load service

teardown() {
    [ -z "${pid:-}" ] || kill "$pid" || true
}

fake() { # MISHAP…
    needs_server_program
    rm -f log
    start python3 "$BATS_TEST_DIRNAME/fake_service.py" log "$@"
}

client() { # PART ARGUMENT…
    local part=$1
    shift
    neardup client "$part" --url "$url" "$@"
}

documents() { # N: texts that differ
    for i in $(seq "$1"); do echo "{\"id\":\"d$i\",\"text\":\"text number $i\"}"; done
}

# A value of each answer, in one line.
values() { # FILE KEY
    python3 -c 'import json,sys
print(*[json.loads(line).get(sys.argv[2]) for line in open(sys.argv[1])])' "$@"
}

logged() { # EXPRESSION of row: of each request, a line
    python3 -c 'import json,sys
for line in open("log"):
    row = json.loads(line)
    print(eval(sys.argv[1]))' "$1"
}

@test "client post: an answer for each document, in their order, with its place" {
    fake
    documents 25 >docs.jsonl
    echo '{"text":"text number 3"}' >>docs.jsonl
    run client post docs.jsonl --batch 4 -o answers
    [ "$status" -eq 0 ]
    [[ $output =~ ^"neardup: 26 documents in "[0-9.]+" s: 25 new, 1 duplicates, 0 near duplicates"$ ]]
    [ "$(values answers at)" = "$(for i in $(seq 26); do echo "docs.jsonl:$i"; done | paste -sd ' ')" ]
    [ "$(values answers id)" = "$(for i in $(seq 25); do echo "d$i"; done | paste -sd ' ') 0123" ]
    [ "$(values answers line | tr -d ' ')" = "$(printf 'None%.0s' $(seq 26))" ]
    [ "$(logged 'len(row["documents"])' | sort | uniq -c | tr -s ' ' | paste -sd ,)" = " 1 2, 6 4" ]
    [ "$(logged 'row["target"], row["type"], row["key"]' | sort -u)" = "('/v1/documents', 'application/x-ndjson', None)" ]
    client post -q -n --security a,b docs.jsonl >answers 2>messages
    [ ! -s messages ]
    [ "$(logged 'row["target"], row["documents"][0].get("security")' | tail -1)" = "('/v1/documents?dry=1', ['a', 'b'])" ]
    client post -q --security '' docs.jsonl >answers
    [ "$(logged 'row["documents"][0].get("security")' | tail -1)" = "[]" ]
    echo '{"text":"a","security":["x","y\""]}' >labelled.jsonl
    client post -q labelled.jsonl >answers
    [ "$(logged 'row["documents"][0].get("security")' | tail -1)" = "['x', 'y\"']" ]
    client post -q --security a labelled.jsonl >answers
    [ "$(logged 'row["documents"][0].get("security")' | tail -1)" = "['a']" ]
    echo '{"text":"a","security":"x,\"y"}' >labelled.jsonl
    client post -q labelled.jsonl >answers
    [ "$(logged 'row["documents"][0].get("security")' | tail -1)" = "['x,\"y']" ]
    printf 'text,security\nsome words,secret\n' >table.csv
    client post -q table.csv >answers
    [ "$(logged 'row["documents"][0].get("security")' | tail -1)" = "['secret']" ]
    head -3 docs.jsonl | client post -q - >answers
    [ "$(values answers at)" = "standard input:1 standard input:2 standard input:3" ]
}

@test "client post: labels without security are left out, for they may be topics" {
    fake
    printf '%s\n' '{"text":"a","labels":["x"]}' '{"text":"b"}' >labels.jsonl
    run client post labels.jsonl -o answers
    [ "$status" -eq 3 ]
    [[ $output == *"labels.jsonl:1: the record has labels and no security: who may see a document is said by the field security; if labels are something else, --security '' says that everybody may see it"* ]]
    [ "$(logged '[d["text"] for d in row["documents"]]')" = "['b']" ]
    printf 'text,labels\nsome words,secret\n' >table.csv
    run client post table.csv -o answers
    [ "$status" -eq 3 ]
    [ "$(logged 'row["documents"]' | wc -l)" -eq 1 ]
    client post -q --security '' labels.jsonl >answers
    [ "$(logged '[(d["text"], d.get("security"), d.get("labels")) for d in row["documents"]]' | tail -1)" = "[('a', [], None), ('b', [], None)]" ]
    echo '{"text":"a","labels":["x"],"security":[]}' >labels.jsonl
    client post -q labels.jsonl >answers
    [ "$(logged 'row["documents"][0].get("security")' | tail -1)" = "[]" ]
    client query -q labels.jsonl >answers || [ $? -eq 1 ]
    [ "$(logged 'row["documents"]' | tail -1)" = "[{'text': 'a'}]" ]
}

@test "client query: options say how many of the nearest, how recent and how near ones, and with what" {
    fake
    echo '{"text":"a"}' >docs.jsonl
    client query -q --limit 7 --max-age 2h docs.jsonl >answers || [ $? -eq 1 ]
    [ "$(logged 'row["target"]')" = "/v1/query?limit=7&max_age=7200" ]
    client post -q -n --max-age 90d docs.jsonl >answers
    [ "$(logged 'row["target"]' | tail -1)" = "/v1/documents?dry=1&max_age=7776000" ]
    client query -q --differs --at 0.5 docs.jsonl >answers || [ $? -eq 1 ]
    [ "$(logged 'row["target"]' | tail -1)" = "/v1/query?differs=1&at=1%2F2" ]
    run -2 client query --at 1.5 docs.jsonl
    run client get --max-age 1d a
    [ "$status" -eq 2 ]
    run client get --differs a
    [ "$status" -eq 2 ]
}

@test "client post: files have their names as ids, in folders and archives too; an empty input is no document" {
    fake
    mkdir -p d/in
    echo "a text" >d/one.txt
    echo "<html><title>A title</title><body><p>a page</p></body></html>" >d/in/two.html
    tar cf three.tar -C d one.txt
    client post -q d three.tar >answers
    [ "$(logged '[(d["id"], d.get("text", "").strip(), d.get("html", "").strip()) for d in row["documents"]]')" = \
        "[('d/in/two.html', '', '<html><title>A title</title><body><p>a page</p></body></html>'), ('d/one.txt', 'a text', ''), ('three.tar!one.txt', 'a text', '')]" ]
    [ "$(logged '[d.get("title") for d in row["documents"]]')" = "['A title', None, None]" ]
    [ "$(values answers verdict)" = "new new duplicate" ]
    printf '%s\n' d three.tar >list
    client post -q --files-from list >listed
    [ "$(values listed at)" = "$(values answers at)" ]
    run neardup client --files-from list
    [ "$status" -eq 2 ]
    : >empty.jsonl
    run client post empty.jsonl
    [ "$status" -eq 0 ]
    [[ $output == *"neardup: 0 documents in "* ]]
}

@test "client post: what is refused or unreadable is left out, and named" {
    fake refuse
    documents 4 >docs.jsonl
    echo '{broken' >>docs.jsonl
    run client post -q docs.jsonl -o answers
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 4 ]
    [[ ${lines[0]} == "neardup: docs.jsonl:5: "* ]]
    [ "${lines[1]}" = "neardup: docs.jsonl:2: not this? one" ]
    [ "${lines[2]}" = "neardup: docs.jsonl:4: not this? one" ]
    [ "${lines[3]}" = "neardup: done, but 3 bad records were left out" ]
    [ "$(values answers verdict)" = "new None new None" ]
    run client post -q --strict docs.jsonl -o strict
    [ "$status" -eq 2 ]
    [ ! -e strict ]
    stop
    fake large
    run client post -q --batch 1 --connections 1 docs.jsonl -o answers
    [ "$status" -eq 3 ]
    [ "${lines[0]}" = "neardup: docs.jsonl:1: too large: it is large (413)" ]
    [ "$(values answers id)" = "d2 d3 d4" ]
}

@test "slow: client post: repeated while the service is busy, gone or breaks off; each document once" {
    for mishaps in "busy" "ok gone" "lines lines busy lines" "ok drop" "ok cut cut drop gone"; do
        # shellcheck disable=SC2086 # words
        fake $mishaps
        documents 9 >docs.jsonl
        run client post --batch 3 --connections 1 docs.jsonl -o answers
        [ "$status" -eq 0 ] || { echo "$mishaps: $output"; return 1; }
        [[ ${#lines[@]} -eq 1 || $output == *"; trying again"* ]]
        [ "$(values answers id)" = "d1 d2 d3 d4 d5 d6 d7 d8 d9" ]
        client post -q docs.jsonl -o answers
        [ "$(values answers verdict | tr ' ' '\n' | sort -u)" = duplicate ]
        stop
    done
}

@test "client post: it gives up after --retry-for, and at once where nothing was ever there" {
    fake ok busy busy busy busy
    documents 9 >docs.jsonl
    run client post --batch 3 --connections 1 --retry-for 1 docs.jsonl -o answers
    [ "$status" -eq 2 ]
    [[ $output == *"neardup: $url: it is busy (429)"* ]]
    [[ $output == *"neardup: stopped after 3 documents" ]]
    [ ! -e answers ]
    stop
    run client post docs.jsonl -o answers
    [ "$status" -eq 2 ]
    [[ $output == "neardup: $url: "*onnect* ]]
    run client stats
    [ "$status" -eq 2 ]
}

@test "client post: an answer that is none of neardup's is an error" {
    documents 4 >docs.jsonl
    for mishap in junk few; do
        fake $mishap
        run client post -q docs.jsonl -o answers
        [ "$status" -eq 2 ]
        [[ $output == *"the answer "* ]]
        [ ! -e answers ]
        stop
    done
}

@test "client post --resume: it goes on where it ended" {
    fake ok ok full
    documents 9 >docs.jsonl
    run client post -q --batch 2 --connections 1 --resume journal docs.jsonl
    [ "$status" -eq 2 ]
    [ "$(cat journal)" = "$(printf '4\tdocs.jsonl:4')" ]
    client post -q --batch 2 --connections 1 --resume journal docs.jsonl >answers
    [ "$(values answers id)" = "d5 d6 d7 d8 d9" ]
    [ ! -e journal ]
    [ "$(values answers verdict | tr ' ' '\n' | sort -u)" = new ]
    printf '4\tdocs.jsonl:7\n' >journal
    run client post -q --resume journal docs.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: journal: ends at docs.jsonl:7, where the input has docs.jsonl:4: it has changed" ]
    echo hello >journal
    run client post -q --resume journal docs.jsonl
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: journal: is no file of --resume" ]
    run client post -q --resume journal docs.jsonl -o answers
    [ "$status" -eq 2 ]
}

@test "client query: status 1 if nothing is a duplicate; nothing is stored" {
    fake
    documents 3 >docs.jsonl
    run client query -q docs.jsonl
    [ "$status" -eq 1 ]
    [ "$(logged 'row["target"], row["documents"][0]')" = "('/v1/query', {'text': 'text number 1'})" ]
    client post -q docs.jsonl >/dev/null
    client query -q docs.jsonl >answers
    [ "$(values answers verdict)" = "duplicate duplicate duplicate" ]
}

@test "client get, delete, near, cluster, versions, stats: one request for each id" {
    fake
    run client get "http://a.org/x?y=1&z=ä b"
    [ "$output" = '{"target":"/v1/documents/http%3A%2F%2Fa.org%2Fx%3Fy%3D1%26z%3D%C3%A4%20b","key":null}' ]
    [ "$(client near --limit 7 --security x,y a b)" = '{"target":"/v1/documents/a/near?security=x%2Cy&limit=7","key":null}
{"target":"/v1/documents/b/near?security=x%2Cy&limit=7","key":null}' ]
    [ "$(client cluster --security '' a)" = '{"target":"/v1/documents/a/cluster?security=","key":null}' ]
    [ "$(client versions a)" = '{"target":"/v1/documents/a/versions","key":null}' ]
    [[ $(client stats) == '{"target":"/v1/stats","key":null,'* ]]
    run client delete a
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run client delete a none b
    [ "$status" -eq 1 ]
    [ "$output" = "neardup: none: there is no such document that you see (404)" ]
    [ "$(logged 'row["target"]' | tail -1)" = /v1/documents/b ]
    run client get
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: name the id of a document; see neardup help client get" ]
    run client stats more
    [ "$status" -eq 2 ]
    run neardup client
    [ "$status" -eq 2 ]
}

@test "client: a key from a file, sent with each request" {
    fake
    printf 'secret-1\nmore\n' >key
    client stats --key-file key | grep -q '"key":"Bearer secret-1"'
    : >empty
    run client stats --key-file empty
    [ "$status" -eq 2 ]
    run client stats --key-file nothing
    [ "$status" -eq 2 ]
    [[ $output == "neardup: nothing: No such file"* ]]
    run neardup client stats --url ftp://a.org
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: ftp://a.org: an address begins with http:// or https://" ]
}

@test "client crawl: the list, and visits by a command" {
    fake
    client crawl --limit 9 >list
    [ "$(values list id)" = "a b late it's" ]
    [ "$(logged 'row["target"]')" = "/v1/crawl?limit=9" ]
    client crawl --gap 12 >list
    [ "$(logged 'row["target"]' | tail -1)" = "/v1/crawl?expect=12" ]
    # shellcheck disable=SC2016 # the command's own shell reads $1
    client crawl --follow 'echo "<p>page of $1"' >answers
    [ "$(logged 'row["target"], row["type"], [d["text"] for d in row["documents"]]' | tail -2)" = "('/v1/documents?id=a%20b&security=x%2Cy%C3%A9', 'text/html', ['<p>page of a b\\n'])
('/v1/documents?id=it%27s&security=', 'text/html', [\"<p>page of it's\\n\"])" ]
    [ "$(wc -l <answers)" -eq 2 ]
    # shellcheck disable=SC2016
    run client crawl --follow '[ "$1" != "a b" ] && echo text'
    [ "$status" -eq 3 ]
    [ "${lines[0]}" = "neardup: a b: the command failed (status 1)" ]
    [ "$(logged 'row["type"]' | tail -1)" = text/plain ]
}

@test "client compare: two documents, or a document and a file" {
    fake
    client compare 'a b' c/d --security x,y >answer
    [ "$(logged 'row["method"], row["target"]')" = "('GET', '/v1/compare?a=a%20b&a_security=x%2Cy&b=c%2Fd&b_security=x%2Cy')" ]
    [ "$(wc -l <answer)" -eq 1 ]
    printf '  <p>a page' >page
    printf 'a text' >text
    client compare a --with page >answer
    client compare a --with - <text >answer
    [ "$(logged 'row["method"], row["target"], row["type"], [d["text"] for d in row["documents"]]' | tail -2)" = "('POST', '/v1/compare?a=a', 'text/html', ['  <p>a page'])
('POST', '/v1/compare?a=a', 'text/plain', ['a text'])" ]
    run client compare none a
    [ "$status" -eq 1 ]
    [ "$output" = "neardup: compare: there is no such document that you see (404)" ]
    run client compare a --with nothing
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: nothing: No such file or directory" ]
    for wrong in "a" "a b c" "a b --with page" ""; do
        # shellcheck disable=SC2086 # the arguments
        run client compare $wrong
        [ "$status" -eq 2 ]
        [[ $output == "neardup: client compare takes two ids, or one and --with FILE"* ]]
    done
}

@test "client fingerprint: the recipe of the store, and whether it is the one that is expected" {
    fake
    client fingerprint >answer
    [ "$(cat answer)" = '{"version":"9.9","recipe":{"fingerprint":"00ff00ff00ff00ff","text":"shingle = 3\n","tables":[{"a":"]}"}]}}' ]
    client fingerprint --expect 00ff00ff00ff00ff >answer
    run client fingerprint -o again --expect 00ff00ff00ff00f
    [ "$status" -eq 1 ]
    [ "$output" = "neardup: the store's fingerprint is 00ff00ff00ff00ff, not 00ff00ff00ff00f" ]
    run client fingerprint id
    [ "$status" -eq 2 ]
}

@test "client: where the program neardup-server is not installed, the message says so" {
    mkdir bin
    cp "$NEARDUP" bin/neardup
    run bin/neardup client stats
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: neardup client needs the package neardup-server" ]
    bin/neardup client --help | grep -q '^Usage: neardup client'
    run bin/neardup client stats --nothing
    [[ $output == "neardup: there is no option --nothing"* ]]
}

@test "client: the command itself needs none of the service's libraries" {
    ldd "$NEARDUP" >linked
    run grep -E 'curl|microhttpd|lmdb' linked
    [ "$status" -eq 1 ]
}

@test "client post: pages go as pages, in UTF-8, which the service reads by its recipe" {
    fake
    printf '<meta charset=iso-8859-1><title>T</title><p>caf\351</p>' >a.html
    printf '%s\n' '{"id":1,"text":"<p>one</p>"}' >b.jsonl
    client post -q a.html >answers
    [ "$(logged '[(d["title"], d["html"]) for d in row["documents"]]')" = \
        "[('T', '<meta charset=iso-8859-1><title>T</title><p>café</p>')]" ]
    client post -q --text-format html b.jsonl >answers
    [ "$(logged '[d["html"] for d in row["documents"]]' | tail -1)" = "['<p>one</p>']" ]
    client post -q b.jsonl >answers
    [ "$(logged '[d.get("text") for d in row["documents"]]' | tail -1)" = "['<p>one</p>']" ]
}

@test "client: the examples of its page" {
    fake
    documents 3 >corpus.jsonl
    zstd -q corpus.jsonl
    echo "<p>a page</p>" >page.html
    mkdir bin pages
    cp page.html pages
    ln -s "$NEARDUP" bin/neardup
    printf '#!/bin/sh\necho "<p>$2</p>"\n' >bin/curl
    chmod +x bin/curl
    sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^neardup/p}' "$BATS_TEST_DIRNAME/../../man/neardup-client.1" |
        sed "s|^neardup client [a-z]*|& --url $url|; s|^.* client watch|timeout --preserve-status -s INT 4 &|" >examples
    [ "$(wc -l <examples)" -ge 4 ]
    while read -r example; do
        run env PATH="$PWD/bin:$PATH" bash -c "$example" </dev/null
        [ "$status" -le 1 ] || { echo "$example: $output"; return 1; }
    done <examples
}

# A web archive of plain texts, one for each address.
archive_of() { # ADDRESS…
    for page in "$@"; do
        text="what $page says of itself in some words"
        printf 'WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: %s\r\n' "$page"
        printf 'Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' "${#text}" "$text"
    done
}

@test "client: pages of a web archive are posted by their addresses, from files, archives and pipes" {
    fake
    archive_of http://a.org/ http://b.org/x | gzip >pages.warc.gz
    tar -cf pages.tar pages.warc.gz
    zip -q pages.zip pages.warc.gz
    for input in pages.warc.gz pages.tar pages.zip; do
        client post $input -o out
        [ "$(values out id)" = "http://a.org/ http://b.org/x" ]
    done
    zcat pages.warc.gz | client post - -o out
    [ "$(values out id)" = "http://a.org/ http://b.org/x" ]
    [ "$(logged 'row["documents"][1]["text"]' | sort -u)" = "what http://b.org/x says of itself in some words" ]
    client query pages.warc.gz -o out
    [ "$(wc -l <out)" -eq 2 ]
}

@test "client: fields of records are sent for a recipe that reads them" {
    fake
    printf '%s\n' '{"id":"a","text":"x y","url":"http://a.org/","n":[1,"two"],"labels":"l"}' \
        '{"id":"b","text":"x z","url":5}' >in.jsonl
    client post in.jsonl --security '' --record-field url --record-field n -o out
    [ "$(logged '[(d.get("url"), d.get("n")) for d in row["documents"]]')" = \
        "[('http://a.org/', '[1,\"two\"]'), ('5', None)]" ]
    printf 'id,text,url\nc,x y,http://c.org/\n' >in.csv
    client query in.csv --record-field url -o out
    [ "$(logged 'row["documents"][0].get("url")' | tail -n 1)" = "http://c.org/" ]
    run -2 client post in.jsonl --record-field id
    [[ $output == "neardup: --record-field: 'id' is no field of a recipe for the service"* ]]
    run -2 client post in.jsonl --record-field url --record-field url
    [[ $output == "neardup: --record-field: 'url' is given twice"* ]]
}
