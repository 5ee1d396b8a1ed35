#!/usr/bin/env bash
# demo.sh - deduplicate real documents of this machine, and show what was removed and why
set -euo pipefail
cd "$(dirname "$0")/.."

tools/bootstrap.sh build
make --no-print-directory all
neardup=$PWD/build/release/neardup
out=build/demo
rm -rf $out
mkdir -p $out

# Where Debian keeps texts for people: licences, changelogs, manuals.
wanted=(copyright 'changelog*' 'README*' 'NEWS*' '*.txt' '*.html' '*.pod')
places=()
find_places() {
    places=()
    for place in /usr/share/doc /usr/share/common-licenses /usr/share/perl /usr/share/help; do
        if [ -d "$place" ]; then places+=("$place"); fi
    done
}
count_documents() {
    local tests=() name
    for name in "${wanted[@]}"; do tests+=(-o -name "$name"); done
    find "${places[@]}" -type f \( "${tests[@]:1}" \) 2>/dev/null | wc -l
}
find_places
if [ "$(count_documents)" -lt 100 ]; then
    tools/bootstrap.sh demo # a package of manuals
    find_places
fi

globs=()
for name in "${wanted[@]}"; do globs+=(--glob "$name"); done
echo
echo "$ neardup dedup ${places[*]} --keep longest -o kept.txt --manifest removed.jsonl \\"
echo "      --clusters clusters.tsv --summary summary.json"
echo
status=0
"$neardup" dedup "${places[@]}" "${globs[@]}" --keep longest -o $out/kept.txt \
    --manifest $out/removed.jsonl --clusters $out/clusters.tsv --summary $out/summary.json ||
    status=$?
if [ $status -ne 0 ] && [ ! -s $out/kept.txt ]; then exit $status; fi

# The value of a key in a row of the manifest; ids are paths here.
value() { sed -nE 's/.*"'"$1"'":"?([^",}]*).*/\1/p' <<<"$2"; }
text() { case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac; }

show_pair() { # ROW: what differs between two documents, side by side
    local removed kept differing
    removed=$(value removed "$1")
    kept=$(value kept "$1")
    [ -f "$removed" ] && [ -f "$kept" ] || return 0
    echo
    echo "removed  $removed"
    echo "kept     $kept"
    echo "resemblance $(value resemblance "$1"): $(value shared "$1") shingles shared," \
        "of $(value shingles_removed "$1") and $(value shingles_kept "$1"). Lines that differ:"
    differing=$(diff --side-by-side --suppress-common-lines --width=98 --expand-tabs \
        <(text "$removed") <(text "$kept") || true)
    head -n 8 <<<"$differing" | sed 's/^/  | /'
    if [ "$(wc -l <<<"$differing")" -gt 8 ]; then
        echo "  | ... $(($(wc -l <<<"$differing") - 8)) more"
    fi
}

# Of the near duplicates that are not identical, one each at some resemblances.
echo
echo "Some of what was removed without being identical:"
grep '"identical":"no"' $out/removed.jsonl >$out/near.jsonl || true
near=$(wc -l <$out/near.jsonl)
for share in 10 35 60 85; do
    [ "$near" -gt 0 ] || break
    row=$(while IFS= read -r line; do
        printf '%s\t%s\n' "$(value resemblance "$line")" "$line"
    done <$out/near.jsonl | LC_ALL=C sort -n | cut -f2- | sed -n "$((near * share / 100 + 1))p")
    show_pair "$row"
done

echo
echo "In $out/: kept.txt (the documents to keep), removed.jsonl (the others, each with the one it"
echo "duplicates and the evidence), clusters.tsv, summary.json. Why are two documents duplicates?"
if [ "$near" -gt 0 ]; then
    row=$(head -n 1 $out/near.jsonl)
    echo "  build/release/neardup explain $(value removed "$row") $(value kept "$row")"
fi
