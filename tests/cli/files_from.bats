#!/usr/bin/env bats
# files_from.bats - --files-from: the files that a list names, in every command that takes files

load common

@test "files-from: the files of a list, blank lines passed over, behind those of the command line" {
    small_corpus
    split -l 1 small.jsonl part-
    ls part-* >list
    neardup dedup -f jsonl part-aa part-ab part-ac part-ad part-ae -q >expected
    neardup dedup -f jsonl --files-from list -q >got
    cmp expected got
    { echo && echo && cat list && echo; } >gaps
    neardup dedup -f jsonl --files-from gaps -q >got
    cmp expected got
    neardup dedup -f jsonl --files-from - -q <list >got
    cmp expected got
    printf '%s' "$(tail -n +2 list)" >rest # without a last line end
    neardup dedup -f jsonl part-aa --files-from rest -q --manifest m.jsonl >got
    cmp expected got
    [ "$(rows m.jsonl kept_at)" = "$(printf '"part-aa:1"\n"part-aa:1"')" ]
    head -2 list >two
    tail -3 list >three
    neardup dedup -f jsonl --files-from two --files-from three -q >got
    cmp expected got
    neardup dedup -f jsonl part-aa --files-from <(echo -) -q <<<'{"id":9,"text":"what comes from the standard input"}' >got
    [ "$(ids got)" = "a 9" ]
}

@test "files-from: more files than a command line holds, and paths that end in NULs" {
    mkdir "$(printf 'in\nside')"
    for i in 1 2 3; do echo "document number $i of some" >"$(printf 'in\nside/%s' $i)"; done
    cp "$(printf 'in\nside/1')" "$(printf 'in\nside/4')"
    find . -name '[1-4]' -print0 | sort -z >list
    neardup dedup -q --files-from list -0 >kept
    cmp kept <(head -z -n 3 list)
    neardup dedup -q --files-from - --null <list | cmp - kept
    neardup sketch --files-from list -0 -q >sketches
    [ "$(wc -l <sketches)" -eq 4 ]
    run neardup dedup -q --files-from list
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: list:2: contains a NUL; use --null for paths that end in NUL" ]]
    mkdir many
    for i in $(seq 1200); do echo "file number $i, which is like none of the others $((i * 7919))" >"many/$i"; done
    find "$PWD/many" -type f >list
    neardup dedup -q --files-from list | cmp - list
}

@test "files-from: a file that is not there is named with its place in the list" {
    small_corpus
    printf '\nsmall.jsonl\n\nnot: here.jsonl\n' >list
    run neardup dedup --files-from list -q -o out
    [ "$status" -eq 3 ]
    [[ ${lines[0]} == "neardup: list:4: not: here.jsonl: "*"No such file"* ]]
    [ "$(ids out)" = "a 4 5" ]
    run neardup pairs --files-from - -q <list
    [ "$status" -eq 3 ]
    [[ $output == *"neardup: standard input:4: not: here.jsonl: "* ]]
    # A file that is there and cannot be read is named by itself.
    echo small.jsonl >list
    head -c 20 /dev/zero >small.jsonl
    run neardup dedup --files-from list -q
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"the first: small.jsonl:1: "* ]]
    printf 'ff\n' >fp
    printf 'fp\nnone\n' >list
    for command in "index build -o out.ndx" "index pairs" "index stats" "join fp" "join --merge" "df merge -o out.df"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" $command --files-from list
        [ "$status" -eq 2 ]
        [ "${lines[0]}" = "neardup: list:2: none: No such file or directory" ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "files-from: what is no list, or no list of files, is refused" {
    small_corpus
    : >empty
    printf '\n\n' >blank
    for list in empty blank /dev/null; do
        run neardup dedup --files-from $list -q
        [ "$status" -eq 2 ]
        [ "${lines[0]}" = "neardup: $list: lists no files" ]
    done
    run neardup dedup --files-from none
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: none: No such file or directory" ]
    run neardup dedup --files-from .
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: .: Is a directory" ]
    run neardup dedup --files-from - - <small.jsonl
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"the standard input cannot be read as both a list of files and one of them" ]]
    run neardup dedup --files-from - <<<-
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"standard input:1: the standard input cannot be both a list and one of its files" ]]
    run neardup pairs small.jsonl -0
    [ "$status" -eq 2 ]
    [ "${lines[0]}" = "neardup: --null requires --files-from" ]
    echo small.jsonl >list
    run bash -c "'$NEARDUP' dedup --files-from - -q -o list <list"
    [ "$status" -eq 2 ]
    [ "$(cat list)" = small.jsonl ]
    # No list stands for what comes before the files.
    printf 'ff\n' >fp
    neardup index build fp -o x.ndx
    cp x.ndx before
    echo x.ndx >list
    for command in "index add --files-from list" "index --files-from list" "apply --files-from list" "report --files-from list" "sources --files-from list" "join --files-from list" "df calibrate --files-from list" "df --files-from list"; do
        # shellcheck disable=SC2086
        run "$NEARDUP" $command
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"--files-from lists only files, so the arguments before them are missing: "* ]]
    done
    cmp x.ndx before
    run neardup index info x.ndx --files-from list
    [ "$status" -eq 2 ]
}

