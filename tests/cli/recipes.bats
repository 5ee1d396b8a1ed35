#!/usr/bin/env bats
# recipes.bats - recipes by name: listed, shown, checked, compared, and what bad ones are told

load common

# Status 2, these words, and no new file.
fails() {
    local words=$1 before
    shift
    before=$(find . | sort)
    run "$NEARDUP" "$@"
    [ "$status" -eq 2 ] || { echo "status $status: $output"; return 1; }
    [[ $output == *"$words"* ]] || { echo "$output"; return 1; }
    [ "$(find . | sort)" = "$before" ]
}

@test "every recipe of the tree is listed with what it is, and shown as it is" {
    recipes=$BATS_TEST_DIRNAME/../../recipes
    neardup recipe list >list 2>hint
    grep -q "docs/choosing.md" hint
    [ -s "$BATS_TEST_DIRNAME/../../docs/choosing.md" ]
    (cd "$recipes" && printf '%s\n' *.ini) | sed 's/\.ini$//' | LC_ALL=C sort >names
    awk '{ print $1 }' list | diff - names
    awk 'NF < 3 { exit 1 }' list
    while read -r name; do
        neardup recipe show "$name" | cmp - "$recipes/$name.ini"
    done <names
}

@test "the format pages list the units of features, and which keys are read with which" {
    formats=$BATS_TEST_DIRNAME/../../docs/format
    [ -n "$(units)" ]
    for unit in $(units); do
        grep -qF "**\`unit = $unit\`" "$formats/features.md" || { echo "features.md: no unit = $unit"; return 1; }
    done
    python3 - "$formats/recipe.md" unit="$(units)" stem="$(units 'stem = english')" width="$(units 'width = 2')" \
        distance="$(units 'distance = 2')" anchors="$(units 'anchors = a')" <<'END'
import re, sys
page = open(sys.argv[1]).read().partition("## `[signature NAME]`: features")[2]
rows = {row[0].strip("` "): row for row in (line[1:].split("|") for line in page.split("\n") if line.startswith("|"))}
said = {"unit": rows["unit"][1], "stem": re.search("The units (.*?) are of words", page, re.S)[1]}
said.update((key, rows[key][3]) for key in ("width", "distance", "anchors"))
for key, units in (argument.split("=") for argument in sys.argv[2:]):
    page_units = [u.rpartition(" ")[2] for u in re.findall("`(.*?)`", said[key])]
    page_units = [u for u in page_units if u not in ("unit", "anchored")]
    assert page_units == units.split() and units, f"{key}: the page says {page_units}, the program {units}"
END
}

@test "every shipped recipe is one, and its canonical form is its own canonical form" {
    for name in $(neardup recipe list | awk '{ print $1 }'); do
        neardup recipe check "$name" >of_name
        grep -qE "^$name: a recipe, fingerprint [0-9a-f]{16}$" of_name
        neardup recipe show --canonical "$name" >"$name.ini"
        neardup recipe show "$name.ini" | cmp - "$name.ini"
        [ "$(neardup recipe check "$name.ini" | sed 's/\.ini//')" = "$(cat of_name)" ]
        run neardup recipe diff "$name" "$name.ini"
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
}

@test "the recipe by which the README's example removes documents compares the texts, as the README says of neardup" {
    sed -n '/^```sh/,/^```/p' "$BATS_TEST_DIRNAME/../../README.md" >examples
    grep "neardup dedup" examples | grep -o -- '--recipe [a-z0-9-]*' | cut -d " " -f 2 | sort -u >names
    [ -s names ]
    while read -r name; do
        neardup recipe show --canonical "$name" >shown
        run grep -x "verify = none" shown
        [ "$status" -eq 1 ]
    done <names
    grep -q "answer by their sketches alone" "$BATS_TEST_DIRNAME/../../README.md"
}

@test "the default recipe has the fingerprint of its documentation" {
    [ "$(neardup recipe check default)" = "default: a recipe, fingerprint e35e8ae03b9ccdfb" ]
    : >empty.ini
    [ "$(neardup recipe check empty.ini)" = "empty.ini: a recipe, fingerprint e35e8ae03b9ccdfb" ]
}

