"""The figures in docs/ against a run: each block that is marked there is measured again and compared."""

import figures
import figures_choosing
import figures_recipes
import figures_uses
import places

RESULTS = "docs.jsonl"
MEASURES = {**figures_choosing.MEASURES, **figures_recipes.MEASURES, **figures_uses.MEASURES}


def options(parser):
    parser.add_argument("--only", help="names of blocks, with commas; default: all")
    parser.add_argument("--write", action="store_true", help="put what was measured into the pages")


def main(args):
    session = places.new_session("bench/run docs")
    only = set(args.only.split(",")) if args.only else None
    try:
        tools = figures.Tools(places.neardup(args.neardup))
    except places.Skipped as why:
        places.say(f"skipped: {why}")
        return 77
    unknown = (only or set()) - set(MEASURES) - figures.swept_blocks()
    if unknown:
        raise SystemExit(f"bench/run docs: no such figures: {', '.join(sorted(unknown))}")

    seen, off = figures.check(MEASURES, tools, only, args.write)
    places.append(RESULTS, dict(session, blocks=seen, off=off))
    import report

    print(report.docs())
    return 1 if off else 0 if seen else 77
