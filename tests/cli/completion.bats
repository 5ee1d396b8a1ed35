#!/usr/bin/env bats
# completion.bats - what the shells offer: from the tables of the command, by way of neardup complete

load common

offers() { # WORD… : the words offered, in one line
    "$NEARDUP" complete "$@" | cut -f 1 | tr '\n' ' '
}

# Print what bash has after a tab, with the script that is installed.
in_bash() { # WORD… : the last one is not complete
    PATH=$PWD/bin:$PATH bash --norc -c '
        source "$1"; shift
        COMP_WORDS=(neardup "$@") COMP_CWORD=$#
        _neardup neardup "${@: -1}" neardup 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' bash "$scripts/neardup.bash" "$@" | tr '\n' ' '
}

setup_file() {
    export scripts=$BATS_TEST_DIRNAME/../../completions
}

@test "completion: commands, their options, and the parts of some" {
    [ "$(offers de)" = "dedup " ]
    [ "$(offers '' | tr ' ' '\n' | grep -c .)" -eq $(($("$NEARDUP" --help | grep -c '^  [a-z]') + 3)) ]
    [ "$(offers help fil)" = "filter " ]
    # Every option of the help of every command, and no other.
    for command in $("$NEARDUP" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
        "$NEARDUP" help "$command" | grep -oE '^ .{5}--[a-z-]+' | grep -oE -- '--[a-z-]+$' | sort -u >by_help
        "$NEARDUP" complete "$command" -- | cut -f 1 | sort >offered
        diff by_help offered
        "$NEARDUP" complete "$command" --he | grep -q "^--help	show this text; -h: in one screen, without explanations$"
    done
    [ "$(offers index p)" = "plan pairs " ]
    [ "$(offers recipe '')" = "list show check diff " ]
    [ "$(offers df mer)" = "merge " ]
    [ "$(offers dedup '')" = "" ]
    [ "$(offers dedup -- -)" = "" ]
    [ "$(offers nothing -)" = "" ]
    run neardup complete
    [ "$status" -eq 2 ]
}

@test "completion: values, where they stand as a word, behind a sign, or behind a letter" {
    [ "$(offers dedup --cluster '')" = "star components complete " ]
    [ "$(offers dedup --cluster=comp)" = "components complete " ]
    [ "$(offers dedup --cluster = c)" = "components complete " ]
    [ "$(offers dedup --cluster =)" = "star components complete " ]
    [ "$(offers dedup -qk l)" = "last longest longest: " ]
    [ "$(offers dedup -qf ht)" = "html " ]
    [ "$(offers dedup --keep last --unit '')" = "file line paragraph " ]
    [ "$(offers dedup -o x --unit p)" = "paragraph " ]
    [ "$(offers dedup -o '')" = "" ]
    [ "$(offers dedup -ox --un)" = "--unit " ]
    [ "$(offers compare --metric conr)" = "conrad-schriber " ]
    [ "$(offers dedup --recipe manku)" = "$("$NEARDUP" recipe list 2>/dev/null | grep -o '^manku[^ ]*' | tr '\n' ' ')" ]
    [ "$(offers recipe show '' | wc -w)" -eq "$("$NEARDUP" recipe list 2>/dev/null | wc -l)" ]
}

@test "slow: completion: an option offers the words that it takes, and takes those that it offers" {
    n=0
    tried=" "
    : >'?' # where an option takes no value, a file, so that no service begins
    for command in $("$NEARDUP" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
        for option in $(offers "$command" -- | tr ' ' '\n' | grep '^--'); do
            [[ $tried != *" $option "* ]] || continue # of each name one: the others take the same
            tried+="$option "
            "$NEARDUP" complete "$command" "$option" '' | cut -f 1 | sort >offered
            timeout 60 "$NEARDUP" "$command" "$option" '?' 2>&1 </dev/null | sed -nE 's/.*(is none of|not one of|is neither) ([^;]*).*/\2/p' |
                sed 's/ nor / /' | tr ', ' '[\n*]' | grep . | sed 's/:.*/:/' | sort >named
            [ ! -s named ] || diff named offered
            while read -r value; do
                run "$NEARDUP" "$command" "$option" "${value/%:/:field}" --help
                [ "$status" -eq 0 ] || { echo "$command $option $value: $output"; return 1; }
                n=$((n + 1))
            done <offered
        done
    done
    [ "$n" -gt 80 ]
    for metric in $(offers compare --metric ''); do
        echo "some words of a text" >a.txt
        run neardup compare a.txt a.txt --metric "$metric"
        [[ $output != *"there is no metric"* ]]
    done
}

@test "completion: bash" {
    mkdir bin
    ln -s "$NEARDUP" bin/neardup
    bash -n "$scripts/neardup.bash"
    [ "$(in_bash tem)" = "template " ]
    [ "$(in_bash dedup --cluster comp)" = "components complete " ]
    [ "$(in_bash dedup --cluster = comp)" = "components complete " ]
    [ "$(in_bash dedup --cluster =)" = "star components complete " ]
    [ "$(in_bash dedup --thresh)" = "--threshold " ]
    [ "$(in_bash dedup sma)" = " " ]
    # A bash that somebody sits at: a tab after what is typed.
    PATH=$PWD/bin:$PATH python3 - "$scripts/neardup.bash" <<'PY'
import os, pty, re, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
def until(pattern, seconds=120):
    seen, end = b"", time.time() + seconds
    while not re.search(pattern, seen) and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            seen += os.read(fd, 4096)
    assert re.search(pattern, seen), seen
os.write(fd, b"PS1=ready; source " + sys.argv[1].encode() + b"; echo so''urced\n")
until(rb"sourced")
os.write(fd, b"neardup dedup --max-ch\t")
until(rb"--max-checks ")
os.write(fd, b"\x15neardup dedup --unit=para\t")
until(rb"--unit=paragraph")
os.close(fd)
PY
}

@test "completion: zsh" {
    command -v zsh || skip "no zsh"
    zsh -n "$scripts/_neardup"
    mkdir bin
    ln -s "$NEARDUP" bin/neardup
    PATH=$PWD/bin:$PATH python3 - "$scripts" <<'PY'
import os, pty, re, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("zsh", ["zsh", "-f", "-i"])
def until(pattern, seconds=120):
    seen, end = b"", time.time() + seconds
    while not re.search(pattern, seen) and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            seen += os.read(fd, 4096)
    assert re.search(pattern, seen), seen
os.write(fd, b"fpath=(" + sys.argv[1].encode() + b" $fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy\n")
until(rb"ready")
os.write(fd, b"neardup dedup --max-ch\t")
until(rb"--max-checks")
os.write(fd, b"\x15neardup dedup --unit=para\t")
until(rb"--unit=paragraph")
os.write(fd, b"\x15neardup tem\t")
until(rb"template")
os.close(fd)
PY
}

@test "completion: PowerShell" {
    command -v pwsh || skip "no pwsh"
    mkdir bin
    ln -s "$NEARDUP" bin/neardup
    in_pwsh() {
        PATH=$PWD/bin:$PATH pwsh -NoProfile -Command ". $scripts/neardup.ps1
            (TabExpansion2 '$1' ${#1}).CompletionMatches.CompletionText" | tr '\n' ' '
    }
    [ "$(in_pwsh 'neardup tem')" = "template " ]
    [ "$(in_pwsh 'neardup dedup --cluster comp')" = "components complete " ]
    [ "$(in_pwsh 'neardup dedup --cluster ')" = "star components complete " ]
    [ "$(in_pwsh 'neardup dedup --unit=para')" = "--unit=paragraph " ]
    [ "$(in_pwsh 'neardup dedup --max-ch')" = "--max-checks " ]
}

@test "completion: fish" {
    command -v fish || skip "no fish"
    mkdir bin home
    ln -s "$NEARDUP" bin/neardup
    in_fish() { HOME=$PWD/home PATH=$PWD/bin:$PATH fish -c "source $scripts/neardup.fish; complete -C '$1'" | cut -f 1 | tr '\n' ' '; }
    [ "$(in_fish 'neardup tem')" = "template " ]
    [ "$(in_fish 'neardup dedup --cluster comp')" = "complete components " ]
    [ "$(in_fish 'neardup dedup --unit=para')" = "--unit=paragraph " ]
    [ "$(in_fish 'neardup dedup --max-ch')" = "--max-checks " ]
    touch some-file
    [ "$(in_fish 'neardup dedup some')" = "some-file " ]
}
