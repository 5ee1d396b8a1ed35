#!/usr/bin/env bats
# serve.bats - neardup serve: each of its options, its signals, and what it refuses

# shellcheck disable=SC2154 # url, line and pid are those of service.bash
bats_require_minimum_version 1.5.0
load common
load service

teardown() {
    [ -z "${pid:-}" ] || kill -KILL "$pid" || true
}

setup_file() {
    export text="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
}

# Start a service on a free port, with an empty store unless there is one.
serve() { # OPTION…
    needs_server_program
    start "$NEARDUP" serve --listen 127.0.0.1:0 "$@" store
}

post() { # ID TEXT [CURL OPTION…]
    local id=$1 body=$2
    shift 2
    curl -s --noproxy '*' --cacert cert.pem -H 'Content-Type: text/plain' --data-binary "$body" "$@" "$url/v1/documents?id=$id"
}

get() { # PATH [CURL OPTION…]: the status of the answer, which is in `answer`
    local path=$1
    shift
    curl -s --noproxy '*' -o answer -w '%{http_code}' "$@" "$url$path"
}

member() { # NAME [FILE]
    python3 -c 'import json,sys
print(json.load(open(sys.argv[2] if len(sys.argv) > 2 else "answer")).get(sys.argv[1]))' "$@"
}

@test "serve: every option is tried here" {
    for option in $("$NEARDUP" complete serve -- | cut -f 1); do
        [ "$option" = --help ] || grep -q -- " $option" "$BATS_TEST_FILENAME" || { echo "$option"; return 1; }
    done
}

@test "serve: a line says where it answers; SIGTERM and SIGINT end it; the store stays" {
    for signal in -TERM -INT; do
        serve
        [[ $line =~ ^"neardup: store answers at http://127.0.0.1:"[0-9]+"/"$ ]]
        post a "$text" >answer
        [ "$(member id)" = a ]
        [ "$(member durable)" = True ]
        stop "$signal"
        [ "$status" -eq 0 ]
        [ ! -s server.err ]
    done
    [ "$(member changed)" = False ]
    [ "$(member version)" = 1 ]
}

@test "serve: kill -9 loses nothing that was acknowledged" {
    serve --snapshot-every 1s --compact-after 1h
    for i in 1 2 3; do post "d$i" "$text $i" >/dev/null; done
    stop -KILL
    serve
    for i in 1 2 3; do [ "$(get "/v1/documents/d$i")" = 200 ]; done
    stop
}

