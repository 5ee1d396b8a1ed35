#!/usr/bin/env bash
# check-packages.sh - the packages, the tarball and the wheel, each in a fresh Debian 12 that has nothing else
#
# usage: tools/check-packages.sh
#
# Says that it is skipped where no such system can be made: without mmdebstrap, root, or a mirror.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
    echo "skipped: $1"
    exit 77
}
fail() {
    echo "check-packages: $1" >&2
    exit 1
}

. tools/fresh-debian.sh
lacking=$(fresh_debian_lacks) || skip "$lacking"
make_fresh_debian || skip "no Debian 12 can be made here"

tools/make-deb.sh
root packages
mkdir "$work/packages/debs"
cp build/deb/*.deb debian/tests/smoke "$work/packages/debs/"
inside packages sh -ec 'apt-get update -q >/dev/null
    apt-get install -q -y --no-install-recommends $(ls /debs/*.deb | grep -v dbgsym) \
        gcc g++ pkg-config libc6-dev >/debs/log 2>&1' || {
    tail -20 "$work/packages/debs/log" >&2
    fail "the packages cannot be installed"
}
inside packages /debs/smoke || fail "the installed packages do not work"
inside packages sh -ec 'apt-get purge -q -y neardup neardup-server libneardup0 libneardup-dev >/dev/null 2>&1
    ! ls -d /usr/share/neardup /usr/include/neardup /usr/bin/neardup /usr/libexec/neardup /lib/systemd/system/neardup-server.service 2>/dev/null'
echo "packages: installed, tried and removed"

tools/make-tarball.sh
root tarball
cp build/neardup-*-linux-*.tar.gz "$work/tarball/"
inside tarball sh -ec 'mkdir /opt/try; cd /opt/try
    tar -xzf /neardup-*.tar.gz
    neardup-*/install >here
    neardup-*/install /opt/here >there
    ls -d neardup-*/bin >/dev/null
    printf "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"one\"}\n" >docs.jsonl
    rm -rf neardup-*
    [ "$(/opt/here/bin/neardup dedup -q docs.jsonl | wc -l)" -eq 1 ]
    echo "<p>one</p>" >page.html
    if /opt/here/bin/neardup sketch -q page.html 2>said; then exit 1; fi
    grep -q "Debian: libxml2" said' || fail "the tarball does not work"
for said in here there; do
    grep -q "^not found: libxml2" "$work/tarball/opt/try/$said" ||
        fail "the tarball does not say what is not found"
    grep -q "^to run it by its name" "$work/tarball/opt/try/$said" ||
        fail "the tarball does not say how to run it"
done
echo "tarball: unpacked, installed and tried"

# The wheel, where there is pip and no compiler, nor zstd: the command, the module, and what each lacks.
[ -n "$(ls build/wheel/dist/*-abi3-manylinux_*_"$(uname -m)".whl 2>/dev/null)" ] || tools/make-wheel.sh
root wheel
inside wheel sh -ec 'apt-get update -q >/dev/null
    apt-get install -q -y --no-install-recommends python3-venv >/log 2>&1' || fail "there is no pip for the wheel"
cp -R build/wheel/dist "$work/wheel/" # those of other systems, too, if they are there: pip takes its own
python3 - >"$work/wheel/corpus.jsonl" <<'END'
import json, random

chance = random.Random(1)
words = [f"w{i}" for i in range(5000)]
texts = []
for i in range(100_000):
    if texts and i % 10 == 0:
        texts.append(chance.choice(texts[-1000:]))
    else:
        texts.append(" ".join(chance.choices(words, k=30)))
    print(json.dumps({"id": i, "text": texts[-1]}))
END
inside wheel sh -ec '! command -v cc gcc
    python3 -m venv /opt/env
    begin=$(date +%s%N)
    /opt/env/bin/pip install --quiet --no-index --find-links /dist neardup
    end=$(date +%s%N)
    echo "wheel: installed in $(((end - begin) / 1000000)) ms"
    PATH=/opt/env/bin:$PATH
    rm /usr/lib/*/libzstd.so.*
    begin=$(date +%s%N)
    neardup dedup -q /corpus.jsonl -o /kept.jsonl.gz
    end=$(date +%s%N)
    echo "wheel: 100,000 records decided in $(((end - begin) / 1000000)) ms"
    gzip -d </kept.jsonl.gz >/kept.jsonl
    [ "$(wc -l </kept.jsonl)" -eq 90001 ]
    python -m neardup dedup -q /kept.jsonl.gz -o /again.jsonl.zst
    neardup dedup -q /again.jsonl.zst | cmp - /kept.jsonl
    python -c "import neardup; assert len(neardup.dedup([\"one two three\"] * 2).survivors) == 1"
    echo "<p>one two three</p>" >/page.html
    if neardup sketch -q /page.html 2>/said; then exit 1; fi
    grep -q "Debian: libxml2" /said
    if neardup doctor >/doctor; then exit 1; fi
    grep -q libxml2 /doctor
    printf PAR1PAR1 >/in.parquet
    if neardup dedup /in.parquet -o /out.parquet 2>/said; then exit 1; fi
    grep -q "pip install pyarrow" /said' || fail "the wheel does not work"
echo "wheel: installed in an environment and tried"
