#!/usr/bin/env bats
# store.bats - neardup store: check, export, import, compact, stats, backup, resketch

# shellcheck disable=SC2154 # url, line and pid are those of service.bash
load common
load service

teardown() {
    [ -z "${pid:-}" ] || kill -KILL "$pid" || true
}

# A store with documents, versions and security, made by a service.
make_store() {
    needs_server_program
    start "$NEARDUP" serve --listen 127.0.0.1:0 "$@" store
    words="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    for i in $(seq 30); do echo "{\"id\":\"d$i\",\"text\":\"$words $((i / 3))\"}"; done >docs.jsonl
    cat >>docs.jsonl <<'END'
{"id":"d1","security":["p","q"],"text":"another text with strange \u2028 characters \"\\"}
END
    # shellcheck disable=SC2028
    echo '{"id":"d2","title":"The second\nversion","text":"a second version of this document"}' >>docs.jsonl
    neardup client post -q --url "$url" --connections 1 docs.jsonl >/dev/null
    neardup client delete --url "$url" d30
}

# Print what an export says, without times.
said() { # FILE
    python3 -c 'import json,sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    print(row["id"], row["security"], row["text"], row.get("title"), row["visits"]["visits"], [(v["version"], v["simhash"], v["distance"]) for v in row["versions"]])' "$1"
}

figure() { # NAME [STORE]
    neardup store stats --json "${2:-store}" | python3 -c 'import json,sys
print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

@test "store export and import: all documents, security, versions and times come back" {
    make_store
    neardup store export -q store -o while.jsonl # a service has it
    stop
    neardup store export store >documents.jsonl 2>counts
    [ "$(grep -c '"title":"The second version","text":"a second version' documents.jsonl)" -eq 1 ]
    [ "$(grep -c '"title"' documents.jsonl)" -eq 1 ]
    [ "$(cat counts)" = "neardup: 30 documents" ]
    cmp while.jsonl documents.jsonl
    [ "$(wc -l <documents.jsonl)" -eq 30 ]
    [ "$(said documents.jsonl | grep -c "^d1 \['p', 'q'\] another text")" -eq 1 ]
    [ "$(said documents.jsonl | grep '^d2 ' | grep -c '(1, .*(2, ')" -eq 1 ]
    zstd -q documents.jsonl
    run neardup store import other documents.jsonl.zst
    [ "$status" -eq 0 ]
    [ "$output" = "neardup: 30 documents were imported" ]
    neardup store export -q other >again.jsonl
    cmp documents.jsonl again.jsonl
    neardup store check other
    [ "$(figure documents other)" = 30 ]
    neardup store import -q third - <documents.jsonl
    neardup store export -q third | cmp - documents.jsonl
}

@test "store export --sketches: those of the documents, also from a service that runs" {
    make_store
    neardup store export -q store -o documents.jsonl
    neardup store export store --sketches store.sketch 2>counts
    [ "$(cat counts)" = "neardup: 30 documents" ]
    neardup sketch verify store.sketch
    neardup sketch -q documents.jsonl -o documents.sketch
    cmp <(neardup sketch dump --shingle-hashes store.sketch | sed 's/"at":"[^"]*",//') \
        <(neardup sketch dump --shingle-hashes documents.sketch | sed 's/"at":"[^"]*",//')
    python3 -c 'import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1] + "/v1/sketches").read())' "$url" >served.sketch
    cmp served.sketch store.sketch
    stop
    neardup store export -q store --sketches bare.sketch --no-shingles
    neardup sketch info bare.sketch | grep -qx 'shingles: not kept'
    run neardup store export store --sketches store.sketch -o documents.jsonl
    [ "$status" -eq 2 ]
    run neardup store export store --no-shingles
    [ "$status" -eq 2 ]
    run neardup store export none --sketches none.sketch
    [ "$status" -eq 2 ]
    [ ! -e none.sketch ]
}

@test "store import: a row that is damaged ends it, and is named" {
    make_store
    stop
    neardup store export -q store >documents.jsonl
    n=0
    while IFS='|' read -r message edit; do
        sed "3$edit" documents.jsonl >damaged.jsonl
        rm -rf other
        run neardup store import other damaged.jsonl
        [ "$status" -eq 2 ]
        # shellcheck disable=SC2053 # a pattern
        [[ ${lines[0]} == "neardup: damaged.jsonl:3: "$message ]] || { echo "$edit: $output"; return 1; }
        n=$((n + 1))
    done <<'END'
recipe: is none of neardup store export|s/"recipe":"[^"]*"/"recipe":"x"/
was exported from a store with another recipe*|s/"recipe":"[^"]*"/"recipe":"0123456789abcdef"/
created: is none*|s/"created":[0-9]*/"created":-1/
due: is none*|s/"due":[0-9]*/"due":99999999999999999999999/
versions: is none*|s/"versions":.*/"versions":[]}/
simhash: is none*|s/"versions":.*/"versions":[{"version":1,"time":1,"visited":1,"distance":2}]}/
*|s/.*/{broken/
visits.equal: is none*|s/"equal"/"unequal"/
END
    [ "$n" -eq 8 ]
    run neardup store import other docs.jsonl
    [ "$status" -eq 2 ]
    run neardup store import other none.jsonl
    [ "$status" -eq 3 ]
}

