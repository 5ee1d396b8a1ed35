#!/usr/bin/env bats
# numbers.bats - numbers in fields are compared exactly, whatever their length

load common

# Copies of one text, each with one of the numbers.
copies() {
    local n id=0
    for n in "$@"; do
        printf '{"id":%d,"text":"the same words in each","n":%s}\n' $((++id)) "$n"
    done >copies.jsonl
}

# The id that a policy keeps of them.
kept_by() {
    neardup dedup --quiet --keep "$1" copies.jsonl -o out.jsonl
    ids out.jsonl
}

@test "numbers beyond 2^53 are told apart, as numbers and as strings" {
    copies 9007199254740992 9007199254740993 9007199254740991
    [ "$(kept_by max:n)" = 2 ]
    [ "$(kept_by min:n)" = 3 ]
    copies '"9007199254740993"' '"9007199254740992.9999"' '"9007199254740993.00000000000000000000000000001"'
    [ "$(kept_by max:n)" = 3 ]
    [ "$(kept_by min:n)" = 2 ]
}

@test "numbers of any length and any exponent" {
    long=$(printf '7%.0s' $(seq 400))
    copies 1e400 "${long}1" "${long}2" "${long}0" -1e500 "-${long}"
    [ "$(kept_by max:n)" = 3 ]
    [ "$(kept_by min:n)" = 5 ]
    copies 1e-400 0 2e-400 -1e-400 -2e-401
    [ "$(kept_by max:n)" = 3 ]
    [ "$(kept_by min:n)" = 4 ]
}

@test "equal numbers in other forms: the first is kept" {
    copies 1000 1e3 '"1000.000"' '" +10E2 "' 999
    [ "$(kept_by max:n)" = 1 ]
}

@test "a pass over many such numbers finds the same as sorting them" {
    python3 - >many.jsonl <<'PY'
import json, random
from decimal import Decimal
random.seed(3)
rows = []
for i in range(3000):
    n = random.choice(["", "-"]) + "12345678901234567890123"[: random.randrange(14, 23)]
    n += random.choice(["", "%d" % random.randrange(9), ".%d" % random.randrange(99), "0e-1"])
    rows.append((i % 300, n))
    print(json.dumps({"id": i, "text": "group %d alone" % (i % 300), "n": n}))
best = {}
for i, (group, n) in enumerate(rows):
    with_it = Decimal(n)
    if group not in best or with_it > best[group][0]:
        best[group] = (with_it, i)
open("expected", "w").write("".join("%d\n" % i for i in sorted(i for _, i in best.values())))
PY
    neardup dedup --quiet --method identical --keep max:n many.jsonl -o out.jsonl
    ids out.jsonl | tr ' ' '\n' | sort -n | cmp - expected
}

@test "collapse orders and keeps by such numbers" {
    copies 9007199254740992 9007199254740993
    neardup collapse --quiet --keep max:n copies.jsonl -o out.jsonl
    [ "$(ids out.jsonl)" = 2 ]
    printf '%s\n' '{"id":1,"text":"red orange yellow green","n":12345678901234567891}' \
        '{"id":2,"text":"one two three four","n":12345678901234567892}' \
        '{"id":3,"text":"north east south west","n":12345678901234567890}' >list.jsonl
    neardup collapse --quiet --order max:n list.jsonl -o out.jsonl
    [ "$(ids out.jsonl)" = "2 1 3" ]
}

@test "dates in seconds are exact to the microsecond" {
    copies 1577923200.123457 1577923200.123458 1577923200.123456
    [ "$(kept_by newest:n)" = 2 ]
    copies 5000000000000.000001 5000000000000.000002 5000000000000
    [ "$(kept_by newest:n)" = 2 ]
}

@test "a number of a recipe has 10 digits and 9 behind the point, a ratio's are below 2^32" {
    printf '[signature s]\nunit = terms\nphrases = 5.123456789\n' >own.ini
    neardup recipe show --canonical own.ini >canonical.ini
    grep -q '^phrases = 5.123456789$' canonical.ini
    neardup recipe show --canonical canonical.ini | cmp - canonical.ini
    neardup recipe show --canonical --set threshold=1/4294967295 own.ini >shown
    grep -q '^threshold = 1/4294967295$' shown
    run neardup recipe show --set threshold=4294967295/4294967296 own.ini
    [ "$status" -eq 2 ]
    [[ "$output" == *"of numbers up to 4294967295 in lowest terms"* ]]
}