@test "diff names what differs, and whether sketches can be compared" {
    run neardup recipe diff henzinger-2006-c henzinger-2006-combined
    [ "$status" -eq 1 ]
    [[ $output == *"[decide]"*"- match = agree(c) >= 372"*"+ match = equal(b) >= 2 and agree(c) >= 355"* ]]
    [[ $output == *"[signature b]"*"+ kind = supershingles"*"sketches cannot be compared: "* ]]
    printf '[decide]\nthreshold = 0.9\n' >strict.ini
    run neardup recipe diff default strict.ini
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "[decide]" ]
    [ "${lines[1]}" = "- threshold = 4/5" ]
    [ "${lines[2]}" = "+ threshold = 9/10" ]
    [[ ${lines[3]} == "sketches can be compared: fingerprints e35e8ae03b9ccdfb and e35e8ae03b9ccdfb" ]]
}

@test "show with --set and --df shows what they change" {
    neardup recipe show --set c.tf=log --set threshold=0.5 henzinger-2006-c >shown
    grep -qx "tf = log" shown
    grep -qx "threshold = 1/2" shown
    neardup recipe show --df words.df seshasai-2009 >shown
    grep -qx "df = words.df" shown
    [ "$(neardup recipe check --df a.df seshasai-2009)" = "$(neardup recipe check --df b.df seshasai-2009)" ]
    fails "nothing in the recipe needs a df table" recipe show --df words.df cops-1995
    fails "the recipe has no signature 'd'" recipe show --set d.bits=512 henzinger-2006-c
}

@test "a recipe by name is read like its file" {
    small_corpus
    neardup recipe show default >copy.ini
    neardup dedup --recipe default small.jsonl -q -o by_name --manifest name.jsonl
    neardup dedup --recipe copy.ini small.jsonl -q -o by_file --manifest file.jsonl
    cmp by_name by_file
    cmp name.jsonl file.jsonl
}

@test "a relative path in a recipe is below the recipe's folder" {
    mkdir sub
    printf '[signature s]\nidf = log\ndf = news.df\nstop_words = words.txt\n' >sub/my.ini
    neardup recipe show sub/my.ini >shown
    grep -qx "df = sub/news.df" shown
    grep -qx "stop_words = sub/words.txt" shown
    neardup recipe show --set s.df=other.df sub/my.ini | grep -qx "df = other.df"
}

@test "a bad recipe is refused with file, line, key and the nearest" {
    small_corpus
    fails "there is no recipe or file 'manku-207'; did you mean 'manku-2007'?" dedup --recipe manku-207 small.jsonl
    fails "there is no recipe or file 'seshasai'; did you mean 'seshasai-2009'?" recipe check seshasai
    fails "nowhere.ini: No such file or directory" dedup --recipe nowhere.ini small.jsonl
    fails "there is no command recipe lst; did you mean 'list'?" recipe lst
    fails "recipe show takes one recipe" recipe show
    fails "recipe diff takes two recipes" recipe diff default
    fails "recipe check takes recipes" recipe check
    fails "recipe list takes no argument" recipe list default
    printf '[signature s]\nkind = simhash\nbitz = 64\n' >unknown.ini
    printf '[signature s]\nkind = simhash\nbits = 1000\n' >impossible.ini
    printf '[signature s]\nkind = simhash\nbits' >truncated.ini
    printf '[sketch\nshingle = 3\n' >cut.ini
    printf '[signatur s]\nkind = simhash\n' >section.ini
    printf '[signature s]\nkind = simhash\nminima = 84\n' >unread.ini
    printf '[decide]\nshingle = 3\n' >wrong_section.ini
    printf '[sketch]\nshingle = 3\0\n' >zero.ini
    head -c 2000000 /dev/zero | tr '\0' '#' >long.ini
    fails "unknown.ini:3: no key 'bitz'; did you mean 'bits'?" dedup --recipe unknown.ini small.jsonl -o out --manifest m
    fails "impossible.ini:3: bits = 1000: not at least 1 and at most 512" dedup --recipe impossible.ini small.jsonl -o out --manifest m
    fails "truncated.ini:3: neither a [section] nor a 'key = value'" dedup --recipe truncated.ini small.jsonl -o out
    fails "cut.ini:1: a section needs its closing ']'" sketch --recipe cut.ini small.jsonl -o out
    fails "section.ini:1: unknown section; expected [sketch], [decide] or [signature NAME]" pairs --recipe section.ini small.jsonl -o out
    fails "unread.ini:3: 'minima' is used only where kind is minhash" dedup --recipe unread.ini small.jsonl -o out
    fails "wrong_section.ini:2: 'shingle' belongs in the section [sketch]" dedup --recipe wrong_section.ini small.jsonl
    fails "zero.ini:2: a control character" dedup --recipe zero.ini small.jsonl
    fails "long.ini: a recipe has at most 1048576 bytes" dedup --recipe long.ini small.jsonl
    fails "minima = 77 is used only where kind is" dedup --recipe henzinger-2006-c --set c.minima=77 small.jsonl
    fails "match: at character 7: this kind of signature has no such value" dedup --recipe henzinger-2006-b --set b.kind=simhash small.jsonl
    fails "match: no candidates can be found by the rule" recipe check --set c.bits=256 henzinger-2006-c
    printf '[signature s]\nkind = simhash\nbits = 65\n' >misfit.ini
    fails "misfit.ini:3: bits is out of range: a simhash has 32, 64, 128, 256, 384 or 512" dedup --recipe misfit.ini small.jsonl -o out
    printf '[signature s]\n[decide]\ncandidates = match\nmatch = distanc(s) <= 3\n' >rule.ini
    fails "rule.ini:4: match: at character 1: no such value; did you mean 'distance'" dedup --recipe rule.ini small.jsonl -o out
    for name in unknown impossible truncated cut section unread wrong_section zero long; do
        fails "$name.ini:" recipe check default $name.ini
    done
}