@test "store import: a row that does not say who may see it is refused" {
    make_store
    stop
    neardup store export -q store >documents.jsonl
    sed 's/"security"/"labels"/' documents.jsonl >labels.jsonl
    run neardup store import other labels.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *'labels.jsonl:1: has "labels" and no "security": who may see a document is said by "security": ["a", "b"]'* ]]
    for instead in '"closed":' '"security":null,"closed":' '"security":"p","closed":'; do
        sed "s/\"security\":/$instead/" documents.jsonl >none.jsonl
        run neardup store import other none.jsonl
        [ "$status" -eq 2 ]
        [[ $output == *"none.jsonl:1: security: is none of neardup store export"* ]]
    done
    sed 's/"security"/"labels":["a topic"],"security"/' documents.jsonl >both.jsonl
    neardup store import -q other both.jsonl
    neardup store export -q other | cmp - documents.jsonl
}

@test "store import: by the recipe of the export" {
    make_store --set shingle=2
    stop
    neardup store export -q store >documents.jsonl
    run neardup store import other documents.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"another recipe"* ]]
    rm -rf other
    neardup store import -q other --recipe default --set shingle=2 documents.jsonl
    neardup store export -q other | cmp - documents.jsonl
}

@test "store check: a whole store is quiet, a damaged one is named" {
    make_store
    run neardup store check store # a service has it
    [ "$status" -eq 0 ]
    stop
    run neardup store check store
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    segment=$(find store/segments -type f | sort | head -1)
    python3 - "$segment" <<'PY'
import os, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(os.path.getsize(sys.argv[1]) // 2)
    byte = f.read(1)
    f.seek(-1, 1)
    f.write(bytes([byte[0] ^ 255]))
PY
    run neardup store check store
    [ "$status" -eq 1 ]
    [[ $output == *"neardup: store: is damaged"* ]]
}

@test "slow: store check: damaged pages of the database end no check, whatever LMDB makes of them" {
    make_store
    stop
    cp -r store whole
    # A sanitizer would end the process with a status of its own, where a signal is expected.
    # shellcheck disable=SC2030,SC2031
    export ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0
    crashed=0
    for seed in $(seq "$(sized 400 40)"); do
        rm -rf store
        cp -r whole store
        python3 - store/catalog.mdb "$seed" <<'PY'
import os, random, sys
r = random.Random(int(sys.argv[2]))
with open(sys.argv[1], "r+b") as f:
    size = os.path.getsize(sys.argv[1])
    f.seek(r.randrange(8192, size) // 512 * 512)
    f.write(r.randbytes(512))
PY
        run neardup store check store
        [ "$status" -le 2 ] || { echo "seed $seed: $status $output"; return 1; }
        if [[ $output == *"ended the process that checks it"* ]]; then
            [ "$status" -eq 1 ]
            [[ $output == *"neardup: store: is damaged"* ]]
            crashed=1
        fi
    done
    [ "$crashed" -eq 1 ]
}

@test "store: who may not read it, and what is none, is told so" {
    needs_server_program
    mkdir other
    touch other/file
    run neardup store check other
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: other: is no store: it has no catalog.mdb" ]
    run timeout 10 "$NEARDUP" serve --listen 127.0.0.1:0 other
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: other: is no store: it has no catalog.mdb" ]
    run neardup store check other/file
    [ "$output" = "neardup: other/file: is no store: it is no folder" ]
    mkdir closed
    chmod 0 closed
    someone=()
    if [ "$(id -u)" -eq 0 ]; then # who may read everything
        someone=(setpriv --reuid 65534 --clear-groups)
        chmod 755 .
        "${someone[@]}" "$NEARDUP" --version || skip "nobody but root can run the program"
    fi
    run "${someone[@]}" "$NEARDUP" store check closed
    [ "$status" -eq 2 ]
    user=$("${someone[@]}" id -un)
    [ "$output" = "neardup: closed/catalog.mdb: permission denied: it is owned by $(id -un), and this runs as $user" ]
}

@test "store backup: a copy that can be served, made while a service runs" {
    make_store
    run neardup store backup store copy
    [ "$status" -eq 0 ]
    [ "$output" = "neardup: store: copied to copy" ]
    neardup store export -q store >documents.jsonl
    stop
    neardup store check copy
    neardup store export -q copy | cmp - documents.jsonl
    run neardup store backup -q store copy
    [ "$status" -eq 2 ]
    start "$NEARDUP" serve --listen 127.0.0.1:0 copy
    neardup client stats --url "$url" | grep -q '"documents":30'
    stop
}

# Print those members of an export that no recipe changes.
kept() { # FILE
    python3 -c 'import json,sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    times = [row[x] for x in ("created", "updated", "visited", "due")]
    print(row["id"], row["security"], row["text"], row.get("title"), times, row["visits"]["visits"], [(v["version"], v["time"]) for v in row["versions"]])' "$1"
}

@test "store resketch: the same documents by another recipe, made while a service runs" {
    make_store
    neardup df build -q -o words.df docs.jsonl
    head -9 docs.jsonl >some.jsonl
    neardup df build -q -o other.df some.jsonl
    run neardup store resketch --recipe seshasai-2009 --df words.df store second
    [ "$status" -eq 0 ]
    [ "$output" = "neardup: store: 30 documents sketched again into second" ]
    stop
    neardup store export -q store >first.jsonl
    neardup store export -q second >second.jsonl
    kept first.jsonl >first
    kept second.jsonl | cmp - first
    [ "$(grep -o '"recipe":"[^"]*"' second.jsonl | sort -u | wc -l)" -eq 1 ]
    run neardup store check second
    [ "$status" -eq 0 ]
    run neardup store check store
    [ "$status" -eq 0 ]
    # It is the store that importing and posting would have made.
    neardup store resketch -q --recipe seshasai-2009 --df other.df second third
    cmp third/df/*.df other.df
    neardup store resketch -q --recipe default third fourth
    neardup store export -q fourth >fourth.jsonl
    kept fourth.jsonl | cmp - first
    [ "$(figure pairs fourth)" = "$(figure pairs)" ]
    start "$NEARDUP" serve --listen 127.0.0.1:0 --recipe seshasai-2009 --df words.df second
    neardup client query -q --url "$url" docs.jsonl | grep -c '"verdict":"duplicate"' >found
    [ "$(cat found)" -ge 30 ]
    stop
}

@test "store resketch: what it refuses, and that it leaves nothing behind" {
    make_store
    stop
    run neardup store resketch store second
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store resketch needs the recipe of the new store: --recipe" ]
    run neardup store resketch --recipe default store store
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store: it is there already" ]
    run neardup store resketch --recipe seshasai-2009 store second
    [ "$status" -eq 2 ]
    [[ $output == *"name it with --df FILE"* ]]
    run neardup store resketch --recipe dean-henzinger-1999 store second
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store: has no markup, which the recipe reads: post the documents again" ]
    printf '[signature s]\nfields = title:1\n[decide]\ncandidates = match\nmatch = distance(s) <= 3\nverify = none\n' >my.ini
    run neardup store resketch --recipe my.ini store second
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store: has no field 'title', which the recipe reads: post the documents again" ]
    [ "$(echo *)" = "docs.jsonl my.ini server.err store" ]
}

@test "store compact: deleted texts leave the disk" {
    make_store
    run neardup store compact store
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: store: another process has the store open" ]
    stop
    [ "$(figure garbage_bytes)" -gt 0 ]
    neardup store compact --all store
    [ "$(figure garbage_bytes)" -eq 0 ]
    neardup store check store
}

@test "store stats: figures, as a table or JSON" {
    make_store
    [ "$(figure documents)" = 30 ]
    stop
    neardup store stats store | grep -qx 'documents  *30'
    [ "$(figure versions)" = 31 ]
    [ "$(figure security_sets)" = 2 ]
}

@test "store: wrong usage" {
    needs_server_program
    while IFS='|' read -r message arguments; do
        # shellcheck disable=SC2086 # words
        run neardup store $arguments
        [ "$status" -eq 2 ]
        # shellcheck disable=SC2053 # a pattern
        [[ $output == "neardup: "$message ]] || { echo "$arguments: $output"; return 1; }
    done <<'END'
store takes check, export, import, compact, stats, backup or resketch*|
store takes check, export, import, compact, stats, backup or resketch*|verify store
store check takes the folder of a store*|check
store check takes the folder of a store*|check a b
store backup takes the folder of a store and one for the new one*|backup a
store import takes the folder of a store and files of an export*|import
nothing: there is no store|check nothing
nothing: there is no store|export nothing
nothing: there is no store|stats nothing
store stats has no option --all; it applies to: compact|stats --all store
END
}

# Each document of make_store, as a service gives it: status and text.
told() {
    for i in $(seq 30); do
        for below in "" /near /cluster /versions; do
            curl -s --noproxy '*' -w ' %{http_code}\n' "$url/v1/documents/d$i$below?security="
        done
    done
}

@test "slow: serve: a store with damaged pages is refused, or answers as the whole one did" {
    make_store
    told >before
    stop
    cp -r store whole
    # A sanitizer would end the process with a status of its own, where a signal is expected.
    # shellcheck disable=SC2030,SC2031
    export ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0
    refused=0 answered=0
    for seed in $(seq "$(sized 200 25)"); do
        rm -rf store
        cp -r whole store
        python3 - store/catalog.mdb "$seed" <<'PY'
import os, random, sys
r = random.Random(int(sys.argv[2]))
with open(sys.argv[1], "r+b") as f:
    size = os.path.getsize(sys.argv[1])
    f.seek(r.randrange(8192, size) // 512 * 512)
    f.write(r.randbytes(512))
PY
        if start "$NEARDUP" serve --listen 127.0.0.1:0 store >/dev/null; then
            told >after
            stop
            cmp before after
            answered=$((answered + 1))
        else
            if wait "$pid"; then status=0; else status=$?; fi
            pid=
            [ "$status" -eq 2 ]
            grep -q "damaged\|catalog.mdb: " server.err
            refused=$((refused + 1))
        fi
    done
    [ "$refused" -gt 0 ]
    [ "$answered" -gt 0 ]
}
