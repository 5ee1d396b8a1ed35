# neardup.bash - completion for bash: neardup itself says what could stand next
_neardup() {
    local IFS=$'\n'
    # shellcheck disable=SC2207 # a word a line
    COMPREPLY=($("$1" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
    # What goes on behind a colon wants no blank.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace
}
complete -o default -o bashdefault -F _neardup neardup
