# fingerprints.bash - lines of fingerprints, and a slow join of them

# A slow join: every line against every line, K bits. $1 $2 K
slow_join() {
    python3 - "$@" <<'END'
import sys
def read(path):
    for i, line in enumerate(open(path)):
        word, _, name = line.rstrip("\n").partition("\t")
        yield int(word, 16), name or str(i)
a, b = (list(read(path)) for path in sys.argv[1:3])
for y, name in b:
    for x, query in a:
        if bin(x ^ y).count("1") <= int(sys.argv[3]):
            print(query, name, bin(x ^ y).count("1"), sep="\t")
END
}

# Lines near and far, some with ids. $1 lines, $2 bits, $3 a file that some are near to
fingerprints() {
    python3 - "$@" <<'END'
import random, sys
n, bits = map(int, sys.argv[1:3])
random.seed(n + bits)
all = 9 * [int(line.split()[0], 16) for path in sys.argv[3:] for line in open(path)]
for i in range(n):
    x = random.choice(all) if all and i % 3 else random.getrandbits(bits)
    for _ in range(random.randrange(6)):
        x ^= (1 << random.randrange(bits)) * (i % 3 > 0)
    all.append(x)
    print(f"{x:0{(bits + 3) // 4}x}" + (f"\tid {i}" if i % 4 == 0 else ""))
END
}
