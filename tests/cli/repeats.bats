#!/usr/bin/env bats
# repeats.bats - neardup repeats: parts of texts that stand in several places (tests/oracle/repeats.py has the rule)

bats_require_minimum_version 1.5.0
load common

setup_documents() {
    cat >a.jsonl <<'END'
{"id":1,"text":"Home\nAbout us\nThe first text, with words.\nCopyright 2020\n","x":1}
{"id":2, "text" : "home\r\nabout US\u0021\nSecond \u00e9t\ud83d\ude00 text\nCopyright 2020","y":[1,2]}
{"id":3,"text":"Home\nHome"}
{"id":4,"text":" -- \n"}
END
}

@test "repeats: lines go with their ends, and everything else stays byte for byte" {
    setup_documents
    neardup repeats -q a.jsonl -o b.jsonl --manifest m
    diff b.jsonl - <<'END'
{"id":1,"text":"Home\nAbout us\nThe first text, with words.\nCopyright 2020\n","x":1}
{"id":2, "text" : "Second \u00e9t\ud83d\ude00 text\n","y":[1,2]}
{"id":3,"text":""}
{"id":4,"text":" -- \n"}
END
    tail -n +2 m | diff - <(cat <<'END'
{"cut":2,"cut_at":"a.jsonl:2","from":0,"to":16,"kept":1,"kept_at":"a.jsonl:1","kept_from":0,"kept_to":14}
{"cut":2,"cut_at":"a.jsonl:2","from":36,"to":50,"kept":1,"kept_at":"a.jsonl:1","kept_from":42,"kept_to":57}
{"cut":3,"cut_at":"a.jsonl:3","from":0,"to":5,"kept":1,"kept_at":"a.jsonl:1","kept_from":0,"kept_to":5}
{"cut":3,"cut_at":"a.jsonl:3","from":5,"to":9,"kept":1,"kept_at":"a.jsonl:1","kept_from":0,"kept_to":5}
END
    )
    [ "$(neardup repeats -q --drop-empty a.jsonl | grep -o '"id":.')" = $'"id":1\n"id":2\n"id":4' ]
    [ "$(neardup repeats -q --occurrences 4 a.jsonl | grep -c -i home)" -eq 1 ]
    [ "$(neardup repeats -q --occurrences 5 a.jsonl | grep -c -i home)" -eq 3 ]
    [ "$(neardup repeats -q --tokens 2 a.jsonl | grep -c -i home)" -eq 3 ]
}

@test "repeats: the summary counts documents and bytes" {
    setup_documents
    run --separate-stderr -0 neardup repeats a.jsonl -o b.jsonl
    # shellcheck disable=SC2154 # run sets stderr
    [[ "$stderr" == *"of which parts were cut "*" 2"*"no word is left "*" 1"*"cut "*"39 bytes"* ]]
}

@test "repeats: the summary counts by domain, in JSON and for people" {
    cat >a.jsonl <<'END'
{"id":"http://a.org/1","lang":"en","text":"Home\nA first text\n"}
{"id":"https://B.org/1","lang":"en","text":"Home\nA second text\n"}
{"id":"http://b.org:80/2","lang":"de","text":"Home\nA second text\nand more"}
{"id":"none","lang":"de","text":"Home"}
END
    run --separate-stderr -0 neardup repeats a.jsonl -o b.jsonl --summary s.json
    # shellcheck disable=SC2154 # run sets stderr
    [[ "$stderr" == *"Most was cut of"*"  b.org "*"24 bytes  "*" in 2 of 2 documents"* ]]
    [[ "$stderr" != *a.org* ]]
    [ "$(jq -c .domains s.json)" = '[{"name":"b.org","documents":2,"changed":2,"text_bytes":46,"cut_bytes":24},{"name":"a.org","documents":1,"changed":0,"text_bytes":18,"cut_bytes":0}]' ]
    [ "$(jq -c '[.kept,.removed,.changed,.emptied,.cuts,.text_bytes,.cut_bytes,.other_domains]' s.json)" = '[4,0,3,1,4,68,28,0]' ]
    neardup repeats -q a.jsonl -o b.jsonl --summary s.json --domain-field lang --drop-empty
    [ "$(jq -c '[.kept,.removed,(.domains[] | [.name,.cut_bytes])]' s.json)" = '[3,1,["de",23],["en",5]]' ]
    run --separate-stderr -0 neardup repeats -q a.jsonl -o b.jsonl --summary s.json --domain-field none
    [ "$(jq -c .domains s.json)" = '[]' ]
}

