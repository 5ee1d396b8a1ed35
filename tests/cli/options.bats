#!/usr/bin/env bats
# options.bats - every option of every command's help does something there, or is refused

load common

commands() {
    "$NEARDUP" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'
}

options_of() { # COMMAND [PART]: the options of its help
    "$NEARDUP" complete "$@" -- | cut -f 1
}

@test "slow: options: a part of a command takes those of its own help, and refuses those of other parts" {
    n=0
    for command in index df recipe store client; do
        for part in $("$NEARDUP" complete "$command" '' | cut -f 1); do
            options_of "$command" "$part" | sort >own
            "$NEARDUP" help "$command" "$part" >help
            grep -oE '^ .{5}--[a-z-]+' help | grep -oE -- '--[a-z-]+$' | sort -u >by_help
            diff by_help own
            grep -qxe --help own
            "$NEARDUP" "$command" "$part" --help | diff help -
            for option in $(options_of "$command"); do
                [ "$option" != --help ] || continue
                most=60
                [ "$part" != watch ] || ! grep -qxe "$option" own || most=1 # it waits for a service
                run timeout "$most" "$NEARDUP" "$command" "$part" "$option" '?' </dev/null
                if grep -qxe "$option" own; then
                    [[ $output != *" takes no "* ]] || { echo "$command $part: $output"; return 1; }
                else
                    [ "$status" -eq 2 ]
                    [[ $output == "neardup: $command $part has no option $option; it applies to: "* ]] ||
                        { echo "$command $part $option: $output"; return 1; }
                    n=$((n + 1))
                fi
            done
        done
    done
    [ "$n" -gt 200 ] # pairs of a part and an option that is not its own
    run neardup help dedup build
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: help takes one command, and for index, df, recipe, store and client one of their parts" ]
    run neardup help df nothing
    [ "$status" -eq 2 ]
    # The help of all parts says whose an option is.
    neardup help df | tr -s ' \n' ' ' | grep -qF -- '--rarest show those in the fewest documents instead [top]'
    [ "$(neardup help df top | grep -cF '[top]')" -eq 0 ]
}

@test "options: those about something that is not shown are refused" {
    echo "one two three four five six seven eight nine ten eleven" >a.txt
    echo "one two three four five and seven eight nine ten eleven" >b.txt
    while IFS='|' read -r message arguments; do
        # shellcheck disable=SC2086 # words
        run neardup $arguments
        [ "$status" -eq 2 ]
        [ "${lines[0]}" = "neardup: $message" ] || { echo "$arguments: $output"; return 1; }
    done <<'EOT'
--least applies only to --show passages; see neardup help compare|compare --least 3 a.txt b.txt
--least applies only to --show passages; see neardup help compare|compare --least 3 --show edits a.txt b.txt
--gap applies only to --show passages; see neardup help compare|compare --gap 3 --json a.txt b.txt
--limit applies only to --show edits and --metric edit; see neardup help compare|compare --limit 3 --metric cosine a.txt b.txt
--costs applies only to --show edits and --metric edit; see neardup help compare|compare --costs 1,1,2 --show terms a.txt b.txt
--json has every measure, --metric prints one: only one of them can be given|compare --json --metric edit a.txt b.txt
--max-age requires --duplicates, --plan and --time; see neardup help track|track --max-age 7d a.txt b.txt
--max-age requires --duplicates, --plan and --time; see neardup help track|track --max-age 7d --plan --duplicates 3 a.txt b.txt
--duplicates requires --plan; see neardup help track|track --duplicates 3 a.txt b.txt
--cluster and --clusters FILE must be given together; see neardup help template|template --cluster a a.txt b.txt
--json requires --annotate; see neardup help filter|filter --json -p a.txt b.txt
--null requires --files-from|pairs -0 a.txt b.txt
EOT
    # All numbers have the edit distance among them.
    run neardup compare --costs 1,1,2 a.txt b.txt
    [[ $output == *"edit distance:        2 tokens"* ]]
    run neardup compare --limit 1 --costs 1,1,2 a.txt b.txt
    [[ $output == *"edit distance:        more than 1 tokens"* ]]
}

@test "slow: options: each of every command's help changes something, or is refused" {
    run python3 "$BATS_TEST_DIRNAME/options_walk.py" "$NEARDUP"
    echo "$output"
    [ "$status" -eq 0 ]
    # Terms form no runs of words.
    small_corpus
    run neardup df build --shingle 2 small.jsonl -o none.df
    [ "$status" -eq 2 ]
    [ "$output" = "neardup: --shingle applies to --features sketch, but terms are counted" ]
    run neardup df build --features terms --characters 2 small.jsonl -o none.df
    [ "$status" -eq 2 ]
    [ ! -e none.df ]
}
