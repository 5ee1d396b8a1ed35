#!/usr/bin/env bats
# content.bats - the key boilerplate: navigation and footers of pages are not compared

load common

bats_require_minimum_version 1.5.0

MENU='<ul><li><a href=/>Home</a><li><a href=/n>News</a><li><a href=/s>Sport</a><li><a href=/w>The weather</a></ul>'
OTHER='<div><a href=/1>Ten things to do</a></div><div><a href=/2>The best of what was said on all days</a></div>'
WAX='Wax runs slowly out of every comb that hangs here, and the hives stand in the sun all day long.'
CAKE='Twelve queens were counted last summer by visiting children who had brought a cake with honey.'

# page ARTICLE AROUND: a page.
page() {
    printf '<html><head><title>Bees</title></head><body>%s<p>%s</p><p>%s</p><div>(c) us</div></body></html>' "$2" "$1" "$1"
}

some_pages() {
    page "$WAX" "$MENU" >a.html
    page "$WAX" "$OTHER$OTHER$OTHER" >b.html
    page "$CAKE" "$MENU$MENU$MENU" >c.html
    page "$CAKE and tea" "$MENU$MENU$MENU" >d.html
    neardup sketch a.html 2>&1 | grep -q 'libxml2' && skip "libxml2 is missing"
    return 0
}

found() {
    neardup pairs -q -t 0.6 --set boilerplate="$1" "${@:2}" | cut -f 1-3 | tr '\t\n' ' ;'
}

@test "boilerplate: one article in two frames is a pair without them, whatever holds the pages" {
    some_pages
    [ "$(found keep a.html b.html c.html d.html)" = "c.html d.html 0.6875;" ]
    [ "$(found drop a.html b.html c.html d.html)" = "a.html b.html 1;c.html d.html 0.6;" ]
    for i in a b c d; do jq -Rs --arg id "$i" '{id: $id, text: .}' "$i.html" | jq -c . >>in.jsonl; done
    [ "$(found drop --text-format html in.jsonl)" = "a b 1;c d 0.6;" ]
    for i in a b; do
        printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/%s\r\nContent-Length: %d\r\n\r\n' "$i" "$(($(wc -c <$i.html) + 44))"
        printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n'
        cat "$i.html"
        printf '\r\n\r\n'
    done >in.warc
    [ "$(found drop in.warc)" = "http://x/a http://x/b 1;" ]
}

@test "boilerplate: survivors stay as they came; explain and sketches see what is compared" {
    some_pages
    neardup dedup -q --set boilerplate=drop a.html b.html c.html -o kept --manifest m.jsonl
    [ "$(cat kept)" = $'a.html\nc.html' ]
    grep -q '"removed_at":"b.html","kept_at":"a.html","method":"identity","identical":"bytes"' m.jsonl
    neardup sketch -q a.html -o all.sketch
    run -2 neardup pairs -q --set boilerplate=drop all.sketch
    [[ $output == *boilerplate* ]]
    neardup compare --set boilerplate=drop a.html b.html | grep -q '^resemblance: *1.000000'
}

@test "boilerplate: the key is in the canonical form only if it is drop" {
    run neardup recipe show --canonical default
    [[ $output != *boilerplate* ]]
    printf '[sketch]\nboilerplate = keep\n' >keep.ini
    [ "$(neardup recipe check keep.ini)" = "keep.ini: a recipe, fingerprint e35e8ae03b9ccdfb" ]
    printf '[sketch]\nboilerplate = drop\n' >drop.ini
    neardup recipe show --canonical drop.ini | grep -qx 'boilerplate = drop'
    run -2 neardup recipe check <(printf '[sketch]\nboilerplate = yes\n')
    [[ $output == *boilerplate* ]]
}

@test "fields of a page: rel=canonical, meta and lang group, prefer and name documents" {
    for i in 1 2 3; do
        printf '<html lang=%s><base href=http://x.org/s/><link rel=canonical href=%s><meta name=date content=200%s><title>T</title><p>%s' \
            "$([ $i = 3 ] && echo fr || echo en)" "../a?$((i / 3))" "$i" "$WAX" >$i.html
    done
    neardup sketch 1.html 2>&1 | grep -q 'libxml2' && skip "libxml2 is missing"
    [ "$(neardup dedup -q 1.html 2.html 3.html)" = "1.html" ]
    [ "$(neardup dedup -q --within language 1.html 2.html 3.html | tr '\n' ' ')" = "1.html 3.html " ]
    [ "$(neardup dedup -q --within canonical 1.html 2.html 3.html | tr '\n' ' ')" = "1.html 3.html " ]
    [ "$(neardup dedup -q --keep newest:date 1.html 2.html 3.html)" = "3.html" ]
    [ "$(neardup dedup -q --prefer language=fr 1.html 2.html 3.html)" = "3.html" ]
    [ "$(neardup pairs -q --id-field canonical 1.html 3.html | cut -f 1,2)" = $'http://x.org/a?0\thttp://x.org/a?1' ]
}

@test "boilerplate: a df table of pages read in one way is refused by a recipe that reads them in the other" {
    some_pages
    for way in keep drop; do
        neardup df build -q --recipe seshasai-2009 --set boilerplate=$way a.html b.html c.html -o $way.df
        neardup sketch -q --recipe seshasai-2009 --set boilerplate=$way --df $way.df a.html -o rows
    done
    run -1 cmp -s keep.df drop.df
    run -2 neardup pairs -q --recipe seshasai-2009 --df drop.df a.html b.html
    [[ $output == *'drop.df: the df table counts other texts: it has "boilerplate = drop", the recipe "boilerplate = keep"'* ]]
    run -2 neardup pairs -q --recipe seshasai-2009 --set boilerplate=drop --df keep.df a.html b.html
    [[ $output == *'keep.df: the df table counts other texts: it has "boilerplate = keep", the recipe "boilerplate = drop"'* ]]
    run -2 neardup df merge keep.df drop.df -o both.df
    [[ $output == *"boilerplate = drop"* ]]
}
