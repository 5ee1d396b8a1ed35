#!/usr/bin/env bats
# feeds.bats - RSS and Atom by the commands that read documents

load common

bats_require_minimum_version 1.5.0

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    a_feed >a.rss
    neardup sketch a.rss 2>&1 | grep -q 'without libxml2' && skip "no libxml2"
    return 0
}

BUY="buy these wonderful pills now and never be tired again in all your long and happy life"
MEET="shall we meet on monday at the usual place and talk about the weather, my dear friend?"
HEAD='<?xml version="1.0"?>\n<rss version="2.0">\n  <channel>\n    <title>t</title>\n    '

# item ID DATE HTML
item() {
    printf '<item><title>News</title><guid>%s</guid><pubDate>%s</pubDate>\n' "$1" "$2"
    printf '<description><![CDATA[%s]]></description></item>' "$3"
}

a_feed() {
    printf '%b' "$HEAD"
    item one "Mon, 01 Jan 2024 10:00:00 GMT" "<p>$BUY</p>"
    printf '\n    '
    item two "Tue, 02 Jan 2024 10:00:00 GMT" "$MEET </item>"
    printf '\n    '
    item three "Wed, 03 Jan 2024 10:00:00 GMT" "<b>$BUY</b> now"
    printf '\n  </channel>\n</rss>\n'
}

@test "feeds: an item is a document, and survivors are a feed" {
    neardup dedup -q a.rss --manifest m.jsonl -o out.rss
    [ "$(rows m.jsonl removed kept removed_at)" = '"three" "one" "a.rss:9"' ]
    {
        printf '%b' "$HEAD"
        item one "Mon, 01 Jan 2024 10:00:00 GMT" "<p>$BUY</p>"
        echo
        item two "Tue, 02 Jan 2024 10:00:00 GMT" "$MEET </item>"
        printf '\n</channel>\n</rss>\n'
    } | cmp - out.rss
    python3 -c 'import xml.dom.minidom as m; m.parse("out.rss")'
    neardup dedup -q out.rss | cmp - out.rss
    run neardup dedup a.rss -o again.rss
    [[ $output == *"a.rss: RSS or Atom, 3 records"* ]]
}

@test "feeds: fields decide who stays, and who is compared" {
    neardup dedup -q a.rss --keep newest:date --manifest m.jsonl >out
    [ "$(rows m.jsonl removed kept)" = '"one" "three"' ]
    neardup dedup -q a.rss --within date --manifest m.jsonl >out
    [ "$(rows m.jsonl removed kept)" = "" ]
    neardup dedup -q a.rss --id-field guid --text-field body --manifest m.jsonl >out
    [ "$(rows m.jsonl removed kept)" = '"three" "one"' ]
}

@test "feeds: however they are named, packed and run, the documents and the survivors are the same" {
    neardup sketch -q a.rss >expected
    neardup dedup -q a.rss >kept
    gzip -k a.rss
    neardup sketch -q a.rss.gz | cmp - expected
    neardup sketch -q - <a.rss | cmp - expected
    mkdir -p folder
    cp a.rss folder/feed.xml
    neardup sketch -q folder | cmp - expected
    tar cf a.tar a.rss
    neardup sketch -q a.tar | cmp - expected
    neardup dedup -q a.tar -o out.tar
    tar xOf out.tar a.rss | cmp - kept
    neardup dedup -q a.rss --threads 1 | cmp - kept
    neardup dedup -q a.rss --memory 64M | cmp - kept
    neardup dedup -q - <a.rss | cmp - kept
    iconv -f UTF-8 -t UTF-16 a.rss >u.rss
    neardup sketch -q u.rss 2>/dev/null | cmp - expected
}

@test "feeds: items of several feeds go to one if their roots are alike, and to a folder as they came" {
    sed 's/<guid>/<guid>b-/; s/pills/cakes/g; s/monday/sunday/; s/tired/hungry/g' a.rss >b.rss
    neardup dedup -q a.rss b.rss -t 1 -o all.rss
    [ "$(neardup sketch -q all.rss | wc -l)" -eq 6 ]
    [ "$(grep -c '<channel>' all.rss)" -eq 1 ]
    sed 's/<rss version="2.0">/<rss version="2.0" xmlns:x="u">/' b.rss >c.rss
    run -2 neardup dedup -q a.rss c.rss -o other.rss
    [[ $output == *"a.rss and c.rss have different root elements"* ]]
    [ ! -e other.rss ]
    neardup dedup -q a.rss c.rss --output-dir out
    [ "$(neardup sketch -q out/a.rss | wc -l)" -eq 2 ]
    neardup sketch -q out/c.rss >sketches
    [ -s sketches ]
}

@test "feeds: a feed of which nothing stays is an empty feed" {
    neardup sketch -q a.rss -o a.sketch
    neardup dedup -q --against a.sketch a.rss -o none.rss
    { printf '%b' "$HEAD" && printf '\n</channel>\n</rss>\n'; } | cmp - none.rss
}

@test "feeds: what is cut short is reported, and the rest is read" {
    head -c 700 a.rss >cut.rss
    run -3 neardup dedup cut.rss -o out.rss
    [[ $output == *"cut.rss:9: the item is not closed: was the feed cut short?"* ]]
    [ "$(neardup sketch -q out.rss | wc -l)" -eq 2 ]
}

@test "feeds: collapse writes a feed" {
    neardup collapse -q a.rss -o out.rss
    python3 -c 'import xml.dom.minidom as m; m.parse("out.rss")'
    [ "$(neardup sketch -q out.rss | wc -l)" -eq 2 ]
}
