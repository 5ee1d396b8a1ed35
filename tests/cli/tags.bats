#!/usr/bin/env bats
# tags.bats - tagged text whose elements a file names, by the commands that read documents

load common

bats_require_minimum_version 1.5.0

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '[document ART]\nid = DN, @id\ntitle = HL\nbody = LP + TEXT\nsection = SO\n' >wsj.tags
    {
        printf '<?xml version="1.0"?>\n<corpus>\n'
        article 1 "News" "$BUY"
        article 2 "Sport" "$MEET"
        article 3 "Sport" "$BUY now"
        printf '</corpus>\n'
    } >a.xml
    neardup sketch --tags wsj.tags a.xml 2>&1 | grep -q 'without libxml2' && skip "no libxml2"
    return 0
}

BUY="buy these wonderful pills now and never be tired again in all your long and happy life, which shall be as bright as a morning in may"
MEET="shall we meet on monday at the usual place and talk about the weather, my dear friend?"

# article ID SECTION TEXT
article() {
    printf '<ART id="%s"><HL>A title</HL><SO>%s</SO>\n<LP>%s</LP><TEXT>the end</TEXT></ART>\n' "$@"
}

@test "tags: documents are found, written and read again by the file" {
    neardup dedup -q --tags wsj.tags a.xml --manifest m.jsonl -o kept.xml
    [ "$(rows m.jsonl removed kept removed_at)" = '"3" "1" "a.xml:7"' ]
    python3 -c 'import xml.dom.minidom as m; assert len(m.parse("kept.xml").getElementsByTagName("ART")) == 2'
    neardup dedup -q --tags wsj.tags --within section a.xml --manifest w.jsonl -o all.xml
    [ "$(rows w.jsonl removed)" = "" ]
    neardup dedup -q --tags wsj.tags - <a.xml | cmp - kept.xml
    gzip -k a.xml
    neardup dedup -q --tags wsj.tags a.xml.gz | cmp - kept.xml
    mkdir in
    cp a.xml in
    neardup dedup -q --tags wsj.tags in --output-dir out
    cmp out/in/a.xml kept.xml
    neardup explain --tags wsj.tags --corpus a.xml 1 3 | grep -q "^resemblance: *0.84"
}

@test "tags: apply and report have them from the manifest" {
    neardup dedup -q --tags wsj.tags a.xml --manifest m.jsonl -o kept.xml
    rm wsj.tags
    neardup apply -q m.jsonl a.xml | cmp - kept.xml
    neardup report -q m.jsonl a.xml -o r.html
    grep -q "as bright as a morning" r.html
    sed '1s/LP + TEXT/LP TEXT/' m.jsonl >bad.jsonl
    run -2 neardup apply bad.jsonl a.xml
    [[ $output == *"bad.jsonl: its tags:4: 'LP TEXT': behind a name"* ]]
}

@test "tags: what is wrong with the file is said with its line" {
    printf '[document ART]\nid = DN\nid = ID\n' >twice.tags
    run -2 neardup dedup --tags twice.tags a.xml
    [ "${lines[0]}" = "neardup: --tags: twice.tags:3: 'id' is given twice, first on line 2" ]
    run -2 neardup dedup --tags none.tags a.xml
    [[ $output == *"none.tags: No such file or directory"* ]]
    run -2 neardup dedup --tags wsj.tags a.xml -o wsj.tags
    [[ $output == *"'wsj.tags' is read by this run"* ]]
}

@test "tags: the page shows the built-in sets" {
    awk '/^## The sets/ { on = 1 } /^```/ { if (on) inside = !inside; next } on && inside' \
        "$BATS_TEST_DIRNAME/../../docs/format/tags.md" >built-in.tags
    grep -q "^\[document REUTERS, DOC\]" built-in.tags
    {
        printf '<REUTERS NEWID="1"><TOPICS><D>a</D><D>b</D></TOPICS><DATE>d</DATE>\n'
        printf '<TEXT><TITLE>t</TITLE><BODY>%s</BODY></TEXT></REUTERS>\n' "$BUY"
        printf '<DOC><DOCNO>2</DOCNO><HL>h</HL><TEXT>%s</TEXT></DOC>\n' "$MEET"
        printf '<newsItem guid="3"><headline>h</headline><inlineXML><p>a</p><p>b</p></inlineXML></newsItem>\n'
    } >n.sgm
    neardup sketch -q n.sgm >without
    neardup sketch -q --tags built-in.tags n.sgm | cmp - without
    [ "$(wc -l <without)" -eq 3 ]
    grep -v " as page" built-in.tags >other.tags
    neardup sketch -q --tags other.tags n.sgm >with
    run -1 cmp -s with without
}
