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

# Leave out what a run over documents says and one over their sketches does not.
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
    [[ $output == *"all.sketch: keeps no shingles"*"--verify none"* ]]
    [ ! -e kept.sketch.jsonl ]
}

@test "the fingerprint of a signature decides" {
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

@test "a file that a rule's recipe made names it where the run has another" {
    corpus
    neardup sketch --recipe manku-2007 a.jsonl -o rule.sketch
    run -2 neardup dedup rule.sketch -o no.sketch
    [[ $output == *"rule.sketch: candidates: "*"; its own recipe is manku-2007 (--recipe)"* ]]
    run -2 neardup dedup a.jsonl --recipe broder-1997 --against rule.sketch -o no.jsonl
    [[ $output == *"rule.sketch: "*"another recipe: "*"; its own recipe is manku-2007 (--recipe)"* ]]
    neardup sketch --recipe manku-2007 --set shingle=4 a.jsonl -o own.sketch
    run -2 neardup dedup own.sketch -o no.sketch
    [[ $output == *"own.sketch: "*"; \`neardup sketch info\` prints its own recipe (--recipe)"* ]]
    neardup sketch info own.sketch | sed '1,/^$/d' >own.ini
    neardup dedup own.sketch --recipe ./own.ini -o kept.sketch -q
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
    [[ $output == *"all.sketch keeps no field 'url'"* ]]
}

@test "fields that records keep are read as those of documents" {
    for i in 1 2 3 4 5 6; do
        printf '{"id":%d,"lang":"%s","size":%d,"text":"the same words%s stand in each of these texts here"}\n' \
            "$i" "$([ $((i % 2)) = 0 ] && echo de || echo en)" $((i * 7 % 5)) "$([ "$i" = 4 ] && echo ' !!! aa bb')"
    done >docs.jsonl
    neardup sketch -q --record-field lang --record-field size --record-length docs.jsonl -o docs.sketch
    for options in "--within lang" "--never lang=en" "--prefer lang=de" "--keep max:size" \
        "--keep longest -t 0.5" "--keep shortest:lang" "--within lang --keep min:size"; do
        # shellcheck disable=SC2086
        neardup dedup -q $options docs.jsonl -o kept.jsonl --clusters docs.tsv
        # shellcheck disable=SC2086
        neardup dedup -q $options docs.sketch -o kept.sketch --clusters sketches.tsv
        cmp docs.tsv sketches.tsv
        # shellcheck disable=SC2086
        neardup dedup -q $options kept.sketch -o again.sketch # survivors keep the fields
    done
    run -2 neardup sketch --record-field lang docs.jsonl
    run -2 neardup dedup --record-length docs.jsonl
    [[ $output == *"record-length: no sketch file is made"* ]]
}

@test "what needs the texts says so" {
    corpus
    neardup sketch a.jsonl -o a.sketch
    for options in "--annotate" "--output-dir out" "--copy-to out" "--link-to out"; do
        # shellcheck disable=SC2086
        run -2 neardup dedup $options a.sketch
        [[ $output == *"a.sketch is a sketch file, and this needs the documents themselves"* ]]
        [ ! -e out ]
    done
    for options in "--within lang" "--never lang=d1" "--prefer lang=d1" "--keep newest:lang" \
        "--keep max:lang"; do
        # shellcheck disable=SC2086
        run -2 neardup dedup $options a.sketch -o kept.sketch
        [[ $output == *"a.sketch keeps no field 'lang': make it anew with neardup sketch --record-field lang"* ]]
    done
    for keep in longest shortest; do
        run -2 neardup dedup --keep $keep a.sketch -o kept.sketch
        [[ $output == *"a.sketch does not keep the lengths of texts"*"--record-length"* ]]
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

@test "filter takes sketches for the stream, for the prototypes, and for both" {
    corpus
    head -n 40 a.jsonl >prototypes.jsonl
    neardup sketch prototypes.jsonl -o prototypes.sketch
    neardup sketch b.jsonl -o b.sketch
    for options in "" "--threshold 0.5 -j 3" "--verify containment --threshold 0.6"; do
        # shellcheck disable=SC2086
        neardup filter -q $options --annotate --prototypes prototypes.jsonl b.jsonl >docs
        [ "$(grep -c '"match":true' docs)" -gt 3 ]
        # shellcheck disable=SC2086
        neardup filter -q $options --annotate --prototypes prototypes.sketch b.jsonl >"got.1"
        # shellcheck disable=SC2086
        neardup filter -q $options --annotate --prototypes prototypes.jsonl b.sketch >"got.2"
        # shellcheck disable=SC2086
        neardup filter -q $options --annotate --prototypes prototypes.sketch b.sketch >"got.3"
        for i in 1 2 3; do cmp docs "got.$i"; done
    done
    neardup filter -q --prototypes prototypes.jsonl b.jsonl -o docs.jsonl
    neardup filter -q --prototypes prototypes.sketch b.sketch -o rows.sketch
    neardup sketch docs.jsonl -o docs.sketch
    diff <(neardup sketch dump docs.sketch | sed 's/.*"text_hash"//') \
        <(neardup sketch dump rows.sketch | sed 's/.*"text_hash"//')
    run -2 neardup filter --prototypes prototypes.sketch b.sketch
    [[ $output == *"-o FILE.sketch"* ]]
    run -2 neardup filter --set shingle=4 --prototypes prototypes.sketch b.jsonl -o rows.jsonl
    [[ $output == *"prototypes.sketch: its sketches were made by another recipe: shingle differs"* ]]
    run -2 neardup filter --never lang=d1 --prototypes prototypes.sketch b.sketch -o rows.sketch
    [[ $output == *"b.sketch keeps no field 'lang'"* ]]
}

@test "collapse shows the results that it shows of the documents" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    neardup collapse -q a.jsonl b.jsonl -o docs.jsonl
    neardup collapse -q all.sketch -o shown.sketch
    neardup sketch docs.jsonl -o docs.sketch
    diff <(neardup sketch dump docs.sketch | sed 's/.*"text_hash"//') \
        <(neardup sketch dump shown.sketch | sed 's/.*"text_hash"//')
    for options in "--expand rank" "--expand rank --set keep=last --threshold 0.5"; do
        # shellcheck disable=SC2086
        neardup collapse -q $options a.jsonl b.jsonl >docs
        # shellcheck disable=SC2086
        neardup collapse -q $options all.sketch >sketches
        cmp docs sketches
    done
    run -2 neardup collapse all.sketch
    [[ $output == *"-o FILE.sketch"*"--expand"* ]]
    run -2 neardup collapse --order longest all.sketch -o shown.sketch
    [[ $output == *"order: all.sketch is a sketch file"* ]]
    run -2 neardup collapse --order max:n all.sketch -o shown.sketch
    [[ $output == *"all.sketch keeps no field 'n'"* ]]
}

@test "track follows the versions of one document" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    neardup track -q a.jsonl b.jsonl >docs
    neardup track -q all.sketch >sketches
    cmp docs sketches
    neardup sketch --recipe manku-2007 a.jsonl b.jsonl -o signed.sketch
    neardup track -q --recipe manku-2007 a.jsonl b.jsonl >docs
    neardup track -q --recipe manku-2007 signed.sketch >sketches
    cmp docs sketches
    run -2 neardup track --series url all.sketch
    [[ $output == *"all.sketch keeps no field 'url'"* ]]
}

