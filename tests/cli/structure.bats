#!/usr/bin/env bats
# structure.bats - pages told apart by their tree and their links, whatever their texts are

load common

# shop NAME ROWS: a page of one template with so many rows, and words of its own.
shop() {
    echo "<html><head><title>$1</title></head><body><div><ul><li><a href='/'>start</a></ul></div><div><h1>$1</h1>"
    echo "<table><tr><th>what<th>price"
    for i in $(seq "$2"); do echo "<tr><td><b>$1 number $i</b> of the $1 shop<td>$((i * ${#1}))"; done
    echo "</table><form><p><input><button>buy $1</button></form></div></body></html>"
}

# plain NAME: the words of the shop, otherwise laid out.
plain() {
    echo "<html><body><section><h2>$1</h2>"
    for i in 1 2 3; do echo "<p>$1 number $i of the $1 shop <i>$((i * ${#1}))</i><ol><li><code>$1</code></ol>"; done
    echo "<dl><dt>buy<dd><em>$1</em></dl><pre>x</pre></section></body></html>"
}

# links FROM TO [TEXT]: a page with links to so many pages.
links() {
    echo "<html><body><p>$3"
    for i in $(seq "$1" "$2"); do echo "<a href='/page/$i#part'>$3</a>"; done
}

@test "pages of one template are alike in structure, and not in text" {
    shop bicycles 3 >a.html
    shop umbrellas 20 >b.html
    plain bicycles >c.html
    echo '{"text":"bicycles umbrellas"}' >no-page.jsonl
    neardup pairs --recipe joshi-2003 -q a.html b.html c.html no-page.jsonl >found.tsv
    [ "$(cut -f 1,2 found.tsv)" = "$(printf 'a.html\tb.html')" ]
    run neardup pairs -q a.html b.html c.html no-page.jsonl
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    neardup dedup --recipe joshi-2003 -q a.html b.html c.html -o kept
    [ "$(cat kept)" = "$(printf 'a.html\nc.html')" ]
    neardup explain --recipe joshi-2003 a.html b.html | grep -q 'their signatures match'
    run neardup explain --recipe joshi-2003 a.html c.html
    [ "$status" -eq 1 ]
    [[ $output == *"their signatures do not match: resemblance(paths) >= 0.8"* ]]
}