@test "serve: what it refuses to start with" {
    needs_server_program
    serve
    port=${url##*:}
    run neardup serve --listen 127.0.0.1:0 store
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store: another process has the store open" ]
    run neardup serve --listen "127.0.0.1:$port" other
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: 127.0.0.1:$port: cannot listen: Address already in use" ]
    stop
    while IFS='|' read -r message arguments; do
        # shellcheck disable=SC2086 # words
        run neardup serve $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status $output"; return 1; }
        # shellcheck disable=SC2053 # a pattern
        [[ $output == "neardup: "$message ]] || { echo "$arguments: $output"; return 1; }
    done <<'END'
*key*|--listen 0.0.0.0:0 store
*|--listen nowhere store
*no-keys*|--keys no-keys store
--tls-cert and --tls-key must be given together*|--tls-cert a.pem store
*no.pem*|--tls-cert no.pem --tls-key no.pem store
serve takes the folder of one store*|
serve takes the folder of one store*|a b
--security and --administrator require --new-key*|--security a store
--new-key only makes a key*|--new-key a store
--durability: 'never' is not one of sync, interval*|--durability never store
--durability: 'interval:0' *|--durability interval:0 store
--max-body: '1' is not a number of bytes*|--max-body 1 store
*verify*|--recipe default --set verify=containment other2
*keep*|--recipe default --set keep=longest other2
*recipe*|--set threshold=0.5 store
END
}

@test "serve: a recipe of a new store, which it keeps" {
    serve --recipe default --set threshold=0.5 --threads 2
    post a "a b c d e f g h" >/dev/null
    post b "a b c d e f X Y" >answer
    [ "$(member verdict)" = near-duplicate ]
    stop
    serve
    post c "a b c d e f Z Z" >answer
    [ "$(member verdict)" = near-duplicate ]
    stop
}

@test "serve: --least of a new store, which it keeps: at= names neighbours below the threshold" {
    serve --least 0.4
    post a "$text" >/dev/null
    half="${text% eleven*} alpha beta gamma"
    [ "$(curl -s --noproxy '*' -H 'Content-Type: text/plain' --data-binary "$half" "$url/v1/query?at=0.4" | jq -c '[.verdict, .of, .nearest[0].id, .cluster]')" = '["new",null,"a",null]' ]
    post b "$half" >answer
    [ "$(member nearest)" = "[]" ]
    [ "$(get '/v1/query?at=0.3' -X POST -H 'Content-Type: text/plain' --data-binary "$half")" = 400 ]
    [[ $(cat answer) == *"from 2/5, its least, to 4/5, its threshold"* ]]
    stop
    run -2 "$NEARDUP" serve --least 0.5 store
    [[ $output == *"store: the store was made with least = 2/5: export it, and import it into a new one"* ]]
    serve
    [ "$(get /v1/stats)" = 200 ]
    [ "$(jq .recipe.least answer)" = 0.4 ]
    stop
    run -2 "$NEARDUP" serve --least 0.9 new
    [[ $output == *"least: it is above 0 and below the threshold of the recipe"* ]]
    [ ! -e new ]
    neardup store check store
    "$NEARDUP" store export -q store -o docs.jsonl
    "$NEARDUP" store import -q other --least 0.6 docs.jsonl
    run -2 "$NEARDUP" store import -q other --least 0.5 docs.jsonl
    [[ $output == *"other: the store was made with least = 3/5"* ]]
}

@test "serve: --containment of a new store, which it keeps: answers name what quotes a text" {
    serve --containment 0.8
    post long "$text alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi" >/dev/null
    post short "$text" >answer
    [ "$(jq -c '[.verdict, [.contained_in[] | [.id, .share]], .contains]' answer)" = '["new",[["long",1]],[]]' ]
    stop
    run -2 "$NEARDUP" serve --containment 0.5 store
    [[ $output == *"store: the store was made with containment = 4/5: export it, and import it into a new one"* ]]
    serve
    post long "$text alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi" >answer
    [ "$(jq -c '[.contained_in, [.contains[] | [.id, .share]]]' answer)" = '[[],[["short",1]]]' ]
    [ "$(get /v1/stats)" = 200 ]
    [ "$(jq .recipe.containment answer)" = 0.8 ]
    stop
    run -2 "$NEARDUP" serve --containment 0.5 --recipe manku-2007 new
    [[ $output == *"containment: it needs a recipe that compares shingles (verify = jaccard)"* ]]
    [ ! -e new ]
    "$NEARDUP" store export -q store -o docs.jsonl
    "$NEARDUP" store import -q other --containment 0.6 docs.jsonl
    run -2 "$NEARDUP" store import -q other --containment 0.5 docs.jsonl
    [[ $output == *"other: the store was made with containment = 3/5"* ]]
}

@test "serve: a df table is copied into the store, which refuses another" {
    needs_server_program
    for i in 1 2 3 4 5 6 7 8; do printf '{"text":"%s w%d w%d"}\n' "$text" $i $((i * i)); done >corpus.jsonl
    neardup df build -q -o words.df corpus.jsonl
    head -3 corpus.jsonl >some.jsonl
    neardup df build -q -o other.df some.jsonl
    run neardup serve --listen 127.0.0.1:0 --recipe seshasai-2009 store
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: signature simhash: the recipe needs a df table: make one with neardup df build, and name it with --df FILE; the store keeps a copy" ]
    [ ! -e store ]
    run neardup serve --listen 127.0.0.1:0 --recipe seshasai-2009 --df no.df store
    [ "$status" -eq 2 ]
    [[ $output == *no.df* ]]
    run neardup serve --listen 127.0.0.1:0 --recipe seshasai-2009 --df auto=new.df store
    [ "$status" -eq 2 ]
    [[ $output == "neardup: --df: a store counts no table of its own documents"* ]]
    serve --recipe seshasai-2009 --df words.df
    post a "$text new one" >answer
    post b "$text new two" >answer
    fingerprint=$(member simhash)
    stop
    [ "$(ls store/df | wc -l)" -eq 1 ]
    cmp store/df/*.df words.df
    run neardup serve --listen 127.0.0.1:0 --recipe seshasai-2009 --df other.df store
    [ "$status" -eq 2 ]
    [[ $output == "neardup: store: signature simhash: the store has the df table 0x"*"and other.df is another one, 0x"*"neardup store resketch"* ]]
    run neardup serve --listen 127.0.0.1:0 --recipe seshasai-2009-inverse-idf store
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store: the store has another recipe: simhash.idf differs" ]
    cp words.df same.df
    rm words.df
    serve --recipe seshasai-2009 --df same.df
    stop
    serve --recipe seshasai-2009
    post b "$text new two" >answer
    [ "$(member changed)" = False ]
    [ "$(member simhash)" = "$fingerprint" ]
    neardup store backup -q store copy
    stop
    cmp copy/df/*.df same.df
    grep -q ' df/.*[.]df$' copy/checksums
    run neardup store check copy
    [ "$status" -eq 0 ]
    printf x | dd of="$(echo copy/df/*.df)" bs=1 seek=200 conv=notrunc status=none
    run neardup store check copy
    [ "$status" -ne 0 ]
    [[ $output == *copy/df/* ]]
}

@test "serve: a recipe that decides by signatures, whose index is made again from the database" {
    serve --recipe henzinger-2006-b
    long="$text $(seq -s ' ' 100 200)"
    post a "$long" >/dev/null
    post b "$long one more" >answer
    [ "$(member verdict)" = near-duplicate ]
    post c "$long two more" >/dev/null
    [ "$(get /v1/documents/b -X DELETE)" = 204 ]
    stop
    run neardup store check store
    [ "$status" -eq 0 ]
    serve
    post d "$long and more" >answer
    [ "$(member verdict)" = near-duplicate ]
    post e "$long two more" >answer
    [ "$(member verdict)" = duplicate ]
    [ "$(get /v1/documents/d/near)" = 200 ]
    [ "$(python3 -c 'import json; print([d["id"] for d in json.load(open("answer"))["documents"]])')" = "['a', 'c', 'e']" ]
    stop
    neardup store backup -q store copy
    run neardup store check copy
    [ "$status" -eq 0 ]
}

record() { # ID TITLE TEXT
    curl -s --noproxy '*' -H 'Content-Type: application/json' \
        --data-binary "{\"id\":\"$1\",\"title\":\"$2\",\"text\":\"$3\"}" "$url/v1/documents" >answer
}

page() { # ID HTML
    curl -s --noproxy '*' -H 'Content-Type: text/html' --data-binary "$2" "$url/v1/documents?id=$1" >answer
}

@test "serve: fields, links and markup are kept as far as the recipe reads them" {
    for i in 1 2 3 4 5 6 7 8; do printf '{"text":"%s w%d w%d"}\n' "$text" $i $((i * i)); done >corpus.jsonl
    neardup df build -q -o words.df corpus.jsonl
    printf '[signature s]\nidf = log\nfields = title:1\nlinks = yes\nmarkup = multiply\n[decide]\ncandidates = match\nmatch = distance(s) <= 3\nverify = none\n' >my.ini
    serve --recipe my.ini --df words.df
    record a "One title" "$text"
    [ "$(member version)" = 1 ]
    record a "One title" "$text"
    [ "$(member changed)" = False ]
    record a "Another" "$text"
    [ "$(member changed)" = True ]
    [ "$(member version)" = 2 ]
    record b "A third" "$text"
    [ "$(member verdict)" = duplicate ]
    record c "A third" "short"
    record d "A fourth" "short"
    [ "$(member verdict)" = duplicate ]
    page p "<p>$text, and <b>more</b> of <a href='/x'>it</a></p>"
    page p "<p>$text, and more of <a href='/x'>it</a></p>"
    [ "$(member changed)" = True ]
    page p "<p>$text, and more of <a href='/y'>it</a></p>"
    [ "$(member changed)" = True ]
    [ "$(get /v1/documents/a)" = 200 ]
    [ "$(member text)" = "$text" ]
    stop
    run neardup store check store
    [ "$status" -eq 0 ]
    neardup store export -q store >export.jsonl
    neardup store import -q --recipe my.ini --df words.df copy export.jsonl
    run neardup store check copy
    [ "$status" -eq 0 ]
    neardup store export -q copy >again.jsonl
    cmp export.jsonl again.jsonl
    serve
    record b "A third" "$text"
    [ "$(member changed)" = False ]
    stop
}

@test "serve: --durability interval acknowledges at once" {
    serve --durability interval:20
    post a "$text" >answer
    [ "$(member durable)" = False ]
    stop
    serve --durability interval
    [ "$(get /v1/documents/a)" = 200 ]
    stop
}

@test "serve: keys, their labels, and new ones on SIGHUP" {
    needs_server_program
    umask 022
    alice=$(neardup serve --new-key alice --security press,2026 --keys keys)
    [ "$(stat -c %a keys)" = 640 ]
    [ "$(wc -l <keys)" -eq 1 ]
    grep -q alice keys
    run grep -cF "$alice" keys
    [ "$output" = 0 ]
    serve --keys keys
    [ "$(get /v1/stats)" = 401 ]
    [ "$(get /v1/stats -H "Authorization: Bearer $alice")" = 200 ]
    root=$(neardup serve --new-key root --administrator --keys keys)
    [ "$(get /metrics -H "Authorization: Bearer $root")" = 401 ]
    kill -HUP "$pid"
    until grep -q 'were read again' server.err; do kill -0 "$pid"; done
    [ "$(get /metrics -H "Authorization: Bearer $root")" = 200 ]
    [ "$(get /metrics -H "Authorization: Bearer $alice")" = 403 ]
    echo "no key" >>keys
    kill -HUP "$pid"
    until grep -q 'stay as they were' server.err; do kill -0 "$pid"; done
    grep -q '^neardup: keys:3: ' server.err
    [ "$(get /v1/stats -H "Authorization: Bearer $alice")" = 200 ]
    echo "$alice" >alice
    echo "{\"id\":\"a\",\"text\":\"$text\"}" >docs.jsonl
    neardup client post -q --url "$url" --key-file alice docs.jsonl >answer
    [ "$(member security)" = "['press', '2026']" ] || [ "$(member security)" = "['2026', 'press']" ]
    run neardup client stats --url "$url"
    [ "$status" -eq 2 ]
    [[ $output == *"(401)" ]]
    stop
    run neardup serve --new-key bob
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == *bob* ]]
    run neardup serve --new-key "a b"
    [ "$status" -eq 2 ]
}

@test "serve: https" {
    command -v openssl || skip "no openssl"
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext "subjectAltName=IP:127.0.0.1" 2>/dev/null
    serve --tls-cert cert.pem --tls-key key.pem
    [[ $url == https://* ]]
    post a "$text" >answer
    [ "$(member verdict)" = new ]
    echo "$text" >a.txt
    neardup client query -q --url "$url" --ca-file cert.pem a.txt >answer
    [ "$(member verdict)" = duplicate ]
    run neardup client query -q --url "$url" a.txt
    [ "$status" -eq 2 ]
    [[ $output == *ertificate* ]]
    stop
}

@test "serve: names, sizes, deadlines, a log of requests" {
    serve --host docs.example.org --max-body 2k --deadline 1s --log-requests
    [ "$(get /v1/stats)" = 200 ]
    [ "$(get /v1/stats -H 'Host: docs.example.org')" = 200 ]
    [ "$(get /v1/stats -H 'Host: other.example.org')" = 421 ]
    printf '%03000d' 1 >large
    [ "$(get /v1/query -H 'Content-Type: text/plain' --data-binary @large)" = 413 ]
    grep -q '/v1/stats' server.err
    # A request that does not end is cut off; its answer says 408, or there is none.
    python3 - "${url##*:}" <<'PY'
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60) as s:
    s.sendall(b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nabc")
    answer = b""
    while piece := s.recv(4096):
        answer += piece
assert answer == b"" or b" 408 " in answer.split(b"\r\n")[0], answer
PY
    stop
}

@test "serve: a line of the log says who asked what, and what came of it" {
    serve --log-requests
    [ "$(get "/v1/stats" -H 'X-Request-Id: mine-1')" = 200 ]
    [ "$(get "/v1/query?x=1" -H 'Content-Type: text/plain' --data-binary abc)" = 400 ]
    until grep -q /v1/query server.err; do sleep 0.05; done
    grep -Eqx '20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z 200 GET /v1/stats [0-9]+us in=0 out=[0-9]+ client=127\.0\.0\.1 key=- id=mine-1' server.err
    grep -Eqx '20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z 400 POST /v1/query\?x=1 [0-9]+us in=[0-9]+ out=[0-9]+ client=127\.0\.0\.1 key=- id=[0-9a-f]{16}' server.err
    stop
}

@test "serve: options from a file, which those of the command line follow" {
    printf '# options\n\n  host = docs.example.org\nmax-body 2k\nlog-requests\nlisten 127.0.0.1:1\n' >options
    serve --config options
    [ "$(get /v1/stats -H 'Host: docs.example.org')" = 200 ]
    printf '%03000d' 1 >large
    [ "$(get /v1/query -H 'Content-Type: text/plain' --data-binary @large)" = 413 ]
    grep -q '/v1/stats' server.err
    stop
    while IFS='|' read -r option message; do
        printf '# first\n%s\n' "$option" >options
        run -2 "$NEARDUP" serve --config=options store
        [[ $output == "neardup: options:2: $message"* ]]
    done <<'END'
lissten x|there is no option --lissten=x; did you mean --listen?
host|--host needs a value
log-requests = yes|--log-requests takes no value
threads two|--threads: 'two' is not a number
config options|a file of options names no other one
END
    run -2 "$NEARDUP" serve --config nothing store
    [[ $output == "neardup: nothing: cannot be opened: No such file or directory" ]]
}

@test "serve: --read-only answers from a copy that nobody may write, and takes no document" {
    serve
    post a "$text" >answer
    post b "$text seventeen" >answer
    stop
    "$NEARDUP" store backup -q store copy || "$NEARDUP" store backup store copy
    chmod -R a-w copy
    mv store other
    mv copy store
    serve --read-only
    [ "$(get /v1/query -H 'Content-Type: text/plain' --data-binary "$text")" = 200 ]
    [ "$(member verdict)" = duplicate ]
    [ "$(get /v1/documents?id=c -H 'Content-Type: text/plain' --data-binary x)" = 403 ]
    [ "$(member type)" = /problems/read-only ]
    [ "$(get '/v1/documents?id=c&dry=1' -H 'Content-Type: text/plain' --data-binary x)" = 200 ]
    [ "$(get /v1/documents/a -X DELETE)" = 403 ]
    [ "$(get /v1/documents/a/near)" = 200 ]
    [ "$(member total)" = 1 ]
    [ "$(get /readyz)" = 200 ]
    [ "$(get /metrics)" = 200 ]
    stop
    [ ! -s server.err ]
    # Nothing was made or changed there.
    "$NEARDUP" store check store
    run -2 "$NEARDUP" serve --read-only --listen 127.0.0.1:0 nothing
    [[ $output == *"nothing: there is no store"* ]]
    [ ! -e nothing ]
    run -2 "$NEARDUP" serve --read-only --snapshot-every 1m store
    [[ $output == *"--read-only writes nothing: --durability, --snapshot-every and --compact-after have no meaning"* ]]
    chmod -R u+w store
}

@test "serve: --read-only and a service that writes exclude each other" {
    serve
    run -2 "$NEARDUP" serve --read-only --listen 127.0.0.1:0 store
    [[ $output == *"store: another process writes the store: read a copy (neardup store backup)"* ]]
    stop
    serve --read-only
    run -2 "$NEARDUP" serve --listen 127.0.0.1:0 store
    [[ $output == *"store: another process has the store open"* ]]
    stop
}

@test "serve: a service manager is told" {
    needs_server_program
    cat >manager.py <<'PY'
import os, signal, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
s.bind(name.replace("@", "\0"))
s.settimeout(120)
p = subprocess.Popen([sys.argv[2], "serve", "--listen", "127.0.0.1:0", "store"], env={**os.environ, "NOTIFY_SOCKET": name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(s.recv(999).decode().split("\n")[0])
p.send_signal(signal.SIGHUP)
print(*[line.split("=")[0] for line in s.recv(999).decode().split("\n")])
print(s.recv(999).decode())
p.terminate()
print(s.recv(999).decode().split("\n")[0])
print(p.wait())
PY
    for name in "$PWD/socket" "@neardup-$$-$RANDOM"; do
        run python3 manager.py "$name" "$NEARDUP"
        [ "${lines[0]}" = READY=1 ]
        [[ $output == *"RELOADING MONOTONIC_USEC"*"READY=1"*"STOPPING=1"* ]]
        [ "${lines[-1]}" = 0 ]
    done
}

@test "serve: the examples of the client's page, with the service itself" {
    serve
    documents=corpus.jsonl
    for i in 1 2 3; do echo "{\"id\":\"d$i\",\"text\":\"$text $i\"}"; done >$documents
    neardup client post --url "$url" $documents >answers 2>counts
    grep -q '^neardup: 3 documents in .* s: 1 new, 0 duplicates, 2 near duplicates$' counts ||
        grep -q '^neardup: 3 documents' counts
    neardup client near --url "$url" d1 >answer
    [ "$(member total)" = 2 ]
    neardup client versions --url "$url" d1 >answer
    neardup client crawl --url "$url" >list
    [ "$(wc -l <list)" -eq 3 ]
    neardup client delete --url "$url" d1 d2
    neardup client stats --url "$url" >answer
    [ "$(python3 -c 'import json; print(json.load(open("answer"))["visible"]["documents"])')" = 1 ]
    run neardup client get --url "$url" d1
    [ "$status" -eq 1 ]
    stop
}

@test "serve: client compare and fingerprint, with the service itself" {
    serve
    printf '%s\n' "{\"id\":\"a\",\"text\":\"$text\"}" "{\"id\":\"b\",\"text\":\"$text more\"}" >docs.jsonl
    neardup client post -q --url "$url" docs.jsonl >answers
    neardup client compare --url "$url" a b >stored
    echo "<p>$text more" >page
    neardup client compare --url "$url" a --with page >with
    python3 - <<'PY'
import json

stored, found = json.load(open("stored")), json.load(open("with"))
assert stored["edit_distance"] == 1 and (found["b"].pop("id"), found["b"].pop("at")) == ("body", "body")
stored["b"].pop("id"), stored["b"].pop("at")
assert found == stored
PY
    neardup client fingerprint --url "$url" >answer
    neardup client fingerprint --url "$url" --expect "$(python3 -c 'import json; print(json.load(open("answer"))["recipe"]["fingerprint"])')" >again
    cmp answer again
    [ "$(member version)" = "$("$NEARDUP" --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/')" ]
    stop
}

@test "serve: a gap between visits is the time of a change, and the interval follows it" {
    serve --expect 12 --factor 1000 --interval 1d --shortest 1s --longest 52w --equal 3 --changes 3
    echo "$text" | neardup client post --url "$url" --unit line - >answers
    echo '{"id":"page","text":"one text that stood there before"}' | neardup client post --url "$url" --format jsonl - >answers
    sleep 1.1
    echo '{"id":"page","text":"and quite another, with other words, that took its place"}' |
        neardup client post --url "$url" --format jsonl - >answers
    neardup client versions --url "$url" page >versions
    neardup client crawl --url "$url" >by_service
    neardup client crawl --url "$url" --gap 1000000 >by_caller
    python3 - <<'PY'
import datetime, json

first, second = json.load(open("versions"))["versions"]
seconds = (datetime.datetime.fromisoformat(second["time"][:-1]) - datetime.datetime.fromisoformat(first["time"][:-1])).total_seconds()
assert seconds >= 1 and second["distance"] > 0
for name, expect in (("by_service", 12), ("by_caller", 1000000)):
    rows = {row["id"]: row for row in map(json.loads, open(name))}
    gap = max(1, int(seconds * expect // second["distance"]))
    assert rows["page"]["gap"] == gap, (rows["page"], gap)
    assert [row["gap"] for id, row in rows.items() if id != "page"] == [None]
    assert rows["page"]["interval"] == max(86, int(seconds * 12 // second["distance"])), rows["page"]
PY
    stop
}

@test "serve: the commands of README.md" {
    serve
    for i in 1 2 3; do echo "{\"id\":\"d$i\",\"text\":\"$text $i\"}"; done >corpus.jsonl
    echo "<p>$text</p>" >page.html
    mkdir bin
    ln -s "$NEARDUP" bin/neardup
    sed -n '/^## The service/,/^## /{/^neardup client\|^curl/p}' "$BATS_TEST_DIRNAME/../../README.md" |
        sed "s|http://127.0.0.1:8080|$url|; s|^neardup client [a-z]*|& --url $url|" >commands
    [ "$(wc -l <commands)" -eq 4 ]
    while read -r command; do
        run env PATH="$PWD/bin:$PATH" bash -c "$command" </dev/null
        [ "$status" -eq 0 ] || { echo "$command: $output"; return 1; }
        [ -n "$output" ]
    done <commands
    [[ $output == *near-duplicate* ]]
    stop
}
