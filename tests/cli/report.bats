#!/usr/bin/env bats
# report.bats - dedup --report: the page of a run

bats_require_minimum_version 1.5.0
load common

@test "report: it shows what the manifest says, and is the same in every way of running" {
    python3 "$BATS_TEST_DIRNAME/report_model.py" "$NEARDUP" 6
}

@test "report: names and texts from outside become no markup" {
    cat >in.jsonl <<'END'
{"id":"<script>1</script>","text":"<b>the</b> committee meets on Monday at ten in room 12 of the old town hall & more"}
{"id":"\"><img src=x>","text":"<b>the</b> committee meets on Monday at ten in room 14 of the old town hall & more"}
END
    neardup dedup -q --threshold 0.5 -o out --report page.html in.jsonl
    [ "$(grep -c '<script' page.html)" = 1 ]
    run -1 grep -e '<b>' -e '<img' page.html
    grep -qF '&lt;script&gt;1&lt;/script&gt;' page.html
    grep -qF 'room <del>12</del> of' page.html
    grep -qF 'room <ins>14</ins> of' page.html
    grep -qF 'only numbers differ, or dates' page.html
}

@test "report: a pipe, nothing removed, and no document near" {
    printf '{"id":1,"text":"one two three four five six seven"}\n' >in.jsonl
    neardup dedup -q -f jsonl -o out --report page.html <in.jsonl
    grep -q '<h2>Removed</h2><p class="tile-value">0<' page.html
    run -1 grep -e 'id="closest"' -e 'id="sizes"' page.html
    cat in.jsonl in.jsonl >twice.jsonl
    neardup dedup -q -f jsonl -o out --report page.html <twice.jsonl
    grep -q '<h2>Equal bytes</h2><p class="tile-value">1<' page.html
    grep -q 'id="sizes"' page.html
    run -1 grep 'id="closest"' page.html
}

@test "report: it is refused where texts are not there, or where it is an input" {
    echo '{"id":1,"text":"one two three four five six seven"}' >in.jsonl
    neardup sketch -q in.jsonl -o in.sketch
    run -2 neardup dedup in.sketch -q -o out.sketch --report page.html
    [[ $output == *"report: in.sketch is a sketch file, and this needs the documents themselves"* ]]
    [ ! -e page.html ]
    cp in.jsonl same.jsonl
    run -2 neardup dedup -q in.jsonl -o out --report in.jsonl
    cmp in.jsonl same.jsonl
    neardup dedup -q --dry-run in.jsonl --report page.html
    [ ! -e page.html ]
}

@test "report: an old document stands beside nothing" {
    echo '{"id":1,"text":"one two three four five six seven"}' >old.jsonl
    sed 's/:1/:2/; s/seven/eight/' old.jsonl >new.jsonl
    neardup sketch -q old.jsonl -o old.sketch
    neardup dedup -q new.jsonl -o out --against old.sketch --threshold 0.5 --report page.html
    grep -q '<h2>Near</h2><p class="tile-value">1<' page.html
    run -1 grep 'class="case"' page.html
}

make_corpus() {
    cat >in.jsonl <<'END'
{"id":"a","text":"the committee meets on Monday at ten in room 12 of the old town hall"}
{"id":"b","text":"the committee meets on Monday at ten in room 14 of the old town hall"}
{"id":"c","text":"quite another text that is about fish and chips and nothing else at all"}
{"id":"d","text":"quite another text that is about fish and chips and nothing else at all"}
END
    neardup dedup -q --threshold 0.5 --differs -o out --manifest m.jsonl --report page.html in.jsonl
}

@test "report MANIFEST: without the corpus it has the numbers, and says what it does not have" {
    make_corpus
    mv in.jsonl elsewhere.jsonl
    run -3 neardup report m.jsonl -o again.html
    [[ $output == *"the texts of 1 of 1 pairs were not found"* ]]
    grep -q '<h2>Documents</h2><p class="tile-value">4<' again.html
    grep -q '<h2>Equal bytes</h2><p class="tile-value">1<' again.html
    grep -q 'This input is not here: in.jsonl.' again.html
    grep -q 'resemblance 0.6250' again.html
    grep -q 'only numbers differ, or dates; the texts are not here' again.html
    run -1 grep 'class="beside"' again.html
    # Found by ids elsewhere, in a file and in a folder, as a pipe and by a list.
    mkdir folder
    cp elsewhere.jsonl folder/x.jsonl
    sed 's/elsewhere.jsonl\|in.jsonl//g' page.html >bare.html
    neardup report -q m.jsonl elsewhere.jsonl -o again.html
    diff <(sed 's/elsewhere.jsonl//g; s/in.jsonl//g' again.html) bare.html
    neardup report -q m.jsonl folder >again.html
    diff <(sed 's/in.jsonl//g' again.html) bare.html
}

