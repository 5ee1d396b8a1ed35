#!/usr/bin/env bats
# judging.bats - neardup sample and neardup eval --judged (oracle_judging compares the figures)

bats_require_minimum_version 1.5.0
load common

# pairs N: N pairs with resemblances from .2 up, those from .5 listed, the others near misses.
pairs() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) { r = .2 + .8 * i / n; print "a" i "\tb" i "\t" r "\t1\t2\t" (r < .5 ? "near-miss" : "match") } }'
}

# column NAME FILE: a column of a table, a line for each row.
column() {
    awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$2"
}

# labelled FILE LABEL: the rows with this label.
labelled() {
    awk -F '\t' -v OFS='\t' -v label="$2" 'NR > 1 { $3 = label } 1' "$1"
}

@test "sample: strata of a column, equally or in proportion; a plan says so first" {
    pairs 400 >pairs.tsv
    run --separate-stderr neardup sample pairs.tsv --strata resemblance:0.1 -n 40 --dry-run
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "$(printf 'stratum\tlisted\tpairs\tdrawn')" ]
    [ "${lines[1]}" = "$(printf '0.5-0.6\t1\t50\t5')" ]
    [ "${lines[6]}" = "$(printf 'near-miss 0.2-0.3\t0\t50\t5')" ]
    # shellcheck disable=SC2154 # run sets it
    [[ $stderr == "40 of 400 pairs to judge, from 8 strata: the share of right ones to within "* ]]
    neardup sample -q pairs.tsv --strata resemblance:0.5,0.95 -n 20 --allocation equal >rows
    [ "$(column stratum rows | sort | uniq -c | awk '{ print $1 }' | sort | tr '\n' ' ')" = "6 7 7 " ]
    [ "$(column label rows | sort -u)" = "" ]
    # A larger sample of a stratum has the smaller one.
    neardup sample -q pairs.tsv -n 20 >small
    neardup sample -q pairs.tsv -n 60 >large
    [ -z "$(comm -23 <(sed 1d small | sort) <(sed 1d large | sort))" ]
    neardup sample -q pairs.tsv -n 20 --seed 2 >other
    run cmp small other
    [ "$status" -eq 1 ]
}

@test "sample: --half-width says what a figure costs" {
    pairs 4000 | grep -v near-miss >pairs.tsv
    run --separate-stderr neardup sample pairs.tsv --half-width 5% --dry-run
    [[ $stderr == "330 of 2500 pairs to judge, from 1 stratum: the share of right ones to within 5.0%, if it is 50%" ]]
    run --separate-stderr neardup sample pairs.tsv --half-width 5% --expect 95% --dry-run
    [[ $stderr == *" of 2500 pairs to judge"*"if it is 95%" ]]
    [ "${stderr%% *}" -lt 150 ]
    run neardup sample pairs.tsv --half-width 5% -n 3
    [ "$status" -eq 2 ]
    [[ $output == *"only one of --size and --half-width can be given"* ]]
}

@test "sample: manifests, pairs of other tools, values that are not there" {
    small_corpus
    neardup dedup small.jsonl -q -o kept --manifest removed.jsonl
    neardup sample -q removed.jsonl --strata resemblance:0.1 >rows
    [ "$(column stratum rows | sort | tr '\n' ' ')" = "0.9-1 1 " ]
    printf 'id1,id2,score\n"x,1",y,3\nx,z,\nw,z,4\n' >pairs.csv
    neardup sample -q pairs.csv --strata score >rows
    [ "$(column stratum rows | sort | tr '\n' ' ')" = "3 4 none " ]
    [ "$(column a rows | grep -c 'x,1')" = 1 ]
    neardup sample -q --json pairs.csv | python3 -c 'import json, sys; rows = [json.loads(x) for x in sys.stdin]; assert {r["stratum"] for r in rows} == {"all"}, rows'
}

@test "sample: --recall draws documents, and writes all pairs of each" {
    printf '{"id":"%s","text":"x"}\n' a b c d e >docs.jsonl
    printf '%s\t%s\t%s\t1\t2\t%s\n' a b .9 match a c .3 near-miss d e .2 near-miss >pairs.tsv
    run --separate-stderr neardup sample pairs.tsv --recall -n 5 --documents docs.jsonl
    [ "$stderr" = "5 of 5 documents drawn; 5 have pairs, 6 to judge" ]
    printf '%s\n' "${lines[@]}" >rows
    [ "$(column drawn rows | sort | tr '\n' ' ')" = "a a b c d e " ]
    [ "$(column a rows | sort | tr '\n' ' ')" = "a a b c d e " ]
    # a has b but not c; b has a; c has nothing: two of four pairs, and the mean of 1/2, 1 and 0.
    awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $1 ~ /[abc]/ ? "same" : "different" } 1' rows >judged
    neardup eval --judged judged >table
    [ "$(column recall table) $(column query_recall table) $(column documents table)" = "0.5000 0.5000 3" ]
    [[ "$(column note table)" == "no intervals: fewer than 20"* ]]
    run neardup sample pairs.tsv --recall
    [[ $output == *"--recall needs the documents"* ]]
}

