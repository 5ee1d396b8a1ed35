#!/usr/bin/env bash
# lint-python.sh - the Python package's form, types, stubs and docstrings
#
# usage: tools/lint-python.sh FOLDER ENVIRONMENT
#
# ENVIRONMENT is one into which tools/test-python.sh has installed the package.  The tools go into
# another, FOLDER, which sees its packages.  Status 77: PyPI cannot be reached, and nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1") package=$(realpath "$2")
status=0
failed() {
    echo "lint-python: $1" >&2
    status=1
}
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --retries 1 ruff==0.17.6 mypy==2.4.1 numpydoc==1.11.0 || {
    echo "lint-python: skipped: PyPI cannot be reached"
    exit 77
}
sees=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$package/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$sees/package.pth"

cd python
echo "lint-python: formatting"
"$folder/bin/ruff" format --no-cache --diff . || failed "run 'ruff format' in python/"
echo "lint-python: ruff"
"$folder/bin/ruff" check --no-cache . || failed "ruff complains"
echo "lint-python: types"
"$folder/bin/mypy" --cache-dir "$folder/mypy" src || failed "mypy complains"
echo "lint-python: stubs"
# From elsewhere, so that what is installed is compared.
(cd "$folder" && bin/stubtest --mypy-config-file "$OLDPWD/pyproject.toml" neardup._native) || failed "_native.pyi is not what the module has"
echo "lint-python: docstrings"
(cd "$folder" && bin/python -P "$OLDPWD/../tools/check_docstrings.py") || failed "numpydoc complains"
exit $status
