#!/usr/bin/env python3
"""make_weight_tables.py - writes src/feature/weight_tables.c: logarithms and cosines as integers

    tools/make_weight_tables.py            writes the tables
    tools/make_weight_tables.py --check    exit 1 if the committed tables differ

Everything is computed with integers and Python's decimal module at 60 digits and rounded to nearest
at the end, so that the tables are the same wherever they are made.  docs/format/weights.md says how
they are read.
"""
import decimal
import pathlib
import sys

STEPS = 1024
LOG_BITS = 40
COS_BITS = 24
decimal.getcontext().prec = 60
ONE = decimal.Decimal(1)


def nearest(x):
    return int(x.to_integral_value(rounding=decimal.ROUND_HALF_EVEN))


def pi():
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239)."""
    def atan_of_inverse(n):
        term, total, k = ONE / n, decimal.Decimal(0), 0
        while abs(term) > decimal.Decimal(10) ** -58:
            total += term / (2 * k + 1) * (1 if k % 2 == 0 else -1)
            term /= n * n
            k += 1
        return total
    return 16 * atan_of_inverse(5) - 4 * atan_of_inverse(239)


def cosine(x):
    term, total, k = ONE, decimal.Decimal(0), 0
    while abs(term) > decimal.Decimal(10) ** -58:
        total += term
        k += 2
        term *= -x * x / ((k - 1) * k)
    return total


def array(kind, name, values, width):
    lines = ["", f"const {kind} {name}[{len(values)}] = {{"]
    row = []
    for value in values:
        text = f"{value:#0{width}x}"
        row.append(f"UINT64_C({text})," if kind == "uint64_t" else text + ",")
        if len(" ".join(row)) > 76:
            lines.append("    " + " ".join(row))
            row = []
    if row:
        lines.append("    " + " ".join(row))
    return lines + ["};"]


def tables():
    half = pi()
    log = [nearest((ONE + ONE * i / STEPS).ln() * 2 ** LOG_BITS) for i in range(STEPS + 1)]
    cos = [nearest((cosine(half * i / STEPS) + 1) * 2 ** COS_BITS) for i in range(STEPS + 1)]
    return log, cos


def text():
    log, cos = tables()
    lines = ["/* weight_tables.c - logarithms and cosines as integers */",
             "/* Written by tools/make_weight_tables.py. */", "/* clang-format off */", "",
             '#include "feature/weight_tables.h"']
    lines += array("uint64_t", "nd_log_table", log, 12)
    lines += array("uint32_t", "nd_cosine_table", cos, 9)
    return "\n".join(lines) + "\n"


def main():
    path = pathlib.Path(__file__).parent.parent / "src/feature/weight_tables.c"
    if "--check" in sys.argv[1:]:
        if path.read_text(encoding="utf-8") != text():
            sys.exit(f"{path} is not what tools/make_weight_tables.py writes")
    else:
        path.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