@test "a recipe that wants a df table says so, and writes nothing" {
    small_corpus
    for name in chowdhury-2002 kolcz-2004-web kolcz-2004-mail seshasai-2009 seshasai-2009-extra-metadata; do
        fails "needs a df table: make one of the input with --df auto=FILE" dedup --recipe $name small.jsonl -o out --manifest m
    done
    fails "nowhere.df" dedup --recipe seshasai-2009 --df nowhere.df small.jsonl -o out --manifest m
    fails "--df: nothing in the recipe needs a df table" dedup --df words.df small.jsonl -o out
}

# Three documents, of which the first two are nearly the same, and 200 of the words of the first.
story_corpus() {
    python3 - <<'EOF'
import json, random
story = """In the beginning a small dog and a large cat sat on the warm wall of the old house. They
spoke of the weather and of the price of fish until the sun went down. Then the dog said that it was
time for the evening meal. The cat agreed that a plate of fish is the best end of a long day. So the
two friends went into the kitchen of the house and ate what the people had left for them on the floor.
On the next morning the rain fell and nobody wanted to go out. A bird came to the window and told them
that the river had risen over the bridge in the night. The miller was asleep when his boat floated away,
and now it lies between the trees behind the church. Three children have climbed into it and play at
being sailors. Their mother is looking for them in every street of the village, and the baker has sent
his apprentice to ask at the station. If the dog would only bark a little louder, says the bird, everyone
might hear where they are. But the dog has eaten too much fish, and the cat is not willing to get her
paws wet. At noon the sun is shining again. The children come home alone, hungry and covered with mud,
and for once there is cake for all of them, even for the bird."""
other = """Nothing of this kind has the least to do with a story about animals. It is an account of how
a bridge was built over a wide river by a company from another country. The work is said to have taken
three years and to have cost more than was planned."""
with open("three.jsonl", "w") as out:
    for i, text in enumerate([story, story + " To a.", other]):
        out.write(json.dumps({"id": i + 1, "text": text, "title": "A story"}) + "\n")
random.seed(5)
words = sorted(set(story.replace(".", "").lower().split()))
with open("background.jsonl", "w") as out:
    for i in range(200):
        out.write(json.dumps({"text": " ".join(random.sample(words, 16))}) + "\n")
EOF
}

