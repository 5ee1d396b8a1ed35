# common.bash - what the tests of the command share

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
    put_off_if_slow
}

# Skip a test whose name begins with "slow: ", unless slow tests are asked for, as the CTest of the
# same name with _slow does (CMakeLists.txt).
put_off_if_slow() {
    case $BATS_TEST_DESCRIPTION in
    "slow: "*) [ -n "${NEARDUP_SLOW:-}" ] || skip "left to make test-all" ;;
    esac
}

# sized WHOLE SAMPLE: how large a test is: a sample in `make test`, all of it in `make nightly`.
sized() {
    if [ -n "${NEARDUP_NIGHTLY:-}" ]; then echo "$1"; else echo "$2"; fi
}

neardup() {
    "$NEARDUP" "$@"
}

# Print what a command writes to a terminal of its own, both streams.
on_terminal() {
    python3 "$BATS_TEST_DIRNAME/on_terminal.py" "$NEARDUP" "$@"
}

# Wait until a process has opened a file whose name matches one of the patterns.
await_open() { # PID PATTERN...
    local pid=$1 pattern
    shift
    for _ in $(seq 2400); do
        for pattern in "$@"; do
            find "/proc/$pid/fd" -lname "$pattern" 2>/dev/null | grep -q . && return
        done
        sleep 0.05
    done
    return 1
}

# Wait until a process has begun an output: a file without a name or, on file systems that have no
# such files, a hidden one.
await_output() { # PID
    await_open "$1" '* (deleted)' '*/.neardup-*'
}

# Whether the file system of the current folder has files without a name.
has_nameless_files() {
    python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null
}

# The units of features that a recipe can have; given "KEY = VALUE", those that read this key.  The program lists them
# when it refuses another.
units() {
    printf '[signature s]\nunit = %s\n' "${1:+none
links = yes
$1}" >units.ini
    "$NEARDUP" recipe check units.ini 2>&1 | sed -n 's/.*\(not one of\|unit is\) //p' | sed 's/,//g; s/ or / /; s/;.*//'
}

# Five records: b is nearly a, c has the bytes of a, d and e are different.
small_corpus() {
    local a="one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    local d="red orange yellow green blue indigo violet black white grey brown pink purple gold silver"
    {
        echo "{\"id\":\"a\",\"text\":\"$a sixteen seventeen\",\"lang\":\"en\",\"n\":1,\"date\":\"2020-01-01\",\"src\":\"web\"}"
        echo "{\"id\":\"b\",\"text\":\"$a sixteen seventeen eighteen\",\"lang\":\"en\",\"n\":3,\"date\":\"Fri, 03 Jan 2020 10:00:00 +0000\",\"src\":\"book\"}"
        echo "{\"id\":\"c\",\"text\":\"$a sixteen seventeen\",\"lang\":\"de\",\"n\":2,\"date\":\"1577923200\",\"src\":\"news\"}"
        echo "{\"id\":4,\"text\":\"$d\",\"lang\":\"en\",\"n\":9}"
        echo '{"id":5,"text":"nothing of the kind was ever said here before by anyone at all","lang":"de"}'
    } >small.jsonl
}

# The ids of the records in a JSON Lines file, in one line.
ids() {
    python3 -c 'import json,sys
print(*[json.loads(line)["id"] for line in open(sys.argv[1])])' "$1"
}

# The values of some keys in each row of a manifest after its header, one row a line.
rows() {
    python3 -c 'import json,sys
for line in list(open(sys.argv[1]))[1:]:
    row = json.loads(line)
    print(*[json.dumps(row.get(key)) for key in sys.argv[2:]])' "$@"
}

# About 2,000 documents with near and exact copies, ids of several kinds and some bad records.
large_corpus() {
    python3 - "$1" <<'EOF'
import json, random, sys
random.seed(7)
words = [f"word{i}" for i in range(3000)]
with open(sys.argv[1], "w") as out:
    texts = []
    for i in range(2000):
        kind = random.random()
        if texts and kind < 0.15:
            text = random.choice(texts)
        elif texts and kind < 0.4:
            text = random.choice(texts).split()
            for _ in range(1 + len(text) // 60):
                text[random.randrange(len(text))] = random.choice(words)
            text = " ".join(text)
        else:
            text = " ".join(random.choices(words, k=random.randrange(2, 400)))
            text += random.choice(["", " naïve Äpfel", " ครับ", " 東京都庁"])
        texts.append(text)
        record = {"text": text, "lang": random.choice(["en", "de"]), "n": random.random()}
        if i % 7:
            record["id"] = i if i % 2 else f"doc-{i}"
        out.write(json.dumps(record, ensure_ascii=i % 3 == 0) + "\n")
        if i % 500 == 99:
            out.write("{broken\n")
EOF
}
