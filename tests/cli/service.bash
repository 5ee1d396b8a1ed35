# service.bash - what the tests of serve, store and client share

# The commands of the service are in a program of their own, which needs libraries that may not be there.
needs_server_program() {
    [ -x "$(dirname "$NEARDUP")/neardup-server" ] || skip "no neardup-server"
}

url='' pid=''

# Start a program that prints a line with its address once it answers: $url, $pid.  Its messages go to server.err.
start() { # COMMAND…
    mkfifo started
    "$@" >started 2>server.err 3>&- &
    pid=$!
    IFS= read -r line <started || true
    rm started
    url=$(grep -o 'https\?://[^ ]*' <<<"$line") || {
        cat server.err
        return 1
    }
    url=${url%/}
}

# Tell the program to end, and wait until it has: $status.
stop() {
    [ -n "${pid:-}" ] || return 0
    kill "${1:--TERM}" "$pid"
    # shellcheck disable=SC2034 # the tests read it
    if wait "$pid"; then status=0; else status=$?; fi
    pid=
}