@test "slow: each shipped recipe finds the near duplicate, by dedup, pairs and explain" {
    story_corpus
    for name in $(neardup recipe list | awk '{ print $1 }'); do
        if neardup recipe show "$name" | grep -Eq "^unit = (paths|none)"; then
            continue # of pages: structure.bats
        fi
        df=()
        if neardup recipe show "$name" | grep -q "^df ="; then
            neardup df build --recipe "$name" background.jsonl -q -o words.df
            df=(--df words.df)
        fi
        if neardup recipe show "$name" | grep -q "^template_df ="; then
            neardup df build --features sketch -w 5 three.jsonl -q -o runs.df
            signature=$(neardup recipe show "$name" | sed -n 's/^\[signature \(.*\)\]$/\1/p')
            df=(--set "$signature.template_df=runs.df")
        fi
        neardup dedup --recipe "$name" "${df[@]}" three.jsonl -q -o kept.jsonl --manifest removed.jsonl
        first=1
        ! neardup recipe show "$name" | grep -q "^keep = longest" || first=2
        [ "$(ids kept.jsonl)" = "$first 3" ] || { echo "$name: $(ids kept.jsonl)"; return 1; }
        neardup pairs --recipe "$name" "${df[@]}" three.jsonl -q >pairs.tsv
        [ "$(cut -f 1-2 pairs.tsv)" = "$(printf '1\t2')" ] || { echo "$name: $(cat pairs.tsv)"; return 1; }
        neardup explain --recipe "$name" "${df[@]}" --corpus three.jsonl "$first" "$((3 - first))" >/dev/null
        neardup sketch --recipe "$name" "${df[@]}" three.jsonl -q >sketches
        [ "$(wc -l <sketches)" -eq 3 ]
    done
}

# Sixty files, each with the same notice before a line of its own; two of them have the same code.
noticed_files() {
    python3 - <<'EOF'
import json
notice = "Permission is hereby granted free of charge to any person who obtains a copy of this software " * 3
with open("files.jsonl", "w") as out:
    for i in range(60):
        words = " ".join(f"name{i if i != 7 else 3}_{k}" for k in range(8)) + (" and one more" if i == 7 else "")
        out.write(json.dumps({"id": i, "text": notice + words}) + "\n")
EOF
}

@test "code and framed-pages leave out what all documents share, where the default finds them all alike" {
    noticed_files
    neardup pairs files.jsonl --threshold 0.3 -q >by_default
    [ "$(wc -l <by_default)" -gt 100 ]
    neardup df build --features sketch -w 5 files.jsonl -q -o runs.df
    neardup pairs files.jsonl --recipe code --set code.template_df=runs.df -q >found
    [ "$(cut -f 1-2 found)" = "$(printf '3\t7')" ]
    fails "template_count needs a df table of shingles" pairs files.jsonl --recipe code -o out
    neardup pairs files.jsonl --recipe framed-pages --set page.template_df=runs.df -q >found
    [ "$(cut -f 1-2 found)" = "$(printf '3\t7')" ]
}

@test "short-texts finds a title with a word more, less, elsewhere or misspelt, and no other" {
    printf '%s\n' "Council to close the old bridge until June" "Council to close old bridge until June" \
        "Council to clsoe the old bridge until June" "Until June council to close the old bridge" \
        "Museum opens new wing on Saturday" >titles.txt
    neardup pairs titles.txt --unit line -q >by_default || [ $? -eq 1 ]
    [ ! -s by_default ]
    neardup pairs titles.txt --unit line --recipe short-texts -q | cut -f 1-2 >found
    grep -qx "titles.txt:1	titles.txt:2" found
    grep -qx "titles.txt:1	titles.txt:3" found
    grep -qx "titles.txt:1	titles.txt:4" found
    run grep -c "titles.txt:5" found
    [ "$output" = 0 ]
}

# The two reports of Seshasai 2009, section 6.4.1, with the metadata that both have there. The df table
# is of the paragraphs of this project's licence, a real text that does not change.
@test "seshasai-2009-extra-metadata finds the paper's own pair, which words alone leave apart" {
    python3 - <<'EOF'
import json
may = """Japan's merchandise trade surplus expanded 12.5 percent in May from the month a year earlier as growth
in exports outpaced the increase in imports. Though Japan's surplus increased to 694 billion yen ($5.8 billion) in
the month, exports grew 3.5 percent, which was the slowest growth in 13 months. The effect of severe acute
respiratory syndrome, or SARS, in Asia was partly to blame."""
december = """Japan's trade surplus hit 791 billion yen ($6.7 billion) in December, growing 19.9 percent compared
with December 2001; trade surplus with US grew 18.6 percent, to 624 billion yen."""
title = "World Business Briefing | Asia: Japan: Trade Surplus Expands"
both = dict(headline=title, title=title, byline="By Ken Belson (NYT)", desk="Business/Financial Desk", section="W", page="1",
            descriptors="International Trade and World Market; Economic Conditions and Trends", year="2003", weekday="Tuesday")
with open("trade.jsonl", "w") as out:
    for i, text in (("may", may), ("december", december)):
        out.write(json.dumps(dict(id=i, text=text, **both)) + "\n")
EOF
    neardup df build --recipe seshasai-2009 --unit paragraph "$BATS_TEST_DIRNAME/../../LICENSE" -q -o words.df
    neardup pairs --recipe seshasai-2009-extra-metadata --df words.df trade.jsonl -q >found
    [ "$(cut -f 1-2 found)" = "$(printf 'may\tdecember')" ]
    run neardup pairs --recipe seshasai-2009 --df words.df trade.jsonl -q
    [ "$status" -eq 1 ]
    [ -z "$output" ]
}