@test "repeats: near lines, with evidence" {
    cat >a.jsonl <<'END'
{"id":1,"text":"Copyright 2020 by the big company, all rights reserved.\nx y z"}
{"id":2,"text":"Copyright 2021 by the big company, all rights reserved.\nx y"}
{"id":3,"text":"X, Y, Z!\ncopyright 2020 by the big company all rights\u0020reserved"}
END
    neardup repeats -q --near 0.5 a.jsonl -o b.jsonl --manifest m
    [ "$(jq -r .text b.jsonl)" = $'Copyright 2020 by the big company, all rights reserved.\nx y z\nx y' ]
    head -1 m | grep -q '"occurrences":2,"near":0.5,'
    [ "$(tail -n +2 m | jq -c '[.cut,.from,.to,.kept,.kept_from,.kept_to,.resemblance]' | tr '\n' ' ')" = \
        '[2,0,56,1,0,56,0.5555555555555556] [3,0,9,1,56,61,1] [3,9,62,1,0,56,1] ' ]
    neardup repeats -q --near 0.6 a.jsonl -o c.jsonl
    [ "$(jq -r 'select(.id == 2) | .text' c.jsonl)" = $'Copyright 2021 by the big company, all rights reserved.\nx y' ]
    neardup repeats -q --near 0.5 --occurrences 4 a.jsonl -o c.jsonl
    cmp a.jsonl c.jsonl
    run -2 neardup repeats -q --near 0.5 --cut passages a.jsonl -o d.jsonl
    [[ "$output" == *"near ones are lines, paragraphs or sentences"* ]]
    [ ! -e d.jsonl ]
}

@test "repeats: near sentences" {
    printf 'It was the first sentence of all. Then the second one came along. And here is a third with words. Once more. It was the very first sentence of all. Then the second one came along. And here is a third with words, too. The end is here.' >a.txt
    neardup repeats -q --cut sentences --near 0.3 a.txt -o b.txt --manifest m
    [ "$(cat b.txt)" = 'It was the first sentence of all. Then the second one came along. And here is a third with words. Once more. The end is here.' ]
    [ "$(tail -n +2 m | jq -c '[.from,.kept_from,.resemblance]')" = '[109,0,0.375]' ]
}

@test "repeats: paragraphs, sentences and passages" {
    printf '\nOne two.\nThree\n\n \nFour\n\nONE two three!\n\n\nfive' >a.txt
    neardup repeats -q --cut paragraphs a.txt -o b.txt
    printf '\nOne two.\nThree\n\n \nFour\n\nfive' | cmp - b.txt
    printf 'A one. B two! C three? D four. E five. A one, b TWO. So: B two. C three. D four. F six.' >a.txt
    neardup repeats -q --cut sentences a.txt -o b.txt
    printf 'A one. B two! C three? D four. E five. A one, b TWO. So: B two. C three. D four. F six.' | cmp - b.txt
    printf 'A one. Bee two! Cee three? Dee four. Eff five. Bee two. Cee three. Dee four. F six.' >a.txt
    neardup repeats -q --cut sentences a.txt -o b.txt
    printf 'A one. Bee two! Cee three? Dee four. Eff five. F six.' | cmp - b.txt
    printf 'a b c d, e f g. x (B c D e) y; b c d e f' >a.txt
    neardup repeats -q --cut passages --tokens 3 a.txt -o b.txt
    printf 'a b c d, e f g. x () y; ' | cmp - b.txt
}

@test "repeats: a passage within text that was cut is no source, and a text keeps its first round" {
    printf 'a b c d x\na b c d e\nc d e f\n' >a.txt
    # c d e is touched by the cut of a b c and b c d.
    neardup repeats -q --cut passages --tokens 3 --unit line --format text a.txt -o b.txt
    printf 'a b c d x\n e\nc d e f\n' | cmp - b.txt
    printf 'w w w w w w w w' >a.txt
    neardup repeats -q --cut passages --tokens 3 a.txt -o b.txt
    printf 'w w w ' | cmp - b.txt
}

@test "repeats: words that would become one are kept apart" {
    printf '日本の経済 x\nabc日本の経済def 日本\n' >a.txt
    neardup repeats -q --cut passages --tokens 4 --unit line --format text a.txt -o b.txt
    printf '日本の経済 x\nabc def 日本\n' | cmp - b.txt
}

