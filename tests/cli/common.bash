# common.bash - what the tests of the command share

setup() {
    NEARDUP=${NEARDUP:-$BATS_TEST_DIRNAME/../../build/release/neardup}
    cd "$BATS_TEST_TMPDIR" || return 1
}

neardup() {
    "$NEARDUP" "$@"
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