@test "another df table is another recipe, and one that counts other features is refused" {
    story_corpus
    neardup df build --recipe seshasai-2009 background.jsonl -q -o first.df
    neardup df build --recipe seshasai-2009 three.jsonl -q -o second.df
    for table in first second; do
        neardup dedup --recipe seshasai-2009 --df $table.df three.jsonl -q -o out --manifest $table.jsonl
        head -n 1 $table.jsonl | python3 -c 'import json,sys
header = json.loads(sys.stdin.readline())
print(header["recipe_fingerprint"])
print(*[line for line in header["recipe"].splitlines() if line.startswith("df_version")])' >$table.txt
    done
    run diff first.txt second.txt
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 6 ]
    rm out
    version=$(sed -n 's/df_version = //p' first.txt)
    neardup dedup --recipe seshasai-2009 --df first.df --set "simhash.df_version=$version" three.jsonl -q -o out
    rm out
    fails "sketches made with different tables cannot be compared" dedup --recipe seshasai-2009 --df second.df \
        --set "simhash.df_version=$version" three.jsonl -o out --manifest m
    fails "the df table counts other features" dedup --recipe seshasai-2009 --set simhash.stem=english \
        --df first.df three.jsonl -o out --manifest m
    head -c 100 first.df >cut.df
    fails "cut.df: " dedup --recipe seshasai-2009 --df cut.df three.jsonl -o out --manifest m
}

@test "a key that changes nothing is warned of" {
    small_corpus
    run neardup dedup --bits 5 small.jsonl -q -o out
    [ "$status" -eq 0 ]
    [ "$output" = "neardup: warning: simhash_bits = 5 is used only where candidates is simhash (its default: 3)" ]
    run neardup recipe check --set bands=20 --set rows=5 --set recall=0.9 default
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "neardup: default: warning: recall = 0.9 is used only where "* ]]
    [[ ${lines[1]} == "default: a recipe, "* ]]
}

@test "signatures that no rule reads are warned of, where something is decided" {
    small_corpus
    printf '[signature s]\n' >own.ini
    warning="warning: the signatures are not used: candidates is not match"
    run neardup recipe check --set bands=20 --set rows=5 --set recall=0.9 own.ini
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "neardup: own.ini: warning: recall = 0.9 is used only where "* ]]
    [ "${lines[1]}" = "neardup: own.ini: $warning" ]
    run neardup dedup --recipe own.ini small.jsonl -q -o out
    [ "$status" -eq 0 ]
    [ "$output" = "neardup: $warning" ]
    run neardup sketch --recipe own.ini small.jsonl -q -o out
    [ -z "$output" ]
    run neardup recipe check manku-2007
    [ "${#lines[@]}" -eq 1 ]
}

@test "a field that no document has is warned of in every command, whatever names it" {
    small_corpus
    sed 's/"id"/"url":"http:\/\/a.org\/x","id"/' small.jsonl >docs.jsonl
    warns() { # COMMAND [WARNING]...
        local command=$1 wanted=
        shift
        wanted=$(printf 'neardup: warning: %s\n' "$@")
        # shellcheck disable=SC2086
        "$NEARDUP" $command docs.jsonl -q -o out --recipe manku-2007 --set "simhash.fields=title:1 lang:0.5" \
            --set simhash.force=day:2 2>err || [ $? -eq 1 ]
        grep -q "; the first has url, id, text" err # the fields that a record has
        [ "$(sed 's/; the first has .*//' err)" = "$wanted" ] || { echo "$command: $(cat err)"; return 1; }
    }
    title="simhash.fields: no document has a field 'title'"
    day="simhash.force: no document has a field 'day'"
    for command in dedup pairs sketch track collapse mirrors template; do
        warns $command "$title" "$day"
    done
    warns "filter -p small.jsonl" "${title/document/prototype}" "${day/document/prototype}" "$title" "$day"
    warns "dedup --keep last" "$title" "$day"
    warns "pairs --site host" "$title" "$day" "site: no document has a field 'host': hosts cannot be compared"
    warns "track --series page" "$title" "$day" \
        "series: no document has a field 'page': all records count as versions of one document"
    warns "collapse --keep newest:day --order max:lang --expand newest:day" "$title" "$day" \
        "keep: no document has a date in a field 'day': the first of a cluster is kept" \
        "order: no document has a number in a field 'lang': results are ordered by rank" \
        "expand: no document has a date in a field 'day': results are ordered by rank"
    # Nor is what some document has warned of, or where there is no document.
    neardup collapse docs.jsonl -q -o out --keep newest:date --order max:n 2>err
    [ ! -s err ]
    neardup track docs.jsonl -q -o out --series src 2>err
    [ ! -s err ]
    : >empty.jsonl
    rm out
    neardup dedup empty.jsonl -q -o out --within lang 2>err
    [ ! -s err ]
}