@test "report MANIFEST: a text that has changed is shown, and said to be another" {
    make_corpus
    sed -i 's/room 14/room 14 or 15/' in.jsonl
    neardup report -q m.jsonl -o again.html
    grep -q '<strong>the texts have changed since</strong>' again.html
    grep -q 'In 1 pair the texts are others than in the run' again.html
    grep -qF 'or 15</ins>' again.html
    # The document of this id at the place is gone.
    sed -i 's/"id":"b"/"id":"e"/' in.jsonl
    run -3 neardup report -q m.jsonl -o again.html
}

@test "report MANIFEST: rows of other tools, with what they have" {
    make_corpus
    printf '{"removed":"b"}\n{"removed":"d"}\n' >foreign.jsonl
    neardup report -q foreign.jsonl -o again.html
    grep -q '<h2>Removed</h2><p class="tile-value">2<' again.html
    grep -q 'no first line of neardup' again.html
    run -1 grep -e '<h2>Documents</h2>' -e '<h2>Near</h2>' -e 'class="case"' again.html
    printf '{"removed":"b","kept":"a","resemblance":0.5}\n{"removed":"d","kept":"a","resemblance":null}\n' >foreign.jsonl
    neardup report -q foreign.jsonl in.jsonl -o again.html
    grep -q '<h2>Clusters</h2><p class="tile-value">1<' again.html
    grep -q 'resemblance 0.5000' again.html
    grep -qF '<del>12</del>' again.html
    # A recipe of a later version.
    sed '1s/max_checks = 256/later_key = 256/' m.jsonl >later.jsonl
    neardup report -q later.jsonl -o again.html
    grep -q 'Its recipe is none that this version' again.html
    grep -q 'later_key' again.html
    run -1 grep 'id="measured"' again.html
}

@test "report MANIFEST: what is no manifest is refused, with its line" {
    make_corpus
    neardup dedup -q --threshold 0.5 -o out --clusters c.tsv in.jsonl
    run -2 neardup report c.tsv -o again.html
    [[ $output == *"c.tsv:1: not a manifest: a report is made from"* ]]
    head -n 2 m.jsonl >broken.jsonl
    echo '{"removed":"x",' >>broken.jsonl
    run -2 neardup report broken.jsonl -o again.html
    [[ $output == *"broken.jsonl:3: "* ]]
    echo '{"other":1}' >other.jsonl
    run -2 neardup report other.jsonl -o again.html
    [[ $output == *"other.jsonl:1: not a row of a manifest"* ]]
    : >empty.jsonl
    run -2 neardup report empty.jsonl -o again.html
    [[ $output == *"empty.jsonl: not a manifest: it has no rows"* ]]
    neardup filter -q -p in.jsonl in.jsonl -o out --manifest filter.jsonl
    run -2 neardup report filter.jsonl -o again.html
    [[ $output == *"filter.jsonl: a manifest of filter, which removes nothing"* ]]
    run -2 neardup report - -o again.html
    [[ $output == *"reads the manifest twice, so it cannot be a pipe"* ]]
    mkfifo pipe
    run -2 neardup report pipe -o again.html
    [[ $output == *"reads the manifest twice, so it cannot be a pipe"* ]]
    run -2 neardup report missing.jsonl -o again.html
    [[ $output == *"missing.jsonl"* ]]
    run -3 neardup report m.jsonl gone.jsonl -o gone.html
    [[ $output == *"gone.jsonl"* ]]
    run -2 neardup report
    [[ $output == *"report needs a manifest"* ]]
    cp in.jsonl same.jsonl
    run -2 neardup report m.jsonl -o in.jsonl
    cmp in.jsonl same.jsonl
    run -2 neardup report m.jsonl -o m.jsonl
    [ ! -e again.html ]
}