@test "repeats: equal outputs for any number of threads, and within bounded memory" {
    python3 -c 'import json, random
random.seed(5)
words = [f"w{i}" for i in range(50)]
lines = [" ".join(random.choices(words, k=6)) for _ in range(4000)]
for d in range(3000):
    print(json.dumps({"id": d, "text": "\n".join(random.choices(lines, k=20))}))' >a.jsonl
    neardup repeats -q -j 1 --cut passages --tokens 8 a.jsonl -o one.jsonl --manifest one
    neardup repeats -q -j 3 --cut passages --tokens 8 --memory 64M a.jsonl -o two.jsonl --manifest two
    cmp one.jsonl two.jsonl
    cmp one two
    run ! cmp -s one.jsonl a.jsonl
}

@test "repeats: several inputs, compressed ones, folders and --output-dir" {
    setup_documents
    gzip -k a.jsonl
    mkdir -p d/e
    printf 'Home\nGarden\n' >d/x.txt
    printf 'garden\nHOME\n' >d/e/y.txt
    printf 'garden\nshed\n' | gzip >d/e/z.txt.gz
    neardup repeats -q a.jsonl -o b.jsonl
    neardup repeats -q a.jsonl.gz -o c.jsonl.zst
    zstd -q -d c.jsonl.zst
    cmp b.jsonl c.jsonl
    neardup repeats -q d --output-dir out
    [ "$(cat out/d/e/y.txt)" = $'garden\nHOME' ]
    [ "$(zcat out/d/e/z.txt.gz)" = shed ]
    [ "$(cat out/d/x.txt)" = "" ]
    neardup repeats -q --exclude '*.gz' d --output-dir few
    [ ! -e few/d/e/z.txt.gz ]
    [ -e few/d/x.txt ]
    tar cf d.tar d/x.txt d/e/y.txt
    neardup repeats -q d.tar -o e.tar
    [ "$(tar xOf e.tar d/x.txt)" = $'Home\nGarden' ]
    [ "$(tar xOf e.tar d/e/y.txt)" = "" ]
}

@test "repeats: tables keep their form" {
    printf 'id,text,n\r\n1,"Home\nAbout ""us"" here\nnew",x\r\n2,home,y\r\n3,"home\nABOUT us here\nX ""q"" z",\r\n4,ab"x" c,\r\n5,x ab,w\r\n6,"q",q\r\n7,q,\r\n' >a.csv
    neardup repeats -q a.csv -o b.csv
    printf 'id,text,n\r\n1,"Home\nAbout ""us"" here\nnew",x\r\n2,,y\r\n3,"X ""q"" z",\r\n4,ab"x" c,\r\n5,x ab,w\r\n6,"q",q\r\n7,,\r\n' | cmp - b.csv
    # A cell that would begin with a quote gets quotes, and so does what stands behind closed ones.
    printf 'text,n\nab x,1\nab"x" c,2\n"c d"ab e,3\n' >a.csv
    neardup repeats -q --cut passages --tokens 1 a.csv -o b.csv
    printf 'text,n\nab x,1\n""""" c",2\n" dab e",3\n' | cmp - b.csv
    # A row of one cell does not become a blank line, which would be no row.
    printf 'text\nHome\nhome\n' >a.csv
    neardup repeats -q a.csv -o b.csv
    printf 'text\nHome\n""\n' | cmp - b.csv
    cp a.csv a.tsv
    neardup repeats -q a.tsv -o b.tsv
    printf 'text\nHome\n \n' | cmp - b.tsv
    [ "$(neardup sketch -q b.tsv | wc -l)" -eq 2 ]
    printf 'text\tid\nHome\\nab\\\\cd\\q\t1\nhome\\nX\\\\cd q\tz\n' >a.tsv
    neardup repeats -q a.tsv -o b.tsv
    printf 'text\tid\nHome\\nab\\\\cd\\q\t1\nX\\\\cd q\tz\n' | cmp - b.tsv
    # A carriage return that ends up at the end of a row would be of the line end.
    printf 'n\ttext\n1\thome\n2\tx\rhome\n3\tx\\\rhome\n' >a.tsv
    neardup repeats -q --cut passages --tokens 1 a.tsv -o b.tsv
    printf 'n\ttext\n1\thome\n2\tx\\r\n3\t\\\\\\r\n' | cmp - b.tsv
}