@test "mirrors and template, which make no signatures, want no df table" {
    small_corpus
    sed 's/"id"/"url":"http:\/\/a.org\/x","id"/' small.jsonl >docs.jsonl
    neardup mirrors docs.jsonl -q --recipe seshasai-2009 || [ $? -eq 1 ]
    neardup template docs.jsonl -q --share 0.6 --recipe seshasai-2009 -o out
    neardup template docs.jsonl -q --share 0.6 -o plain
    cmp out plain
}

@test "addresses in canonical form: one document stays for each, whatever its text is" {
    cat >address.ini <<'END'
[signature address]
kind = features
unit = none
fields = url:1:address
[decide]
candidates = match
match = shared(address) >= 1
verify = none
END
    cat >in.jsonl <<'END'
{"id":1,"url":"http://a.org/x?b=1&a=2","text":"one text"}
{"id":2,"url":"HTTP://A.org:80/./x?a=2&utm_source=n&b=1#top","text":"another text"}
{"id":3,"url":"http://a.org/X?a=2&b=1","text":"one text"}
{"id":4,"url":["http://c.org","http://a.org/X?a=2&b=1"],"text":"one text"}
{"id":5,"text":"one text"}
{"id":6,"text":"one text"}
END
    for way in "" "-j3" "--memory 100M --tmp ." "--keep first --cluster components"; do
        # shellcheck disable=SC2086
        neardup dedup -q in.jsonl --recipe address.ini $way -o out.jsonl
        [ "$(jq -c .id out.jsonl | tr '\n' ' ')" = "1 3 5 6 " ]
    done
    neardup sketch -q in.jsonl --recipe address.ini -o in.sketch
    [ "$(neardup pairs -q in.sketch --recipe address.ini | cut -f 1-2)" = "$(printf '1\t2\n3\t4')" ]
    neardup dedup -q in.jsonl --recipe address.ini --against seen.sketch --append -o /dev/null
    [ "$(jq -nc '{id: 7, url: "http://A.org/x?a=2&b=1", text: "other"}' | neardup dedup -q - --recipe address.ini --against seen.sketch | wc -l)" -eq 0 ]
    [[ $(neardup explain --recipe address.ini --corpus in.jsonl 2) == *"url=http://a.org/x?a=2&b=1"* ]]
    run neardup recipe check <(sed 's/:address/:adress/' address.ini)
    [ "$status" -eq 2 ]
    [[ $output == *"one of addresses NAME:SHARE:address"* ]]
}

@test "same-address keeps one document of each address, whatever the texts say" {
    printf '%s\n' '{"id":1,"url":"http://a.org/x?utm_source=1","text":"one two three four"}' \
        '{"id":2,"url":"http://a.org/y","text":"one two three four"}' \
        '{"id":3,"url":"HTTP://A.org:80/x#top","text":"other words"}' \
        '{"id":4,"text":"one two three four"}' '{"id":5,"text":"one two three four"}' >u.jsonl
    neardup dedup -q --recipe same-address u.jsonl --manifest m.jsonl -o out
    [ "$(rows m.jsonl removed kept)" = "3 1" ]
    neardup dedup -q --recipe same-address --keep last u.jsonl --manifest m.jsonl -o out
    [ "$(rows m.jsonl removed kept)" = "1 3" ]
    neardup dedup -q --recipe same-address --set "address.fields=link:1:address" u.jsonl | cmp - u.jsonl
}
