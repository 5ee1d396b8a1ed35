#!/usr/bin/env bats
# sketched.bats - sketch files in place of documents: the same answers, or why there are none

bats_require_minimum_version 1.5.0
load common

# Two files of documents: new ones, edited copies, copies in other capitals, equal, short and empty
# ones; some without an id, one that is not valid UTF-8 as it is.
corpus() {
    python3 - "$(sized 900 300)" <<'END'
import json, random, sys
random.seed(5)
texts = []
with open("a.jsonl", "wb") as a, open("b.jsonl", "wb") as b:
    for i in range(int(sys.argv[1])):
        kind = random.random()
        words = random.choice(texts).split() if texts and kind < 0.6 else [
            "w%d" % random.randrange(3000) for _ in range(random.choice([0, 1, 2, 20, 40, 80]))]
        for _ in range(random.randrange(5) if kind < 0.3 else 0):
            if words:
                words[random.randrange(len(words))] = "w%d" % random.randrange(3000)
        text = " ".join(words)
        texts.append(text)
        if kind > 0.9:
            text = text.upper()
        record = {"text": text} if i % 9 == 0 else {"id": f"d{i}", "text": text}
        line = json.dumps(record).encode()
        if i % 50 == 49 and text:
            line = line.replace(b'"text": "', b'"text": "\xff ')
        (a if i % 3 else b).write(line + b"\n")
END
}

# What a run over documents says that one over their sketches does not.
as_sketched() {
    tail -n +2 "$1" | sed 's/"verified":true/"verified":"sketch"/'
}

# dedup, with these options, of the documents and of their sketches.
compare_dedup() {
    neardup dedup -q "$@" a.jsonl b.jsonl -o kept.jsonl --manifest docs.man --clusters docs.cl
    neardup dedup -q "$@" all.sketch -o kept.sketch --manifest sketch.man --clusters sketch.cl
    cmp docs.cl sketch.cl
    diff <(as_sketched docs.man) <(tail -n +2 sketch.man)
    neardup sketch verify kept.sketch
    diff <(python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line).get("id"))' <kept.jsonl) \
        <(neardup sketch dump kept.sketch | python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(None if row["id"] == row["at"] else row["id"])')
}

@test "dedup of sketches removes what dedup of the documents does" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    compare_dedup
    [ "$(wc -l <docs.man)" -gt 20 ]
    grep -q '"identical":"bytes"' sketch.man
    grep -q '"identical":"tokens"' sketch.man
    grep -q '"verified":"sketch"' sketch.man
    for options in "--threshold 0.5 -j 1" "--set cluster=components -j 3" \
        "--set cluster=complete --threshold 0.6" "--set keep=last -j 2" \
        "--set keep=last --set cluster=components" "--set short=tokens" "--set short=keep" \
        "--verify containment --threshold 0.6" "--verify cosine --threshold 0.7" \
        "--set candidates=simhash --threshold 0.5 --set simhash_bits=8" \
        "--set candidates=all --threshold 0.5"; do
        # shellcheck disable=SC2086
        compare_dedup $options
    done
}

@test "without shingles nothing is verified" {
    corpus
    neardup sketch --no-shingles a.jsonl b.jsonl -o all.sketch
    for options in "--verify none" "--verify none --set cluster=components -j 2" \
        "--verify none --set candidates=simhash --set keep=last"; do
        # shellcheck disable=SC2086
        compare_dedup $options
    done
    run -2 neardup dedup all.sketch -o kept.sketch
    [[ $output == *"all.sketch: was made with --no-shingles"*"--verify none"* ]]
    [ ! -e kept.sketch.jsonl ]
}

@test "the fingerprint of a signature decides, and df tables are none of the sketches' business" {
    corpus
    neardup sketch --recipe manku-2007 a.jsonl b.jsonl -o all.sketch
    compare_dedup --recipe manku-2007
    compare_dedup --recipe manku-2007 --set cluster=components
}

@test "what made the sketches comes from the file, unless the recipe says otherwise" {
    corpus
    neardup sketch --set shingle=5 a.jsonl b.jsonl -o all.sketch
    neardup dedup -q --set shingle=5 a.jsonl b.jsonl -o kept.jsonl --clusters docs.cl
    neardup dedup -q all.sketch -o kept.sketch --clusters sketch.cl
    cmp docs.cl sketch.cl
    run -2 neardup dedup --set shingle=4 all.sketch -o no.sketch
    [[ $output == *"all.sketch: its sketches were made by another recipe: shingle differs"* ]]
    [ ! -e no.sketch ]
    neardup sketch a.jsonl -o other.sketch
    run -2 neardup dedup all.sketch other.sketch -o no.sketch
    [[ $output == *"other.sketch: its sketches were made by another recipe: shingle differs"* ]]
    run -2 neardup dedup --recipe broder-1997 all.sketch -o no.sketch
    [[ $output == *"all.sketch"*"another recipe"* ]]
}

