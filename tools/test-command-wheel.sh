#!/usr/bin/env bash
# test-command-wheel.sh - a wheel of the command alone is installed by pip, and says what it lacks
#
# usage: tools/test-command-wheel.sh COMMAND
set -euo pipefail
command=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "test-command-wheel: $1" >&2
    exit 1
}

# The metadata of a wheel of the module, which is not built here.
mkdir -p "$work/neardup-9.8.7.dist-info/licenses" "$work/one" "$work/two"
printf 'Metadata-Version: 2.1\nName: neardup\nVersion: 9.8.7\nClassifier: Operating System :: POSIX :: Linux\n' \
    >"$work/neardup-9.8.7.dist-info/METADATA"
cp LICENSE "$work/neardup-9.8.7.dist-info/licenses/"
(cd "$work" && python3 -m zipfile -c neardup-9.8.7-cp311-abi3-any.whl neardup-9.8.7.dist-info)
for folder in one two; do
    SOURCE_DATE_EPOCH=1700000000 python3 tools/command_wheel.py "$command" win_amd64 "$work"/neardup-*.whl "$work/$folder" >/dev/null
done
cmp "$work"/*/neardup-9.8.7-py3-none-win_amd64.whl || fail "it has other bytes the second time"
python3 -m zipfile -e "$work/one/neardup-9.8.7-py3-none-win_amd64.whl" "$work/unpacked"
grep -q '^Classifier: Operating System :: Microsoft :: Windows$' "$work/unpacked/neardup-9.8.7.dist-info/METADATA" ||
    fail "it is not said to be for Windows"

# As a wheel for this machine, installed.
platform=$(python3 -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))')
wheel=$(python3 tools/command_wheel.py "$command" "$platform" "$work"/neardup-*.whl "$work")
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
said=$(env -i "$work/env/bin/neardup" --version)
[ "$said" = "$("$command" --version)" ] || fail "the command says: $said"
[ "$("$work/env/bin/python" -P -m neardup --version)" = "$said" ] || fail "python -m neardup is another program"
for file in bash-completion/completions/neardup zsh/site-functions/_neardup fish/vendor_completions.d/neardup.fish \
    neardup/neardup.ps1; do
    [ -s "$work/env/share/$file" ] || fail "it lacks the completion share/$file"
done
# shellcheck disable=SC2016 # the inner shell expands it
PATH="$work/env/bin:$PATH" bash -c '. "$1"
    COMP_WORDS=(neardup ded) COMP_CWORD=1
    _neardup neardup
    [ "${COMPREPLY[*]}" = dedup ]' bash "$work/env/share/bash-completion/completions/neardup" ||
    fail "the completion for bash does not complete"
if "$work/env/bin/python" -P -c 'from neardup import dedup' 2>"$work/said"; then fail "there is a module"; fi
grep -q 'brings the command neardup alone' "$work/said" || fail "it does not say that the module is missing"
echo "test-command-wheel: $(basename "$wheel") installed and tried"
