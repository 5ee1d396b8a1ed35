#!/usr/bin/env bash
# demo.sh - deduplicate real documents of this machine, and show what was removed and why
set -euo pipefail
cd "$(dirname "$0")/.."

tools/bootstrap.sh build
make --no-print-directory all TARGET=neardup
neardup=$PWD/build/release/neardup
out=build/demo
rm -rf $out
mkdir -p $out

# Debian keeps texts for people here: changelogs, manuals.  Files named `copyright` are left out: many
# are one licence with other authors, nearly equal texts of which nobody may lose one.
wanted=('changelog*' 'README*' 'NEWS*' '*.txt' '*.html' '*.pod')
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
echo "$ neardup dedup ${places[*]} \\"
echo "      $(printf " --glob '%s'" "${wanted[@]}") \\"
echo "      --keep longest -o kept.txt --manifest removed.jsonl --clusters clusters.tsv \\"
echo "      --summary summary.json"
echo
# Debian links many folders to one another; that they are read once is no news here.
set +e
"$neardup" dedup "${places[@]}" "${globs[@]}" --keep longest -o $out/kept.txt \
    --manifest $out/removed.jsonl --clusters $out/clusters.tsv --summary $out/summary.json 2>&1 |
    grep -v 'is the same directory as'
status=${PIPESTATUS[0]}
set -e
if [ "$status" -ne 0 ] && [ ! -s $out/kept.txt ]; then exit "$status"; fi

# The value of a key in a row of the manifest; ids are paths here.
value() { sed -nE 's/.*"'"$1"'":"?([^",}]*).*/\1/p' <<<"$2"; }
text() { case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac; }

# Show how two texts differ, word by word: [-only in the first-] {+only in the second+}.
differing_words() {
    { diff --unified=6 <(text "$1" | tr -s '[:space:]' '\n') <(text "$2" | tr -s '[:space:]' '\n') ||
        true; } | awk '
        function enter(next_state) {
            if (next_state == state) return
            if (state == "-") line = line "-]"
            if (state == "+") line = line "+}"
            if (next_state == "-") line = line " [-"
            if (next_state == "+") line = line " {+"
            state = next_state
            fresh = state != " "
        }
        NR <= 2 { next }
        /^@@/ { enter(" "); if (line) print line; line = "..."; next }
        /^[-+ ]/ { enter(substr($0, 1, 1)); line = line (fresh ? "" : " ") substr($0, 2); fresh = 0 }
        END { enter(" "); if (line) print line }' | fold -s -w 94 | sed 's| *$||'
}

show_pair() { # ROW: two documents and what differs between them
    local removed kept differing lines
    removed=$(value removed "$1")
    kept=$(value kept "$1")
    [ -f "$removed" ] && [ -f "$kept" ] || return 0
    echo
    echo "- removed  $removed"
    echo "+ kept     $kept"
    LC_ALL=C printf '  resemblance %.4f: %s shingles in both, of %s and %s\n' \
        "$(value resemblance "$1")" "$(value shared "$1")" "$(value shingles_removed "$1")" \
        "$(value shingles_kept "$1")"
    differing=$(differing_words "$removed" "$kept")
    head -n 7 <<<"$differing" | sed 's/^/    /'
    lines=$(wc -l <<<"$differing")
    if [ "$lines" -gt 7 ]; then echo "    ... and $((lines - 7)) lines more"; fi
}

# Show a near duplicate at each of some resemblances, the most similar first.
echo
echo "Some of what was removed without being identical, and the words that differ; the last is among"
echo "the least similar, which should be read before documents are removed for good:"
grep '"identical":"no"' $out/removed.jsonl >$out/near.jsonl || true
near=$(wc -l <$out/near.jsonl)
for share in 75 50 25 2; do
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
