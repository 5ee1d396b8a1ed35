#!/usr/bin/env bash
# check-system.sh - a system is named in src/base/system alone, and in what only POSIX systems run
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

# The files that may name systems, and why.
may=(
    src/base/system/ # the one place
    src/store/       # the service: sockets, folders that are locked, LMDB; built for Linux alone
    src/server/      # the same
    cli/service/     # its commands, and watch, which inotify tells of changes
    cli/lab/         # runs other programs beside one another; left out where the service is
)
allowed=$(IFS='|' && echo "^(${may[*]})")

# Headers that C11 does not have, what makes a C library declare them, and names of one system.
headers='aio|arpa/inet|cpio|dirent|dlfcn|endian|err|fcntl|fnmatch|ftw|getopt|glob|grp|iconv|ifaddrs|io'
headers+='|langinfo|libgen|linux/[a-z/]+|mach[a-z/-]*|malloc|mntent|net/if|netdb|netinet/[a-z]+|poll|process'
headers+='|pthread|pwd|regex|sched|semaphore|signal|spawn|strings|sys/[a-z]+|syslog|termios|threads|ucontext'
headers+='|unistd|wchar|windows|winsock2?|xlocale'
names='_GNU_SOURCE|_POSIX_C_SOURCE|_XOPEN_SOURCE|_DEFAULT_SOURCE|_WIN32|__linux__|__APPLE__|__unix__|__GLIBC__|O_[A-Z]+|MAP_[A-Z]+'
names+='|CLOCK_[A-Z_]+|_SC_[A-Z_]+|S_IS[A-Z]+|mremap|mmap|renameat2?|linkat|sched_[a-z]+|pthread_[a-z_]+|timespec'

tools/list-files.sh '*.c' '*.h' '*.cpp' | grep -E '^(src|cli|include)/' | grep -vE "$allowed" >build/system-files
status=0
complain() { # LINES: none is right
    if [ -n "$1" ]; then
        echo "$1" >&2
        echo "a system is named outside of src/base/system" >&2
        status=1
    fi
}
complain "$(xargs grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($headers)\.h>|/proc/self" <build/system-files)"
# Names in comments and texts are for people.
complain "$(xargs grep -nHE "\b($names)\b" <build/system-files |
    sed -E 's@/\*.*@@; s@"[^"]*"@@g; /:[0-9]+: *\*/d' | grep -E ":.*\b($names)\b")"
exit $status
