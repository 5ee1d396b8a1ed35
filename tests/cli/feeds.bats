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

@test "feeds: items of JSON Feed are documents, and survivors are one" {
    cat >a.json <<JSON
{
  "version": "https:\\/\\/jsonfeed.org\\/version\\/1.1",
  "title": "t \"items\": [ {", "x": {"items": [ {"id": "no"} ]},
  "items": [
    {"id": "one", "title": "News", "content_html": "<p>$BUY } ]", "tags": ["a", "b"], "authors": [{"name": "Ada"}, {"name": "Bob"}]},
    {"id": 2, "content_text": "$MEET", "date_published": "2024-01-02T10:00:00Z"},
    {"url": "http://x/3", "title": "News", "content_text": "$BUY now", "date_modified": "2024-01-03T10:00:00Z", "author": {"name": "Old"}}
  ],
  "later": [1]
}
JSON
    neardup dedup -q a.json --manifest m.jsonl -o out.json
    [ "$(rows m.jsonl removed kept removed_at)" = '"http://x/3" "one" "a.json:7"' ]
    {
        head -n 6 a.json | sed '6s/^ *//; 6s/,$//'
        echo ']}'
    } | cmp - out.json
    [ "$(python3 -c 'import json; print([i["id"] for i in json.load(open("out.json"))["items"]])')" = "['one', 2]" ]
    neardup dedup -q out.json | cmp - out.json
    neardup dedup -q - <a.json | cmp - out.json
    neardup dedup -q a.json --threads 1 --memory 64M | cmp - out.json
    gzip -k a.json
    neardup dedup -q a.json.gz | cmp - out.json
    tar cf a.tar a.json
    neardup dedup -q a.tar -o out.tar
    tar xOf out.tar a.json | cmp - out.json
    mkdir folder
    cp a.json folder/feed
    neardup dedup -q folder --output-dir out
    cmp out/folder/feed out.json
    run neardup dedup a.json -o again.json
    [[ $output == *"a.json: JSON Feed, 3 records"* ]]
    neardup dedup -q --within category a.json --manifest m.jsonl >out1
    [ "$(rows m.jsonl removed kept)" = "" ]
    neardup sketch -q --id-field author a.json | grep -o '"id":"[^"]*"' >authors
    [ "$(head -n 1 authors)" = '"id":"Ada, Bob"' ]
    neardup dedup -q --keep newest:date a.json --manifest m.jsonl >out1
    [ "$(rows m.jsonl removed kept)" = '"one" "http://x/3"' ]
}

@test "feeds: a version behind the items is written too, and what is no item is a bad record" {
    printf '{"items":[{"id":"1","content_text":"%s"},\n7,{"id":"2","content_text":"%s"}],"version":"https://jsonfeed.org/version/1"}' "$BUY" "$MEET" >a.json
    neardup dedup -q --max-bad 1 a.json -o out.json 2>err || [ $? -eq 3 ]
    grep -q "a.json:2: not a JSON object: it does not begin with '{'" err
    python3 -c 'import json; d = json.load(open("out.json")); assert d["version"] and len(d["items"]) == 2'
    printf '{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_text":"%s"},{"id":"2","con' "a third text of which nobody has ever read a word" >cut.json
    run -3 neardup dedup cut.json -o out2.json
    [[ $output == *"cut.json:1: not a JSON object: it ends too early"* ]] || [[ $output == *"cut.json:1: not a JSON object: a string is not closed"* ]]
    python3 -c 'import json; d = json.load(open("out2.json")); assert len(d["items"]) == 1'
    neardup dedup -q a.json cut.json --max-bad 1 -o both.json 2>err || [ $? -eq 2 ]
    grep -q "a.json and cut.json have different root elements" err
    printf '{"version":"https://jsonfeed.org/version/1.1","items":[]}\n' >none.json
    neardup dedup -q none.json | cmp - none.json
    neardup sketch -q a.json -o a.sketch 2>err || [ $? -eq 3 ]
    neardup dedup -q --max-bad 1 --against a.sketch a.json -o gone.json 2>err || [ $? -eq 3 ]
    python3 -c 'import json; d = json.load(open("gone.json")); assert d["items"] == []'
    printf '{"version":"https://example.org/1","items":[{"text":"x y z"}]}\n{"text":"x"}\n' >lines.json
    run neardup dedup --missing-text empty lines.json -o out3
    [[ $output == *"lines.json: JSON Lines, 2 records"* ]]
}
