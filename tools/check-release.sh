#!/usr/bin/env bash
# check-release.sh - a release that is made twice has the same bytes, and its checksums and its bill of
# materials are right
#
# usage: tools/check-release.sh PART...      (tools/make-release.sh has the parts)
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "check-release: $1" >&2
    exit 1
}
for time in first second; do
    RELEASE_PARTS="$*" tools/make-release.sh "$work/$time" >"$work/$time.log" 2>&1 || {
        tail -20 "$work/$time.log" >&2
        fail "it cannot be made"
    }
done
diff <(cd "$work/first" && sha256sum -- *) <(cd "$work/second" && sha256sum -- *) || fail "it differs from time to time"
[ "$(wc -l <"$work/first/SHA256SUMS")" -eq $(($(find "$work/first" -type f | wc -l) - 1)) ] || fail "a file has no checksum"
python3 - "$work/first" <<'END' || fail "the bill of materials does not have the files"
import hashlib, json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
bill = json.loads(next(folder.glob("*.spdx.json")).read_text())
said = {file["fileName"].removeprefix("./"): file["checksums"][1]["checksumValue"] for file in bill["files"]}
there = {
    path.name: hashlib.sha256(path.read_bytes()).hexdigest()
    for path in folder.iterdir()
    if path.name != "SHA256SUMS" and not path.name.endswith(".spdx.json")
}
assert said == there, said.keys() ^ there.keys()
END
# The sources, with their stemmers, are all that a build needs.
for archive in "$work"/first/neardup-*-source.tar.gz; do
    [ -e "$archive" ] || continue
    tar -xzf "$archive" -C "$work"
    (cd "$work"/neardup-[0-9]*[0-9] && cmake -S . -B build/release -DNEARDUP_TESTS=OFF -DNEARDUP_BENCH=OFF -DNEARDUP_PYTHON=OFF \
        -DCMAKE_BUILD_TYPE=Release) >"$work/configured" 2>&1 || {
        tail -20 "$work/configured" >&2
        fail "the sources cannot be configured"
    }
done
echo "check-release: $(find "$work/first" -type f | wc -l) files, twice with the same bytes"
