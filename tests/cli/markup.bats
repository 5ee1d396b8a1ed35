#!/usr/bin/env bats
# markup.bats - tags and links of pages reach the signatures of recipes that read them, and no others

load common

# $1 keys of the signature: whether the pages a, b and c have one simhash ("same") or several
simhashes() {
    printf '[signature s]\nkind = simhash\n%b' "$1" >r.ini
    neardup sketch --recipe r.ini a.html "${2:-b.html}" | grep -o '"signatures":.*' | sort -u | wc -l
}

@test "markup, anchors and links count where they are asked for" {
    text='one two two three three three four four four four'
    echo "<title>T</title><p>$text <a href=/x>five</a> six seven" >a.html
    echo "<title>T</title><p><b>one two</b> <i>two</i> three three three four four four four <a href=/x>five</a> six seven" >b.html
    echo "<title>T</title><p>$text five <a href='/y'>six</a> seven" >c.html
    [ "$(simhashes '')" -eq 1 ]
    [ "$(simhashes 'markup = multiply\nmarkup_boost = 9\n')" -eq 2 ]
    [ "$(simhashes 'markup = add\nmarkup_boost = 9\n')" -eq 2 ]
    [ "$(simhashes 'markup = multiply\nmarkup_boost = 1\n')" -eq 1 ]
    [ "$(simhashes '' c.html)" -eq 1 ]
    [ "$(simhashes 'links = yes\n' b.html)" -eq 1 ]
    [ "$(simhashes 'links = yes\n' c.html)" -eq 2 ]
    [ "$(simhashes 'markup = multiply\nmarkup_boost = 9\n' c.html)" -eq 1 ]
    [ "$(simhashes 'markup = multiply\nmarkup_boost = 9\nanchor_window = 1\n' c.html)" -eq 2 ]
}

@test "fields count with their share, and length normalisation changes no bit" {
    echo '{"text":"one two three three four","title":"A","date":"2007"}' >a.html
    echo '{"text":"one two three three four","title":"B","date":"2007"}' >b.html
    mv a.html a.jsonl && mv b.html b.jsonl
    cat a.jsonl b.jsonl >ab.jsonl
    count() {
        printf '[signature s]\nkind = simhash\n%b' "$1" >r.ini
        neardup sketch --recipe r.ini ab.jsonl | grep -o '"signatures":.*' | sort -u
    }
    [ "$(count 'fields = date\n' | wc -l)" -eq 1 ]
    [ "$(count 'fields = date title:5\n' | wc -l)" -eq 2 ]
    [ "$(count 'fields = date, title:5\n')" = "$(count 'fields = date title:5\n')" ]
    [ "$(count '')" = "$(count 'normalise_length = yes\n')" ]
    run neardup sketch --set 's.fields=title:x' --recipe r.ini ab.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *'title:x'* ]]
}
