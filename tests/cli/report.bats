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