@test "repeats: texts of pages, mail, feeds and web archives, as JSON Lines" {
    mkdir d
    printf '<title>T</title><p>Home page<p>one two' >d/a.html
    printf 'From: a@b\nMessage-ID: <m@b>\n\nHome page\nthree words here\n' >d/b.eml
    printf '<rss version="2.0"><channel><item><guid>i1</guid><description>home page</description></item><item><guid>i2</guid><description>four</description></item></channel></rss>' >d/c.rss
    printf 'WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.org/x\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHome page\nfive\r\n\r\n' | gzip >d/e.warc.wet.gz
    printf '{"id":7,"text":"HOME page\\nsix"}\n' >d/f.jsonl
    printf 'Home page\n' >d/g.txt
    neardup repeats -q --texts d -o out.jsonl --manifest m --summary s.json
    diff out.jsonl - <<'END'
{"id":"d/a.html","text":"T\nHome page\none two"}
{"id":"m@b","text":"three words here\n"}
{"id":"i1","text":""}
{"id":"i2","text":"four"}
{"id":"http://a.org/x","text":"five"}
{"id":7,"text":"six"}
{"id":"d/g.txt","text":""}
END
    head -1 m | grep -q '"texts":true'
    [ "$(jq -c .domains s.json)" = '[{"name":"a.org","documents":1,"changed":1,"text_bytes":14,"cut_bytes":10}]' ]
    [ "$(neardup repeats -q --texts --drop-empty d | wc -l)" -eq 5 ]
    # Several text fields, pages in them, and other charsets.
    printf '{"id":1,"a":"<p>one<p>Caf\351 x","b":"two"}\n{"id":2,"a":"<p>caf\351 X","b":"two"}\n' >a.jsonl
    neardup repeats -q --texts --text-field a --text-field b --text-format html --charset latin1 a.jsonl -o b.jsonl
    [ "$(jq -r 'select(.id == 2) | .text' b.jsonl | tr -d '\n')" = "" ]
    jq -r 'select(.id == 1) | .text' b.jsonl | grep -q '^Café x two$'
}

@test "repeats: pipes are kept in a file for the second reading" {
    setup_documents
    neardup repeats -q a.jsonl -o b.jsonl
    # shellcheck disable=SC2002 # a pipe is what is tested
    cat a.jsonl | neardup repeats -q -o c.jsonl
    cmp b.jsonl c.jsonl
    # A file is read from where it stands.
    tail -n +2 a.jsonl >rest.jsonl
    { read -r _; neardup repeats -q -o c.jsonl; } <a.jsonl
    neardup repeats -q rest.jsonl | cmp - c.jsonl
    neardup repeats -q <(gzip -c a.jsonl) -o d.jsonl --tmp .
    cmp b.jsonl d.jsonl
    [ "$(find . -name '.neardup*')" = "" ]
    neardup repeats -q --cut passages --tokens 2 - -o e.jsonl <a.jsonl
    neardup repeats -q --cut passages --tokens 2 a.jsonl -o f.jsonl
    cmp e.jsonl f.jsonl
    run -2 neardup repeats -q --tmp none <(cat a.jsonl)
    [[ "$output" == *": cannot be copied to a file in none: No such file or directory"* ]]
}

@test "repeats: what cannot be cut is refused, and nothing is written" {
    setup_documents
    printf '<p>a page' >a.html
    mkfifo pipe
    while IFS='|' read -r arguments message; do
        # shellcheck disable=SC2086
        run -2 neardup repeats -q $arguments -o out
        [[ "$output" == *"$message"* ]]
        [ ! -e out ]
    done <<'END'
a.html|a.html is HTML, of which no parts are cut as they stand: write the texts as JSON Lines (--texts)
pipe|the documents are read twice, but pipe can be read only once
a.html --texts --output-dir d|output-dir: texts go to one output
a.jsonl --text-field id --text-field text|parts are cut of one text; name one field without *
a.jsonl --text-field m.*.t|parts are cut of one text; name one field without *
a.jsonl --text-format html|parts are cut of texts, and these are pages
a.jsonl --charset latin1|parts are cut of UTF-8, and the records are in latin1
a.jsonl --occurrences 1|occurrences
a.jsonl --cut words|'words' is not one of lines, paragraphs, sentences, passages
END
    run -2 neardup repeats -q a.jsonl -o a.jsonl
    [[ "$output" == *"is an input and would be overwritten"* ]]
}

@test "repeats: bad records are left out and reported" {
    setup_documents
    echo '{broken' >>a.jsonl
    run --separate-stderr -3 neardup repeats -q a.jsonl
    [[ "$stderr" == *"a.jsonl:5: not a JSON object"* ]]
    [ "${#lines[@]}" -eq 4 ]
}
