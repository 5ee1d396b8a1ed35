#!/usr/bin/env bats
# df_auto.bats - --df auto=FILE: the df table of the input itself, counted in a first pass

load common

version_of() { # TABLE
    "$NEARDUP" df info "$1" | sed -n 's/^version: //p'
}

@test "--df auto=FILE does what df build and --df do, in every command" {
    large_corpus large.jsonl
    grep -v broken large.jsonl | head -400 >docs.jsonl
    neardup df build --recipe seshasai-2009 docs.jsonl -q -o by-hand.df
    head -20 docs.jsonl >proto.jsonl
    for command in "dedup" "dedup -j1" "dedup --keep last" "pairs" "sketch" "track" "track --plan --duplicates 3" "collapse" \
        "filter -p proto.jsonl -a"; do
        rm -f auto.df
        # shellcheck disable=SC2086
        neardup $command docs.jsonl -q --recipe seshasai-2009 --df by-hand.df -o wanted || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        neardup $command docs.jsonl -q --recipe seshasai-2009 --df auto=auto.df -o got || [ $? -eq 1 ]
        cmp wanted got || { echo "$command"; return 1; }
        cmp by-hand.df auto.df || { echo "$command"; return 1; }
    done
    for command in "explain doc-2" "explain doc-2 doc-4" "compare --show weights doc-2 doc-4"; do
        rm -f auto.df
        # shellcheck disable=SC2086
        neardup $command --corpus docs.jsonl --recipe seshasai-2009 --df by-hand.df >wanted || [ $? -eq 1 ]
        # shellcheck disable=SC2086
        neardup $command --corpus docs.jsonl --recipe seshasai-2009 --df auto=auto.df >got || [ $? -eq 1 ]
        cmp wanted got
        cmp by-hand.df auto.df
    done
}

@test "index build --df auto=FILE keeps the table that its recipe belongs to" {
    large_corpus large.jsonl
    grep -v broken large.jsonl | head -300 >docs.jsonl
    neardup index build docs.jsonl -q --recipe seshasai-2009 --df auto=words.df -o auto.ndx
    mv words.df by-hand.df
    neardup df build --recipe seshasai-2009 docs.jsonl -q -o words.df
    cmp words.df by-hand.df
    neardup index build docs.jsonl -q --recipe seshasai-2009 --df words.df -o plain.ndx
    cmp auto.ndx plain.ndx
    [ "$(neardup index query auto.ndx docs.jsonl | wc -l)" -ge 300 ]
    run neardup index query auto.ndx docs.jsonl --df auto=other.df
    [ "$status" -eq 2 ]
    [[ $output == "neardup: --df auto=FILE: auto.ndx already has a recipe, with its own table" ]]
    [ ! -e other.df ]
}

@test "the manifest names the table of --df auto=FILE, and its version" {
    small_corpus
    neardup dedup small.jsonl -q --recipe chowdhury-2002 --df auto=words.df -o out --manifest m
    head -1 m | grep -q '"df_auto":"words.df"'
    head -1 m | grep -q "df_version = $(version_of words.df)"
    head -1 m | grep -q 'df = words.df'
}

@test "a table of --df auto=FILE is written once: the same one stays, another is never replaced" {
    small_corpus
    large_corpus large.jsonl
    neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=words.df -o out
    cp -p words.df before
    inode=$(stat -c %i words.df)
    neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=words.df -o again
    cmp out again
    [ "$(stat -c %i words.df)" = "$inode" ]
    run neardup dedup large.jsonl -q --max-bad 5% --recipe seshasai-2009 --df auto=words.df -o other
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: words.df: already exists, a df table of version $(version_of words.df), but this input gives 0x"*"; use it with --df words.df, or choose another name to keep both" ]]
    cmp words.df before
    [ ! -e other ]
    # Nor is what is no table.
    run neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=small.jsonl -o other
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == "neardup: small.jsonl: already exists and is not replaced by a df table"* ]]
    run neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=new.df -o new.df
    [ "$status" -eq 2 ]
    [ ! -e new.df ]
    ln -s words.df link
    neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=link -o out
    [ -L link ]
    cmp words.df before
}

@test "--df auto=FILE is refused where the input cannot be read twice" {
    small_corpus
    mkfifo pipe
    twice="the input is read twice, but"
    run bash -c "'$NEARDUP' dedup -q -f jsonl --recipe seshasai-2009 --df auto=words.df -o out - <small.jsonl"
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"$twice standard input can be read only once; make the table first"* ]]
    run bash -c "cat small.jsonl | '$NEARDUP' pairs -q -f jsonl --recipe seshasai-2009 --df auto=words.df"
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"$twice standard input can be read only once"* ]]
    run neardup sketch -q small.jsonl pipe --recipe seshasai-2009 --df auto=words.df
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"$twice pipe can be read only once"* ]]
    run bash -c "'$NEARDUP' dedup -q -f jsonl --recipe seshasai-2009 --df auto=words.df -o out <(cat small.jsonl)"
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"$twice /dev/fd/"* ]]
    run neardup explain small.jsonl small.jsonl --recipe seshasai-2009 --df auto=words.df
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"two documents are not enough"* ]]
    [ ! -e words.df ]
    [ ! -e out ]
}

@test "--df auto=FILE: a run that fails, or only tries, leaves no table; bad records are told once" {
    small_corpus
    echo '{broken' >>small.jsonl
    run neardup dedup small.jsonl -q --strict --recipe seshasai-2009 --df auto=words.df -o out
    [ "$status" -eq 2 ]
    [ "$(ls)" = small.jsonl ]
    run neardup dedup small.jsonl -n --recipe seshasai-2009 --df auto=words.df -q
    [ "$status" -eq 3 ]
    [ "$(ls)" = small.jsonl ]
    run neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=words.df -o out
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 2 ]
    [ -e words.df ]
    for name in - /dev/stdout /dev/null /dev/fd/1; do
        run neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto=$name -o out
        [ "$status" -eq 2 ]
        [[ ${lines[0]} == *"is not a regular file, which a df table must be" ]]
    done
    run neardup dedup small.jsonl -q --recipe seshasai-2009 --df auto= -o out
    [ "${lines[0]}" = "neardup: --df: auto= needs the name of a file" ]
    run neardup dedup small.jsonl -q --df auto=words.df -o out
    [ "${lines[0]}" = "neardup: --df: nothing in the recipe needs a df table" ]
    run neardup recipe show seshasai-2009 --df auto=words.df
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"recipe reads no documents to count" ]]
    : >empty.jsonl
    run neardup dedup empty.jsonl -q --recipe seshasai-2009 --df auto=none.df -o out2
    [ "$status" -eq 2 ]
    [[ ${lines[0]} == *"the input has no documents" ]]
    # A signal leaves none either.
    mkfifo manifest
    "$NEARDUP" dedup small.jsonl -q --recipe seshasai-2009 --df auto=new.df -o out3 --manifest manifest 2>err &
    pid=$!
    await_output "$pid"
    kill -TERM "$pid"
    wait "$pid" || true
    [ ! -e new.df ]
    [ -z "$(find . -name '.neardup*')" ]
}

@test "--df auto=FILE: the first pass counts in the progress" {
    large_corpus large.jsonl
    run neardup dedup large.jsonl -o out --recipe seshasai-2009 --df auto=words.df --progress
    [[ $output == *", pass 1 of 2,"* ]]
    rm words.df
    run neardup dedup large.jsonl -o out --recipe seshasai-2009 --df auto=words.df --progress --keep last
    [[ $output == *", pass 1 of 4,"* ]]
}
