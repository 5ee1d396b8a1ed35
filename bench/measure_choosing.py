"""The tables of docs/choosing.md: which recipe and threshold finds what, on which corpus."""

import figures_choosing
import measure_docs


def options(parser):
    parser.add_argument("--write", action="store_true", help="put what was measured into the page")


def main(args):
    args.only = ",".join(figures_choosing.MEASURES)
    return measure_docs.main(args)
