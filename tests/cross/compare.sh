#!/usr/bin/env bash
# compare.sh - the command for another system beside that of this one: the same bytes
#
# usage: tests/cross/compare.sh NEARDUP OTHER FOLDER [CORPUS.jsonl.zst]
#
# OTHER is what runs the other command: its path, after that of an emulator if it needs one, as in
# "wine64 neardup.exe".  Every command runs in a folder for each of the two, on the same inputs.  Its
# standard output and error, its status and all files in the folder are compared at the end.  Without
# CORPUS the documents are made here, with names and texts in several scripts; of CORPUS the first 4,000
# are taken.
set -euo pipefail
native=$(realpath "$1")
read -ra other <<<"$2"
other[-1]=$(realpath "${other[-1]}")
folder=$(realpath -m "$3")
corpus=${4:+$(realpath "$4")}
export LC_ALL=C.UTF-8 # wine takes names of files in the charset of the locale

rm -rf "$folder"
mkdir -p "$folder/here" "$folder/there"
cd "$folder"
if [ -n "$corpus" ]; then
    zstd -qdc "$corpus" | sed -n 1,4000p >in.jsonl
else
    python3 - <<'END'
import json, random
draw = random.Random(7)
words = ["".join(draw.choice("abcdefghijklmnoprstuvwyäéж漢") for _ in range(draw.randint(2, 9))) for _ in range(4000)]
texts = []
with open("in.jsonl", "w", encoding="utf-8", newline="\n") as out:
    for i in range(3000):
        text = draw.choice(texts).split() if texts and draw.random() < 0.3 else draw.choices(words, k=draw.randint(20, 200))
        for _ in range(draw.choice([0, 0, 1, 3, 30])):
            text[draw.randrange(len(text))] = draw.choice(words)
        texts.append(" ".join(text))
        out.write(json.dumps({"id": f"d{i}", "text": texts[-1]}, ensure_ascii=draw.random() < 0.2) + "\n")
END
fi
sed -n '1~3p' in.jsonl >first.jsonl
sed -n '2~3p' in.jsonl >second.jsonl
mapfile -t ids < <(head -n 2 in.jsonl | python3 -c 'import json, sys; [print(json.loads(line)["id"]) for line in sys.stdin]')
gzip -nk in.jsonl
zstd -q in.jsonl
python3 - <<'END'
import json
with open("rows.csv", "w", encoding="utf-8", newline="") as out:
    import csv
    rows = csv.writer(out)
    rows.writerow(["id", "text"])
    for line in open("first.jsonl", encoding="utf-8"):
        row = json.loads(line)
        rows.writerow([row.get("id", ""), row.get("text", "")])
END
python3 -c 'import random; d = random.Random(3); v = [d.getrandbits(64) for _ in range(2000)]; print("\n".join("%016x" % (d.choice(v) ^ 1 << d.randrange(64)) for _ in range(6000)))' >prints.txt
deep=$(python3 -c 'print("/".join("folder-%02d-of-a-name-that-is-long" % i for i in range(9)))') # 300 characters
for side in here there; do
    cp in.jsonl in.jsonl.gz in.jsonl.zst first.jsonl second.jsonl rows.csv prints.txt "$side/"
    mkdir -p "$side/$deep" "$side/tree/ünter 漢"
    cp first.jsonl "$side/$deep/"
    for i in 1 2 3; do sed -n "${i}p" first.jsonl >"$side/tree/ünter 漢/$i.txt"; done
    cp "$side/tree/ünter 漢/1.txt" "$side/tree/naïve.txt"
done

n=0
is_refused= # not empty: what follows must fail
both() { # ARGUMENT...: run by both, with $input as the standard input
    n=$((n + 1))
    local side status
    for side in here there; do
        status=0
        (
            cd "$side"
            if [ "$side" = here ]; then exec "$native" "$@"; else exec "${other[@]}" "$@"; fi
        ) <"${input:-/dev/null}" >"$side/$n.out" 2>"$side/$n.err" || status=$?
        echo "$status" >"$side/$n.status"
    done
    if [ -z "$is_refused" ] && [ "$(cat here/$n.status)" -gt 1 ]; then
        cat "here/$n.err" >&2
        exit 1
    fi
    echo "$n. neardup $* ($(cat here/$n.status), $(cat there/$n.status))"
}

both --version
both dedup -q in.jsonl -o kept.jsonl --manifest removed.tsv --clusters clusters.tsv --removed gone.jsonl
both dedup -q --threads 1 in.jsonl -o one.jsonl
both dedup -q in.jsonl.gz -o kept.jsonl.gz
both dedup -q in.jsonl.zst -o kept.jsonl.zst
both dedup -q rows.csv -o kept.csv
both dedup -q tree -o paths.txt
both dedup -q "$deep/first.jsonl" -o "$deep/kept.jsonl"
both dedup -q --keep longest --memory 64M in.jsonl -o longest.jsonl
both dedup -q --recipe manku-2007 in.jsonl -o simhash.jsonl
both dedup -q --recipe broder-1997 in.jsonl -o 'Übersicht 漢.jsonl'
both dedup -q in.jsonl -o annotated.jsonl --annotate
input=in.jsonl both dedup -q
both sketch -q in.jsonl -o all.sketch
both sketch verify all.sketch
both sketch info all.sketch
both dedup -q all.sketch -o kept.txt
both sketch -q first.jsonl -o old.sketch
both dedup -q --against old.sketch second.jsonl -o new.jsonl
both dedup -q --against old.sketch --append second.jsonl -o new-again.jsonl
both pairs -q in.jsonl -o pairs.tsv
both index build prints.txt -o prints.index
both index verify prints.index
both index query prints.index prints.txt
both index add prints.index prints.txt
both index merge prints.index
both index build --quiet --recipe manku-2007 in.jsonl -o documents.index
both index query --quiet documents.index second.jsonl
both join -k 3 prints.txt prints.txt
both df build -q first.jsonl -o words.df
both df info words.df
both df top words.df
both repeats -q in.jsonl -o cut.jsonl
both explain --corpus in.jsonl "${ids[@]}"
both compare --corpus in.jsonl "${ids[@]}"
both recipe list
both recipe show manku-2007
both eval --truth clusters.tsv clusters.tsv
both dedup -q --removed cut-out.jsonl first.jsonl -o first.jsonl
is_refused=yes
both dedup -q missing.jsonl -o never.jsonl
both dedup -q first.jsonl -o first.jsonl
both dedup -q in.jsonl -o no/such/folder.jsonl
both dedupe in.jsonl
rm -f {here,there}/*.calibration

# A command without the service says so where it must.
case ${other[-1]} in
*.exe)
    for name in serve store client reproduce; do
        "${other[@]}" "$name" >serve.out 2>serve.err && exit 1
        grep -qx "neardup: $name does not exist on Windows.*" serve.err || { cat serve.err >&2 && exit 1; }
    done
    ! "${other[@]}" help | grep -E '^ +(neardup )?(serve|store|client|reproduce) ' || exit 1
    ;;
esac

diff -r here there && echo "compare: $n commands, $(find here -type f | wc -l) files: the same bytes"