@test "several sketch files are read one after the other" {
    corpus
    neardup sketch a.jsonl -o a.sketch
    neardup sketch b.jsonl -o b.sketch
    neardup sketch a.jsonl b.jsonl -o all.sketch
    neardup dedup -q all.sketch -o one.sketch --manifest one.man
    neardup dedup -q a.sketch b.sketch -o two.sketch --manifest two.man
    cmp one.sketch two.sketch
    cmp one.man two.man
    neardup dedup -q --set keep=last a.sketch b.sketch -o two.sketch --removed gone.sketch
    neardup sketch info two.sketch >two
    neardup sketch info gone.sketch >gone
    [ $(($(sed -n 's/documents: //p' two) + $(sed -n 's/documents: //p' gone))) = \
        "$(cat a.jsonl b.jsonl | wc -l)" ]
    neardup sketch dump two.sketch | sed 's/.*"at":"\([^":]*\).*/\1/' | sort -u >files
    [ "$(cat files)" = "$(printf 'a.jsonl\nb.jsonl')" ]
    # what survives is sketches that can be read in turn
    neardup dedup -q one.sketch -o again.sketch --clusters again.cl
    [ "$(cut -f1 again.cl)" = "$(cut -f2 again.cl)" ]
}

@test "no survivors are written where only evidence is asked for" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    neardup dedup -q a.jsonl b.jsonl -o kept.jsonl --clusters docs.cl
    neardup dedup -q all.sketch --clusters sketch.cl >out
    cmp docs.cl sketch.cl
    [ ! -s out ]
    neardup dedup --dry-run all.sketch
    run -2 neardup dedup all.sketch
    [[ $output == *"-o FILE.sketch"*"--clusters"*"--dry-run"* ]]
    run -2 neardup dedup all.sketch -o - --clusters sketch.cl
    [[ $output == *"-o FILE.sketch"* ]]
    run -2 neardup dedup all.sketch -o all.sketch
    [[ $output == *"all.sketch"*"choose another output"* ]]
    neardup sketch verify all.sketch
}

@test "pairs of sketches are pairs of the documents" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    for options in "" "--threshold 0.5 -j 3" "--json" "--set candidates=simhash" \
        "--verify containment --threshold 0.7"; do
        # shellcheck disable=SC2086
        neardup pairs -q $options a.jsonl b.jsonl >docs
        # shellcheck disable=SC2086
        neardup pairs -q $options all.sketch >sketches
        [ -s docs ]
        cmp docs sketches
    done
    run -2 neardup pairs --site url all.sketch
    [[ $output == *"sketch file"* ]]
}

@test "what needs the texts says so" {
    corpus
    neardup sketch a.jsonl -o a.sketch
    for options in "--within lang" "--never id=d1" "--prefer id=d1" "--annotate" \
        "--output-dir out" "--copy-to out" "--link-to out"; do
        # shellcheck disable=SC2086
        run -2 neardup dedup $options a.sketch
        [[ $output == *"a.sketch is a sketch file, and this needs the documents themselves"* ]]
        [ ! -e out ]
    done
    for keep in longest shortest newest:date max:n; do
        run -2 neardup dedup --set keep="$keep" a.sketch -o kept.sketch
        [[ $output == *"keep: "*"a.sketch"*"'$keep' needs the documents themselves"* ]]
    done
    for command in "mirrors" "anchors" "sketch" "df build -o x.df"; do
        # shellcheck disable=SC2086
        run -2 neardup $command a.sketch
        [[ $output == *"a.sketch is a sketch file: this command needs the documents"* ]]
    done
    run -2 neardup dedup - <a.sketch
    [[ $output == *"is a sketch file"*"by its name"* ]]
    run -2 neardup dedup a.sketch b.jsonl -o kept.sketch
    [[ $output == *"a.sketch is a sketch file, and b.jsonl is not"* ]]
    run -2 neardup dedup b.jsonl a.sketch -o kept.sketch
    [[ $output == *"a.sketch is a sketch file, and b.jsonl is not"* ]]
}

@test "a sketch file that was cut or altered is refused" {
    corpus
    neardup sketch a.jsonl -o a.sketch
    size=$(stat -c %s a.sketch)
    head -c $((size - 1)) a.sketch >cut.sketch
    run -2 neardup dedup cut.sketch -o kept.sketch
    [[ $output == *"cut.sketch: the sketch file is damaged"* ]]
    cp a.sketch altered.sketch
    printf '\377' | dd of=altered.sketch bs=1 seek=20000 conv=notrunc status=none
    run -2 neardup dedup altered.sketch -o kept.sketch
    [[ $output == *"altered.sketch: the sketch file is damaged"* ]]
    run -2 neardup dedup --set keep=last altered.sketch -o kept.sketch
    [[ $output == *"altered.sketch: the sketch file is damaged"* ]]
    [ ! -e kept.sketch ]
}
