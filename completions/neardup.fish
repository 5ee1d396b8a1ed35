# neardup.fish - completion for fish: neardup itself says what could stand next
function __neardup_offered
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l offered ($words[1] complete $words[2..-1] "$current" 2>/dev/null)
    test (count $offered) -gt 0; or return 1
    if string match -q -- '--*=*' "$current"
        printf (string replace -r '=.*' '=' -- "$current")'%s\n' $offered
    else
        printf '%s\n' $offered
    end
end
complete -c neardup -n '__neardup_offered >/dev/null' -f -a '(__neardup_offered)'
# Where it offers nothing, a file is next.
complete -c neardup -n 'not __neardup_offered >/dev/null' -F
