#!/usr/bin/env bash
# test-api.sh - schemathesis sends what web/openapi.json allows, and what it does not, to the service
#
# usage: tools/test-api.sh FOLDER COMMAND [SECONDS]
#
# FOLDER is where schemathesis goes, COMMAND the neardup that serves, SECONDS how long it tries (75):
# once with the administrator's view, and for a third of the time with the key of one label.  API_SEED
# takes other requests.  Status 77: COMMAND has no service.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1") command=$(realpath "$2") seconds=${3:-75}
if ! "$command" serve --help >/dev/null 2>&1; then
    echo "test-api: skipped: $command is built without the service"
    exit 77
fi
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5
work=$(mktemp -d)
server=
stop() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    server=
}
trap 'stop; rm -rf "$work"' EXIT

# serve NAME OPTION...: start a service on a store of its own, and set `address`.
serve() {
    local name=$1
    shift
    : >"$work/$name.log"
    "$command" serve --listen 127.0.0.1:0 "$@" "$work/$name" >"$work/$name.log" &
    server=$!
    until grep -q answers "$work/$name.log"; do
        kill -0 "$server" || exit 1
    done
    address=$(grep -o 'http://[^ ]*' "$work/$name.log")
}

# try SECONDS OPTION...: status 1 where an answer is not what the description says.  Left out is the
# check that what was deleted is gone: it looks for the id alone, which a document with other labels may
# have, too.
try() {
    local limit=$1
    shift
    (cd "$work" && PYTHONPATH=$OLDPWD "$folder/bin/schemathesis" --config-file "$work/schemathesis.toml" run "${address}openapi.json" \
        --checks all --exclude-checks use_after_free --continue-on-failure --max-time "$limit" --seed "${API_SEED:-1}" --no-color "$@")
}

sed "s|tests/service/schemathesis_hooks.py|$PWD/tests/service/schemathesis_hooks.py|" tests/service/schemathesis.toml >"$work/schemathesis.toml"
status=0
serve open
echo "test-api: without keys"
try "$((seconds * 2 / 3))" || status=1
kill -0 "$server" || status=1
stop

key=$("$command" serve --new-key reader --security news --keys "$work/keys")
serve keyed --keys "$work/keys"
echo "test-api: with a key"
try "$((seconds / 3))" --header "Authorization: Bearer $key" || status=1
kill -0 "$server" || status=1
stop
exit "$status"