@test "fingerprints come from sketch files" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    neardup sketch a.jsonl b.jsonl -o rows.jsonl
    neardup sketch b.jsonl -o b.sketch
    neardup join rows.jsonl rows.jsonl -k 4 | sort >docs
    neardup join all.sketch all.sketch -k 4 | sort >sketches
    [ -s docs ]
    cmp docs sketches
    neardup index build rows.jsonl -k 4 -o rows.ndx
    neardup index build all.sketch -k 4 -o sketches.ndx
    neardup index query rows.ndx rows.jsonl -k 4 | sort >docs
    neardup index query sketches.ndx all.sketch -k 4 | sort >sketches
    cmp docs sketches
    neardup index query rows.ndx b.sketch -k 4 | sort >"got.1"
    neardup index query sketches.ndx b.jsonl -k 4 | sort >"got.2"
    cmp got.1 got.2
    # a recipe with a fingerprint of its own
    neardup index build --recipe manku-2007 a.jsonl -o docs.ndx
    neardup sketch --recipe manku-2007 a.jsonl -o signed.sketch
    neardup index build signed.sketch -o signed.ndx
    cmp docs.ndx signed.ndx
    run -2 neardup join all.sketch all.sketch --bits 128
    [[ $output == *"all.sketch: fingerprints of 64 bits, not 128"* ]]
}

@test "bounded memory decides sketches as well" {
    corpus
    neardup sketch a.jsonl b.jsonl -o all.sketch
    neardup dedup -q all.sketch -o kept.sketch --manifest kept.man
    for options in "" "--set keep=last" "--set cluster=components"; do
        # shellcheck disable=SC2086
        neardup dedup -q $options all.sketch -o kept.sketch --manifest kept.man
        # shellcheck disable=SC2086
        neardup dedup -q $options --memory 256M all.sketch -o bound.sketch --manifest bound.man
        cmp kept.sketch bound.sketch
        cmp kept.man bound.man
    done
}

@test "the bytes of a sketch file are known" {
    cp "$BATS_TEST_DIRNAME/../vectors/sketch_file.jsonl" .
    neardup sketch -q sketch_file.jsonl -o known.sketch
    diff <(od -A x -t x1 known.sketch) "$BATS_TEST_DIRNAME/../vectors/sketch_file.txt"
}

@test "--sketches asks for sketch files, and decides parts as one machine does" {
    corpus
    for i in 1 2 3; do
        neardup sketch a.jsonl --part $i/3 -o part-$i.sketch -q
    done
    neardup sketch a.jsonl -o whole.sketch -q
    neardup dedup -q --sketches part-*.sketch -o parts.kept --clusters parts.tsv
    neardup dedup -q --sketches whole.sketch -o whole.kept --clusters whole.tsv
    cmp parts.tsv whole.tsv
    neardup dedup --sketches whole.sketch --clusters again.tsv 2>told
    grep -q " documents in .* s: " told
    neardup sketch dump parts.kept >parts.rows
    neardup sketch dump whole.kept >whole.rows
    cmp parts.rows whole.rows
    run neardup dedup --sketches a.jsonl -o kept
    [ "$status" -eq 2 ]
    [[ $output == *"sketches: a.jsonl is not a sketch file"* ]]
    [ ! -e kept ]
}