# records FORMAT FILE...: pages as records of JSON Lines, CSV or TSV, with their names as ids.
records() {
    python3 -c 'import csv, json, sys
rows = [(path, open(path).read()) for path in sys.argv[2:]]
if sys.argv[1] == "jsonl":
    for path, page in rows:
        print(json.dumps({"id": path, "text": page}))
elif sys.argv[1] == "csv":
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerows([("id", "text")] + rows)
else:
    print("id\ttext")
    for path, page in rows:
        print(path, page.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"), sep="\t")' "$@"
}

@test "pages in records are read as pages in files are" {
    shop bicycles 3 >a.html
    shop umbrellas 20 >b.html
    plain "caf&eacute; \\" >c.html
    links 1 12 one >d.html
    cat >own.ini <<'END'
[signature words]
markup = multiply
markup_boost = 3
links = yes
[signature paths]
unit = paths
kind = features
[decide]
candidates = match
match = distance(words) <= 3 and shared(paths) >= 1
END
    neardup sketch -q --recipe own.ini [a-d].html >by_file
    for format in jsonl csv tsv; do
        records $format [a-d].html >pages.$format
        neardup sketch -q --recipe own.ini --text-format html pages.$format >by_record
        cmp by_file by_record
        neardup pairs --recipe joshi-2003 -q --text-format html pages.$format >found.tsv
        [ "$(cut -f 1,2 found.tsv)" = "$(printf 'a.html\tb.html')" ]
        neardup dedup --recipe joshi-2003 -q --text-format html pages.$format -o kept \
            --manifest m --clusters c
        [ "$(cut -f 2 c | tr '\n' ' ')" = "a.html a.html c.html d.html " ]
        [ $format = csv ] || grep -v b.html pages.$format | cmp - kept
        grep -q '"text_format":"html"' m
    done
    neardup sketch -q --recipe own.ini pages.jsonl >as_text
    run cmp -s by_file as_text
    [ "$status" -eq 1 ]
    run neardup sketch --text-format htm pages.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean 'html'?"* ]]
}

@test "a page's title is the field of records that have none" {
    printf '%s\n' '{"id":1,"text":"<title>Own</title>the same words here"}' \
        '{"id":2,"title":"Other","text":"<title>Own</title>the same words here"}' \
        '{"id":3,"title":null,"text":"<title>Own</title>the same words here"}' >t.jsonl
    printf '[signature t]\nunit = none\nfields = title\nkind = features\n' >own.ini
    neardup sketch -q --recipe own.ini --text-format html t.jsonl | grep -o '"signatures.*' >s
    [ "$(sed -n 1p s)" = "$(sed -n 3p s)" ]
    [ "$(sed -n 1p s)" != "$(sed -n 2p s)" ]
}

@test "where no document has a signature there is a warning" {
    small_corpus
    for command in dedup pairs collapse; do
        neardup $command -q --recipe joshi-2003 small.jsonl >out 2>err || [ $command = pairs ]
        grep -q "warning: no .* has a signature, so none can match: .* structure of HTML pages" err
    done
    neardup filter -q --recipe dean-henzinger-1999 -p small.jsonl small.jsonl >out 2>err || [ $? -eq 1 ]
    grep -q "warning: no prototype has a signature, .* links of HTML pages" err
    neardup df build -q --recipe joshi-2003 small.jsonl -o t.df 2>err
    grep -q "warning: no document has a feature that can be counted" err
    # One page is enough that there is none.
    shop bicycles 3 >a.html
    records jsonl a.html >>small.jsonl
    for cluster in star components; do
        neardup dedup --recipe joshi-2003 --text-format html --set cluster=$cluster small.jsonl \
            -o out --summary summary 2>err
        [ "$(grep -c warning err)" -eq 0 ]
    done
    # The texts of records are pages too then, of html/body/p: 3 paths, which is a signature.
    grep -q '"unsigned_documents":0,' summary
    neardup dedup -q --recipe dean-henzinger-1999 --text-format html small.jsonl -o out --summary summary
    grep -q '"unsigned_documents":5,' summary
    neardup dedup --recipe dean-henzinger-1999 --text-format html small.jsonl -o out 2>err
    grep -qE 'without signatures +5$' err
}

@test "equal texts are not the same structure, nor are pages without text" {
    echo '<html><body><div><p>the very same words of a page' >a.html
    echo '<html><body><table><tr><td>the very same words of a page' >b.html
    echo '<html><body><div><p><img src=1></p></div>' >c.html
    echo '<html><body><ul><li><img src=1></ul>' >d.html
    echo '<html><body><div><p><img src=2></p><p></p></div>' >e.html
    for threads in 1 2 8; do
        neardup dedup --recipe joshi-2003 --set 'match=resemblance(paths) >= 0.9' -q [a-e].html \
            -o kept --threads $threads
        [ "$(tr '\n' ' ' <kept)" = "a.html b.html c.html d.html " ]
    done
    neardup dedup --recipe joshi-2003 --set 'match=resemblance(paths) >= 0.9' --set keep=last \
        -q [a-e].html -o kept
    [ "$(tr '\n' ' ' <kept)" = "a.html b.html d.html e.html " ]
    neardup dedup --recipe joshi-2003 --set 'match=resemblance(paths) >= 0.9' \
        --set cluster=components -q [a-e].html -o kept
    [ "$(tr '\n' ' ' <kept)" = "a.html b.html c.html d.html " ]
    neardup filter --recipe joshi-2003 --set 'match=resemblance(paths) >= 0.9' -q \
        -p a.html -p c.html b.html d.html e.html --count >count
    [ "$(cat count)" = 1 ]
    neardup dedup -q [a-e].html -o kept # by the text
    [ "$(tr '\n' ' ' <kept)" = "a.html c.html " ]
}

@test "a df table of paths leaves out those that every page has" {
    for i in 1 2 3 4; do shop "things$i" "$i" >"shop$i.html"; plain "things$i" >"plain$i.html"; done
    cat >paths.ini <<'END'
[signature paths]
unit = paths
kind = features
select = uncommon
select_count = 4
[decide]
candidates = match
match = shared(paths) >= 1
verify = none
END
    neardup df build --recipe paths.ini --texts -q -o paths.df shop?.html plain?.html
    neardup df top --count 2 paths.df | cut -f 1,3 >top
    [ "$(sort top)" = "$(printf '8\thtml\n8\thtml/body')" ]
    neardup pairs --recipe paths.ini --df paths.df -q shop?.html plain?.html >found.tsv
    [ "$(wc -l <found.tsv)" -eq 12 ]
    run grep -c $'shop.*plain' found.tsv
    [ "$output" = 0 ]
    neardup df build --features terms -q -o words.df shop?.html
    run neardup pairs --recipe paths.ini --df words.df -q shop1.html shop2.html
    [ "$status" -eq 2 ]
    [[ $output == *'it has "unit = terms", the recipe "unit = paths"'* ]]
}

@test "the link rule: 95 percent of the links of both" {
    links 1 20 one >a.html
    links 1 19 other >b.html  # 19 of 20
    links 2 19 third >c.html  # 18 of 20; 18 of 19 of b
    links 21 40 one >d.html   # a's words
    links 1 10 few >e.html
    links 1 10 few >f.html
    neardup pairs --recipe dean-henzinger-1999 -q [a-f].html >found.tsv
    [ "$(cut -f 1,2,6 found.tsv)" = "$(printf 'a.html\tb.html\t19:20:19')" ]
    neardup pairs --recipe dean-henzinger-1999 --set 'match=overlap(links) >= 0.9' -q [a-f].html |
        cut -f 1,2 >found.tsv
    [ "$(cat found.tsv)" = "$(printf 'a.html\tb.html\na.html\tc.html\nb.html\tc.html\ne.html\tf.html')" ]
    neardup dedup --recipe dean-henzinger-1999 -q [a-f].html -o kept --manifest removed.jsonl
    [ "$(tr '\n' ' ' <kept)" = "a.html c.html d.html e.html f.html " ]
    grep '"removed":"b.html","kept":"a.html"' removed.jsonl | grep -q '"links":{"shared":19,"removed":19,"kept":20}'
    run neardup explain --recipe dean-henzinger-1999 a.html b.html
    [ "$status" -eq 0 ]
    [[ $output == *"19 shared, of 20 and 19"* ]]
}
