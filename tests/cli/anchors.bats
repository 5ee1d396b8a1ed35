#!/usr/bin/env bats
# anchors.bats - neardup anchors: what links say of pages, and recipes that read it

load common

site() {
    mkdir -p site/a
    cat >site/index.html <<'END'
<title>Start</title><p>Here you find <a href="a/bees.html">all about bees</a> and honey.
<p>Or <a href="a/wax.html#x"><img src=w></a> the page on wax, or <a href=mailto:x>mail</a>
END
    cat >site/a/bees.html <<'END'
<title>Bees</title><p>Bees live here. <a href="../index.html">Home</a> <a href="wax.html">wax</a> <a href="http://other.org/">other</a>
END
    cat >site/a/wax.html <<'END'
<title>Wax</title><base href="../"><a href="./">Home</a> Wax runs. See <a href="a/bees.html">bees</a> <a href="#top">top</a>
END
}

@test "anchors, words about them, and links both ways" {
    site
    neardup anchors -q --window 1 site -o pages.jsonl
    python3 - <<'PY'
import json
bees, wax, start = [json.loads(line) for line in open("pages.jsonl")]
assert [p["id"] for p in (bees, wax, start)] == ["site/a/bees.html", "site/a/wax.html", "site/index.html"]
assert (bees["url"], start["url"], start["title"]) == ("/a/bees.html", "/", "Start")
assert start["text"].startswith("Start\nHere you find all about bees")
assert bees["links"] == ["/", "/a/wax.html", "//other.org/"], bees["links"]
assert wax["links"] == ["/", "/a/bees.html"]
assert bees["inlinks"] == ["/a/wax.html", "/"] and start["inlinks"] == ["/a/bees.html", "/a/wax.html"]
assert bees["anchors"] == ["bees", "all about bees"] and start["anchors"] == ["Home"]
assert wax["anchors"] == ["wax"]  # the image has none
assert bees["anchor_words"] == {"bees": 2, "all": 1, "about": 1, "and": .5, "see": .5, "find": .5, "top": .5}
assert wax["anchor_words"] == {"wax": 1, "home": .5, "other": .5, "the": .5, "or": .5}
assert list(bees["anchor_words"])[0] == "bees"
PY
    neardup anchors -q --window 0 site | grep -q '"anchor_words":{"home":2}'
    neardup anchors -q --window 2 site | grep -q '"all":1,"about":1'
    for threads in 1 2 8; do neardup anchors -q --threads $threads site -o $threads.jsonl; done
    cmp 1.jsonl 2.jsonl
    cmp 1.jsonl 8.jsonl
}

@test "addresses: of a site, of hosts, of an archive, of records" {
    site
    neardup anchors -q --base https://Bees.org site | grep -o '"url":"[^"]*"' >urls
    [ "$(tr '\n' ' ' <urls)" = '"url":"//bees.org/a/bees.html" "url":"//bees.org/a/wax.html" "url":"//bees.org/" ' ]
    mkdir hosts
    mv site hosts/bees.org
    mkdir hosts/other.org
    echo 'Go to <a href="http://bees.org/a/wax.html">candles</a>' >hosts/other.org/index.html
    neardup anchors -q --base https:// hosts -o pages.jsonl
    grep '"url":"//bees.org/a/wax.html"' pages.jsonl | grep -q '"inlinks":\["//bees.org/a/bees.html","//bees.org/","//other.org/"\],"anchors":\["wax","candles"\]'
    grep '"url":"//other.org/"' pages.jsonl | grep -q '"anchors":\["other"\]'
    tar -C hosts/bees.org -cf site.tar index.html a
    neardup anchors -q site.tar | grep '"url":"/a/wax.html"' | grep -q '"anchors":\["wax"\]'
    neardup anchors -q hosts/bees.org/index.html hosts/bees.org/a --root hosts/bees.org | grep -q '"url":"/a/bees.html".*"inlinks":\["/","/a/wax.html"\]'
    echo '{"id":7,"url":"https://bees.org/a/wax.html","text":"kept elsewhere"}' >records.jsonl
    neardup anchors -q --base https:// hosts/other.org records.jsonl --root hosts | grep '"id":7' >record
    grep -q '"text":"kept elsewhere","links":\[\],"inlinks":\["//other.org/"\],"anchors":\["candles"\],"anchor_words":{"candles":1,"to":' record
}

@test "what cannot be read three times is refused, and what nobody links to is status 1" {
    site
    run neardup anchors -
    [ "$status" -eq 2 ]
    [[ $output == *"read three times"* ]]
    run neardup anchors
    [ "$status" -eq 2 ]
    run neardup anchors --base bees.org site
    [ "$status" -eq 2 ]
    [[ $output == *"'bees.org' is not an address such as https://example.org/"* ]]
    run neardup anchors --window 1001 site
    [ "$status" -eq 2 ]
    echo '<p>alone' >alone.html
    run neardup anchors -q alone.html
    [ "$status" -eq 1 ]
    [[ $output == '{"id":"alone.html"'* ]]
    run neardup anchors site no-such-file -o out.jsonl
    [ "$status" -eq 3 ]
    [ -s out.jsonl ]
}

@test "recipes read anchors as fields: pages without words of their own are told apart" {
    mkdir site
    for i in 1 2; do echo "<p><img src=a$i>picture" >"site/cat$i.html"; echo "<p><img src=b$i>picture" >"site/dog$i.html"; done
    echo '<p>Look at <a href=cat1.html>the sleeping cat of my neighbour</a>, and <a href=dog1.html>a wet brown dog on the beach</a>' >site/x.html
    echo '<p>Look at <a href=cat2.html>the sleeping cat of my neighbour</a>, and <a href=dog2.html>a wet brown dog on the beach</a>' >site/y.html
    neardup anchors -q --window 3 site -o pages.jsonl
    cat >anchors.ini <<'END'
[signature anchors]
unit = none
fields = anchor_words:1:weights
kind = simhash
bits = 256
[decide]
candidates = match
match = distance(anchors) <= 15
verify = none
END
    neardup pairs --recipe anchors.ini -q pages.jsonl | cut -f 1,2 >found
    [ "$(cat found)" = "$(printf 'site/cat1.html\tsite/cat2.html\nsite/dog1.html\tsite/dog2.html')" ]
    neardup pairs --recipe anchors.ini --set anchors.kind=features --set anchors.bits=64 --set anchors.fields=anchors \
        --set 'match=resemblance(anchors) >= 0.9' -q pages.jsonl | cut -f 1,2 >found
    [ "$(cat found)" = "$(printf 'site/cat1.html\tsite/cat2.html\nsite/dog1.html\tsite/dog2.html')" ]
    neardup pairs --recipe anchors.ini --set anchors.kind=features --set anchors.bits=64 --set anchors.fields=inlinks \
        --set 'match=resemblance(anchors) >= 0.9' -q pages.jsonl | cut -f 1,2 >found # together on one page
    [ "$(cat found)" = "$(printf 'site/cat1.html\tsite/dog1.html\nsite/cat2.html\tsite/dog2.html')" ]
    run neardup sketch --recipe anchors.ini --set anchors.fields=anchor_words:1:weight pages.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"NAME:SHARE:weights"* ]]
}