@test "files-from: every command reads its files from a list as from the command line" {
    mkdir site
    small_corpus
    sed 's/"id"/"url":"http:\/\/a.org\/x","id"/' small.jsonl >docs.jsonl
    head -2 docs.jsonl | sed 's/a.org/b.org/' >more.jsonl
    echo '<a href=b.html>to b, which is another page</a>' >site/a.html
    echo '<a href=a.html>to a, which is the first page</a>' >site/b.html
    printf 'ff\n01\nfe\n' >fp1
    printf 'fc\n01\n' >fp2
    neardup df build docs.jsonl -q -o one.df
    neardup df build more.jsonl -q -o two.df
    neardup dedup docs.jsonl more.jsonl -q -o kept --manifest all.manifest
    printf '%s\t%s\n' a a b a c c >sets
    printf 'a\tb\t.9\nb\tc\t.8\n' >pairs
    jq -r .text docs.jsonl | head -1 >text.txt
    n=0
    while IFS='|' read -r command files; do
        # shellcheck disable=SC2086
        printf '%s\n' $files >list
        # shellcheck disable=SC2086
        "$NEARDUP" $command $files >expected || [ $? -eq 1 ]
        [ ! -e made ] || mv made expected
        # shellcheck disable=SC2086
        "$NEARDUP" $command --files-from list >got || [ $? -eq 1 ]
        [ ! -e made ] || mv made got
        [ -s expected ]
        cmp expected got
        n=$((n + 1))
    done <<'END'
dedup -q|docs.jsonl more.jsonl
pairs -q|docs.jsonl more.jsonl
collapse -q|docs.jsonl more.jsonl
mirrors -q --least-paths 1 --score 0|docs.jsonl more.jsonl
template -q|docs.jsonl more.jsonl
apply -q all.manifest|docs.jsonl more.jsonl
report -q all.manifest|docs.jsonl more.jsonl
audit -q --removed all.manifest|docs.jsonl more.jsonl
eval -q --truth sets|sets pairs
clusters -q|sets pairs
sweep -q --truth sets --set threshold=0.5,0.8|docs.jsonl
anchors -q|site/a.html site/b.html
track -q|docs.jsonl more.jsonl
perturb -q --insert 2|docs.jsonl more.jsonl
repeats -q|docs.jsonl more.jsonl
sources -q text.txt|docs.jsonl more.jsonl
filter -q -p more.jsonl|docs.jsonl more.jsonl
sketch -q|docs.jsonl more.jsonl
index pairs|fp1 fp2
index stats|fp1 fp2
index build -o made|fp1 fp2
join fp1|fp1 fp2
join --merge|fp1 fp2
df build -q -o made|docs.jsonl more.jsonl
df merge -o made|one.df two.df
df calibrate one.df -q --recipe seshasai-2009|docs.jsonl more.jsonl
END
    [ "$n" -eq 26 ]
    # All that offer the option were tried, client in client.bats, plan in plan.bats; those that compare two documents do not.
    offered=$(for command in $("$NEARDUP" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do "$NEARDUP" "$command" --help | grep -q -- --files-from && echo "$command"; done | sort | tr '\n' ' ')
    [ "$offered" = "anchors apply audit client clusters collapse dedup df eval filter index join mirrors pairs perturb plan repeats report sketch sources sweep template track " ]
}
