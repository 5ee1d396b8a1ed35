#!/usr/bin/env bats
# boilerplate.bats - text that many pages of a site share is left out of what is hashed, or weighs less

load common

# page NAME WORD…: a page of a site, with little text of its own.
page() {
    echo "<title>$1</title><p>Welcome to the pages of the little museum of bees, open on all days but monday"
    echo "<ul><li>Home<li>Visits<li>Prices and tickets<li>Friends of the museum<li>Contact</ul><p>${*:2}"
    echo "<p>Copyright by the little museum of bees and its many friends, all rights reserved, printed on paper"
}

site() {
    page a hives stand in the sun and wax runs slowly out of every comb that hangs there >a.html
    page b twelve queens were counted last summer by visiting children who had brought cake >b.html
    page c hives stand in the sun and wax runs slowly out of every comb that hangs here >c.html
    page d nothing >d.html
    page e an old smoker made of copper was given to us by a farmer who no longer needs it >e.html
    neardup df build --features sketch -w 4 -q -o site.df [a-e].html
}

# recipe KEYS: one signature, of 2-shingles.
recipe() {
    printf '[signature s]\nunit = shingles\nwidth = 2\nkind = features\n%b[decide]\ncandidates = match\nmatch = resemblance(s) >= 0.6\nverify = none\n' "$1"
}

pairs_of() {
    neardup pairs --recipe "$1" "${@:2}" -q [a-e].html | cut -f 1,2 | tr '\t\n' '- '
}

@test "without the template the pages are told apart by their own text" {
    site
    recipe '' >whole.ini
    recipe 'template_count = 3\ntemplate_df = site.df\n' >own.ini
    [ "$(pairs_of whole.ini --set 'match=resemblance(s) >= 0.5')" != "a.html-c.html " ]
    [ "$(pairs_of own.ini)" = "a.html-c.html " ]
    [ "$(pairs_of own.ini --set 'match=resemblance(s) >= 0.5')" = "a.html-c.html " ]
    neardup sketch --recipe own.ini -q d.html >sketch # all that is left: the title, and a word
    [ "$(grep -o '"signatures":.*' sketch | grep -o '"[0-9a-f]\{16\}"' | wc -l)" -le 2 ]
    # Threads change nothing.
    for threads in 1 2 8; do
        neardup dedup --recipe own.ini -q [a-e].html -o kept.$threads --threads $threads
    done
    cmp kept.1 kept.2
    cmp kept.1 kept.8
    [ "$(tr '\n' ' ' <kept.1)" = "a.html b.html d.html e.html " ]
}

@test "a simhash hears the template less, or not at all" {
    site
    simhash() {
        printf '[signature s]\nkind = simhash\nbits = 512\n%b[decide]\ncandidates = match\nmatch = agree(s) >= 500\nverify = none\n' "$1" >s.ini
        neardup explain --recipe s.ini a.html b.html | sed -n 's/^signature s: *\([0-9]*\) of 512 agree/\1/p'
    }
    whole=$(simhash '')
    half=$(simhash 'template_count = 3\ntemplate_df = site.df\ntemplate_weight = 0.3\n')
    own=$(simhash 'template_count = 3\ntemplate_df = site.df\n')
    [ "$whole" -gt "$half" ]
    [ "$half" -gt "$own" ]
    [ "$(simhash 'template_count = 3\ntemplate_df = site.df\ntemplate_weight = 1\n')" -eq "$whole" ]
    [ "$(simhash 'template_count = 5\ntemplate_df = site.df\n')" -eq "$whole" ] # no page is a sixth
}

@test "tables are asked for, checked, and part of the recipe" {
    site
    recipe 'template_count = 3\n' >own.ini
    run neardup pairs --recipe own.ini [a-e].html
    [ "$status" -eq 2 ]
    [[ $output == *"signature s: template_count needs a df table of shingles: make one with neardup df build --features sketch"* ]]
    neardup df build --features terms -q -o words.df [a-e].html
    run neardup pairs --recipe own.ini --set s.template_df=words.df [a-e].html
    [ "$status" -eq 2 ]
    [[ $output == *"words.df: the df table of the template does not count shingles"* ]]
    run neardup pairs --recipe own.ini --set s.template_df=no.df [a-e].html
    [ "$status" -eq 2 ]
    [[ $output == *"no.df"* ]]
    version=$(neardup df info site.df | sed -n 's/^version: //p')
    neardup dedup --recipe own.ini --set s.template_df=site.df -q [a-e].html -o kept --manifest rows.jsonl
    head -n 1 rows.jsonl | grep -q "template_df_version = $version"
    run neardup pairs --recipe own.ini --set s.template_df=site.df --set s.template_df_version=0x1 [a-e].html
    [ "$status" -eq 2 ]
    [[ $output == *"made with different tables"* ]]
    neardup df build --features sketch -w 4 -q -o two.df a.html b.html
    printf '[signature s]\nidf = log\ndf = words.df\ntemplate_count = 3\ntemplate_df = site.df\n[decide]\ncandidates = match\nmatch = distance(s) <= 3\nverify = none\n' >both.ini
    neardup df calibrate words.df --recipe both.ini -q [a-e].html >factor
    neardup df calibrate words.df --recipe both.ini --set s.template_df=two.df -q [a-e].html >other
    run cmp factor other
    [ "$status" -eq 1 ]
}
