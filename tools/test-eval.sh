#!/usr/bin/env bash
# test-eval.sh - the figures of neardup eval beside those of scikit-learn and er-evaluation
#
# usage: tools/test-eval.sh FOLDER COMMAND
#
# FOLDER is where the environment goes, COMMAND the neardup to test.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1") command=$(realpath "$2")

python3 -m venv "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check scikit-learn er-evaluation; then
    echo "skipped: scikit-learn and er-evaluation cannot be installed"
    exit 77
fi
"$folder/bin/python" tests/oracle/eval.py "$command" 10000 --rivals
