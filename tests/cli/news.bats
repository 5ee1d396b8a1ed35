#!/usr/bin/env bats
# news.bats - stories in SGML, NITF and NewsML-G2 by the commands that read documents

load common

bats_require_minimum_version 1.5.0

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    a_file >a.sgm
    neardup sketch a.sgm 2>&1 | grep -q 'without libxml2' && skip "no libxml2"
    return 0
}

BUY="buy these wonderful pills now and never be tired again in all your long and happy life"
MEET="shall we meet on monday at the usual place and talk about the weather, my dear friend?"

# story ID TOPIC TEXT
story() {
    printf '<REUTERS NEWID="%s">\n<TOPICS><D>%s</D></TOPICS>\n<TEXT>&#2;\n' "$1" "$2"
    printf '<TITLE>A TITLE</TITLE><BODY>%s\n&#3;</BODY></TEXT>\n</REUTERS>' "$3"
}

a_file() {
    echo '<!DOCTYPE lewis SYSTEM "lewis.dtd">'
    story 1 cocoa "$BUY"
    echo
    story 2 tea "$MEET"
    echo
    story 3 tea "$BUY now"
    echo
}

@test "news: a story is a document, and survivors are a file of stories" {
    neardup dedup -q a.sgm --manifest m.jsonl -o out.sgm
    [ "$(rows m.jsonl removed kept removed_at)" = '"3" "1" "a.sgm:14"' ]
    head -n 13 a.sgm | diff -B - out.sgm
    neardup dedup -q out.sgm | cmp - out.sgm
    neardup dedup -q a.sgm --within topics --manifest m.jsonl >out
    [ "$(rows m.jsonl removed kept)" = "" ]
}

@test "news: files that begin with a story, and several files, go to one" {
    printf '<DOC>\n<DOCNO>x</DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n' "$MEET" >x.sgml
    printf '<DOC>\n<DOCNO>y</DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n' "$BUY" >y.sgml
    printf '<DOC>\n<DOCNO>z</DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n' "$BUY" >z.sgml
    neardup dedup -q x.sgml y.sgml z.sgml -o all.sgml
    cat x.sgml y.sgml | diff -B - all.sgml
    neardup sketch -q - <x.sgml | grep -q '"id":"x"'
    run -2 neardup dedup <(head -c 40 x.sgml) -o out
    [[ $output == *"the story is not closed"* ]]
}

@test "news: a message keeps its frame" {
    {
        printf '<newsMessage><itemSet>'
        printf '<newsItem guid="a"><inlineXML><p>%s</p></inlineXML></newsItem>' "$BUY"
        printf '<newsItem guid="b"><inlineXML><p>%s</p></inlineXML></newsItem>' "$BUY"
        printf '</itemSet></newsMessage>'
    } >m.xml
    neardup dedup -q m.xml -o out.xml
    python3 -c 'import xml.dom.minidom as m; m.parse("out.xml")'
    [ "$(neardup sketch -q out.xml | wc -l)" -eq 1 ]
}