@test "sample: the page has both texts, escaped, and nothing of the network" {
    small_corpus
    sed 's/"text":"/&<script>alert(1)<\/script> /' small.jsonl >docs.jsonl
    neardup pairs docs.jsonl -q -o pairs.tsv
    neardup sample -q pairs.tsv --documents docs.jsonl --html page.html -o rows
    [ "$(grep -c '<section class="case"' page.html)" = 3 ]
    run grep -E '<script>alert|https?://[^w]' page.html
    [ "$status" -eq 1 ]
    grep -q '&lt;script&gt;' page.html
    grep -q "default-src 'none'" page.html
    run neardup sample pairs.tsv --html page.html
    [[ $output == *"--html needs the documents"* ]]
    head -2 docs.jsonl >some.jsonl
    run neardup sample -q pairs.tsv --documents some.jsonl --html other.html
    [ "$status" -eq 2 ]
    [[ $output == *"pairs.tsv: no document of --documents has the id 'c'"* ]]
    [ ! -e other.html ]
    run neardup sample -q pairs.tsv --documents docs.jsonl --html pairs.tsv
    [ "$status" -eq 2 ]
}

@test "sample: what cannot be drawn is refused" {
    pairs 40 >pairs.tsv
    refuse() { # MESSAGE WORDS…
        run neardup sample "${@:2}"
        [ "$status" -eq 2 ]
        [[ $output == *"$1"* ]] || { echo "$output"; return 1; }
    }
    refuse "one file of pairs"
    refuse "a sample of 3 pairs is too small for 8 strata" pairs.tsv --strata resemblance:0.1 -n 3
    refuse "no column is called 'x'" pairs.tsv --strata x
    refuse "a width, or rising numbers" pairs.tsv --strata resemblance:0.5,0.4
    refuse "the width must be above 0" pairs.tsv --strata resemblance:0
    refuse "names no column" pairs.tsv --strata :1
    refuse "--dry-run writes no page" pairs.tsv --dry-run --html x
    printf 'a\tone\nb\tone\n' >sets.tsv
    refuse "clusters have no pairs to draw" sets.tsv
    : >empty
    refuse "there is no pair" empty
    printf 'a\tb\tword\n' >word.tsv
    refuse "word.tsv:1" word.tsv --strata 3
    awk 'BEGIN { for (i = 0; i < 1500; i++) print "a" i "\tb" i "\t" i }' >many.tsv
    refuse "more than 1000 strata" many.tsv --strata 3 -n 2000
}

@test "eval --judged: the figure as papers print it, the weighted one, and recall" {
    # All 90 pairs with .9 are right, and none of 10 with .5; four of each are judged.
    awk 'BEGIN { for (i = 0; i < 100; i++) print "a" i "\tb" i "\t" (i < 90 ? .9 : .5) }' >pairs.tsv
    neardup sample -q pairs.tsv --strata resemblance --allocation equal -n 8 >rows
    awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $5 == "0.9" ? "same" : "other" } 1' rows >judged
    neardup eval --judged judged >table
    [ "$(column precision table) $(column precision_weighted table)" = "0.5000 0.9000" ]
    [[ "$(column note table)" == "no recall: near misses were not drawn" ]]
    neardup eval --judged --by stratum judged >table
    [ "$(column pairs table | sort -n | tr '\n' ' ')$(column precision table | sort | tr '\n' ' ')" = "10 90 0.0000 1.0000 " ]
    # With near misses of which a tenth is right there is recall.
    pairs 800 >pairs.tsv
    neardup sample -q pairs.tsv -n 800 >rows
    awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $4 == 1 ? "same" : (n++ % 10 ? "different" : "same") } 1' rows >judged
    neardup eval --judged judged >table
    [ "$(column recall table) $(column recall_low table) $(column recall_high table)" = "0.9434 0.9434 0.9434" ] # 500 of 530, all judged
}

@test "eval --judged: two judges, and what both say" {
    pairs 40 | grep -v near-miss >pairs.tsv
    neardup sample -q pairs.tsv -n 10 >rows
    labelled rows same >one
    awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = NR < 4 ? "different" : NR == 4 ? "" : "same" } 1' rows | tr '\t' , >two.csv
    neardup eval --judged one two.csv >table
    [ "$(column result table | tr '\n' ' ')" = "one two.csv all judges " ]
    [ "$(column same table | tr '\n' ' ')$(column unsure table | tr '\n' ' ')$(column unjudged table | tr '\n' ' ')" = "10 7 7 0 0 2 0 1 1 " ]
    [ "$(column agreement table | tr '\n' ' ')$(column kappa table | tr '\n' ' ')" = "- 0.7778 - - 0.0000 - " ]
    # As a truth, the file is one of labelled pairs.
    neardup eval --truth one --universe labelled pairs.tsv >table
    [ "$(column right table)" = 10 ]
}

@test "eval --judged: files that nobody judged are refused, with file and line" {
    pairs 40 >pairs.tsv
    neardup sample -q pairs.tsv -n 10 >rows
    refuse() { # MESSAGE WORDS…
        run neardup eval --judged "${@:2}"
        [ "$status" -eq 2 ]
        [[ $output == *"$1"* ]] || { echo "$output"; return 1; }
    }
    refuse "pairs.tsv:1: no column is called 'a'" pairs.tsv
    labelled rows perhaps >bad
    refuse "bad:2: the label is none of same, different and unsure: 'perhaps'" bad
    { cat rows; sed -n 2p rows; } >bad
    refuse "bad:12: the pair of line 2 again" bad
    sed '3s/\t[0-9]*\t$/\t3\t/' rows >bad
    refuse "of is 3, but" bad
    sed '2s/[^\t]*$/else/' rows >bad
    refuse "bad:2: the document that was drawn is not of the pair" bad
    head -1 rows >bad
    refuse "bad: there is no pair" bad
    refuse "eval takes no truth" rows --truth rows
    refuse "only --by stratum" rows --by x
}
