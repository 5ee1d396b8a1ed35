"""Give every option of every command's help, and look whether anything differs, or it is refused."""
import atexit, json, os, re, shutil, subprocess, sys

NEARDUP = sys.argv[1]
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon".split()

def documents():
    base = " ".join(WORDS)
    other = " ".join(reversed(WORDS))
    texts = [base, base + " phi", base, base + " phi chi psi omega", "<b>" + other + "</b> r\u00e9sum\u00e9", other + " phi",
             "one", "two words", "one"]
    for i, text in enumerate(texts):
        yield {"id": f"d{i}", "key": f"k{i}", "text": text, "body": text + " " + text.upper(), "lang": "de" if i % 2 else "en", "n": 9 - i,
               "url": f"http://h{i % 3}.example/p{i // 3}", "at": f"2020-01-{1 + i * 2:02d}T00:00:00Z"}

def make_files():
    rows = list(documents())
    put = lambda name, text: open(name, "w").write(text)
    put("docs.jsonl", "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows))
    put("bad.jsonl", "".join(json.dumps(r) + "\n" for r in rows * 4) + "{broken\n" + '{"id":"e"}\n')
    put("forms.jsonl", "".join(json.dumps({"id": f"f{i}", "text": f"{rows[0]['text']} {i}"}) + "\n" for i in range(3)))
    page = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://{}.org/\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n"
    put("pages.warc", "".join(page.format(host, len(" ".join(WORDS)), " ".join(WORDS)) for host in "ab"))
    put("a.txt", " ".join(WORDS) + "\n\nA part\n\n" + " ".join(WORDS) + "\n")
    put("b.txt", " ".join(WORDS[:9]) + " and " + " ".join(WORDS[9:]) + "\n")
    os.mkdir("dir")
    for name in ("a.txt", "b.txt"):
        shutil.copy(name, "dir/" + name)
    put("dir/page.html", "<a href=b.txt>what stands there</a> <a href=page.html>here</a>" + " ".join(WORDS))
    open("dir/data.bin", "wb").write(b"\0\1\2" * 400)
    put("mail.mbox", "".join(f"From a@b Thu Jan  2 00:00:00 2020\nFrom: a@b\nSubject: s\nMessage-ID: <{i}@b>\n\n{rows[i]['text']}\n\n" for i in (0, 1, 5)))
    put("p.jsonl", "".join(json.dumps(rows[i]) + "\n" for i in (1, 5, 6)))
    put("same.jsonl", "".join(json.dumps({"id": f"v{i}", "text": rows[i > 5]["text"]}) + "\n" for i in range(9)))
    put("pages.jsonl", "".join(json.dumps({"id": f"p{i}", "url": f"http://h/{i}", "text": "a page <a href=/0>of</a> links",
                                           "key": "another <a href=/1>page</a> here"}) + "\n" for i in range(3)))
    put("r.ini", "[sketch]\nshingle = 1\n")
    put("own.tags", "[document ART]\nid = DN\nbody = LP\n")
    put("tagged.xml", "<c>" + "".join(f"<ART><DN>{i}</DN><LP>{rows[i % 9]['text']}</LP></ART>\n" for i in (0, 1, 5, 9)) + "</c>")
    put("list", "b.txt\np.jsonl\n")
    put("list0", "b.txt\0")
    run("df", "build", "--texts", "-q", "docs.jsonl", "-o", "t.df")
    run("sketch", "--recipe", "manku-2007", "-q", "docs.jsonl", "-o", "rows.jsonl")
    run("sketch", "-q", "docs.jsonl", "-o", "d.sketch")
    run("sketch", "-q", "a.txt", "-o", "a.sketch")
    put("ids", "d0\nd3\n")
    put("truth.tsv", "".join(f"a{i}\tb{i}\t1\na{i}\tc{i}\t0\n" for i in range(40)))
    put("some-more.tsv", "d0\td1\t1\nd0\td2\t1\n")
    put("some.tsv", "d0\td1\t1\nd0\td3\t1\nd0\td5\t0\nd1\td3\t1\nd2\td4\t0\n")
    put("scores.tsv", "".join(f"a{i}\tb{i}\t{i % 2}\n" for i in range(40)))
    put("listed.tsv", "".join(f"a{i}\tb{i}\t.9\n" + f"b{i}\tc{i}\t.8\n" * (i % 3 > 1) for i in range(30)))
    put("gone", "d1\nd3\nd4\nd5\n")
    put("of.tsv", "d0\td1\nd1\td0\n" + "".join(f"d{i}\tx\n" for i in range(2, 40)))
    put("known.jsonl", "".join(json.dumps({"id": f"{x}{i}", "text": "a text"}) + "\n" for x in "abc" for i in range(40)))
    put("fp-ids", "f3\ng7\n")
    run("index", "build", "--recipe", "manku-2007", "-q", "docs.jsonl", "-o", "docs.ndx")
    run("plan", "-q", "docs.jsonl", "-o", "plan.json")
    run("dedup", "-q", "docs.jsonl", "-o", "kept", "--manifest", "m.jsonl", "--clusters", "c.tsv")
    put("fp.txt", "".join(f"{(i * i * 2654435761) & (2**64-1):016x}\tf{i}\n{((i * i * 2654435761) & (2**64-1)) ^ 17:016x}\tg{i}\n" for i in range(1, 40)))
    run("index", "build", "fp.txt", "-o", "fp.ndx")
    put("short.txt", "00000000000000ff\n0f\n00000000000000fe\n")
    open("raw.bin", "wb").write(bytes(range(64)) * 4)

def run(*arguments, stdin=b""):
    return subprocess.run([NEARDUP, *arguments], input=stdin, capture_output=True)

VOLATILE = [(rb"[0-9.]+ ?(([kMG]?B|bytes)/s|s\b|[kMG]B\b|bytes\b)", b"N"), (rb'"(seconds|peak_memory_bytes|peak_memory|rate)":[0-9.]+', b"N"), (rb"ns|us|ms", b"T"),
            (rb"(reading|sketching|deciding) [0-9]+%", b"P")]

def observe(arguments):
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")
    shutil.copy("docs.ndx", "out/docs.ndx")
    shutil.copy("fp.ndx", "out/fp.ndx")
    done = run(*arguments)
    seen = [done.stdout, done.stderr]
    for folder, _, names in sorted(os.walk("out")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            # A summary holds times; that it is there is enough.
            text = b"" if re.fullmatch("s2?", name) else open(path, "rb").read()
            seen.append(path.encode() + b":" + text)
    text = b"\n".join(seen)
    for pattern, instead in VOLATILE:
        text = re.sub(pattern, instead, text)
    return done.returncode, text, done.stderr.decode(errors="replace")

OF_DOCUMENTS = {
    "index build": "--recipe manku-2007 docs.jsonl -o out/x",
    "index pairs": "--recipe default docs.jsonl",
    "index add": "out/docs.ndx docs.jsonl",
    "index query": "docs.ndx docs.jsonl",
    "index stats": "--recipe default docs.jsonl",
}
# Options that come behind those of the base, which they replace.
LAST = {"--removed", "--report", "--insert", "--delete", "--swap", "--replace", "--strata", "--size", "--html", "--set", "--truth", "--universe", "--url", "--output", "--clusters", "--summary", "--manifest", "--least-paths", "--score", "--count", "--features", "--recipe"}
OF_NUMBERS = {"--bits", "--distance", "--raw", "--any-digits", "--codec", "--layout", "--index-memory", "--design", "--tables", "--key-bits", "--buckets", "--svg", "--output"}
ONE = {"unit": "a.txt a.txt b.txt", "text-format": "docs.jsonl d4 d5", "missing-text": "bad.jsonl d0 e", "no-mail": "mail.mbox 0@b 5@b", "glob": "dir a.txt b.txt", "exclude": "dir a.txt b.txt", "tags": "tagged.xml 0 5", "filter": "dir a.txt b.txt", "filter-limits": "dir a.txt b.txt --filter txt:base64", "binary": "dir data.bin a.txt",
       "short": "docs.jsonl d6 d8", "forms": "forms.jsonl f0 f1", "corpus": "docs.jsonl d0 b.txt", "color": "docs.jsonl d0 d3 --show edits", "explain color": "docs.jsonl d0 d3"}
UNSTEADY = "unsteady"
BASE = {
    "dedup": "docs.jsonl -o out/o --manifest out/m --clusters out/c --summary out/s",
    "pairs": "docs.jsonl -o out/o",
    "plan": "docs.jsonl",
    "apply": "m.jsonl docs.jsonl -o out/o",
    "eval": "--truth truth.tsv --universe labelled --documents known.jsonl listed.tsv -o out/o",
    "audit": "docs.jsonl --removed gone --report out/h -o out/o",
    "report": "m.jsonl docs.jsonl -o out/o",
    "perturb": "docs.jsonl --insert 1 --delete 1 --swap 1 --replace 1 -o out/o",
    "repeats": "docs.jsonl -o out/o --manifest out/m --summary out/s",
    "sources": "b.txt docs.jsonl -o out/o",
    "clusters": "listed.tsv --documents known.jsonl -o out/o",
    "sample": "listed.tsv --documents known.jsonl --html out/h --strata resemblance:0.1 -n 12 -o out/o",
    "sweep": "--truth some.tsv --universe labelled --set recall=0.9,0.99 docs.jsonl -o out/o",
    "reproduce": "slides-rose seshasai-6.4.3 -o out/o",
    "explain": "--corpus docs.jsonl d0 d3",
    "compare": "--corpus docs.jsonl d0 d3",
    "collapse": "docs.jsonl -o out/o",
    "mirrors": "docs.jsonl --least-paths 1 --score 0 -o out/o",
    "template": "docs.jsonl -o out/o",
    "anchors": "dir -o out/o",
    "track": "docs.jsonl -o out/o",
    "filter": "-p p.jsonl docs.jsonl -o out/o",
    "sketch": "docs.jsonl -o out/o", "sketch info": "d.sketch", "sketch verify": "d.sketch", "sketch dump": "d.sketch",
    "sketch merge": "d.sketch -o out/x.sketch", "sketch subset": "d.sketch ids -o out/x.sketch",
    "index plan": "--count 1000000",
    "index pairs": "fp.txt",
    "index build": "fp.txt -o out/x",
    "index add": "out/fp.ndx fp.txt",
    "index remove": "out/fp.ndx fp-ids",
    "index merge": "fp.ndx -o out/x",
    "index query": "fp.ndx fp.txt",
    "index info": "fp.ndx",
    "index verify": "fp.ndx",
    "index stats": "fp.txt",
    "join": "fp.txt fp.txt",
    "df build": "docs.jsonl --features sketch -o out/t",
    "df merge": "t.df t.df -o out/t",
    "df info": "t.df", "df top": "t.df",
    "df calibrate": "t.df --recipe seshasai-2009 docs.jsonl",
    "serve": None, # which runs until a signal ends it: serve.bats tries each option
    "store check": "st", "store export": "st", "store import": "st docs.jsonl", "store compact": "none", "store stats": "st", "store backup": "none out/copy",
    "store resketch": None, # which makes a store, and stores hold times: store.bats tries its options
    "client post": "docs.jsonl -n -o out/o", "client query": "docs.jsonl -o out/o",
    "client get": "a", "client delete": "none", "client near": "a", "client cluster": "a", "client versions": "a", "client crawl": "", "client stats": "", "client compare": "a b", "client fingerprint": "",
    "client watch": None, # which runs until a signal ends it: watch.bats tries its options
    "doctor": "",
    "recipe list": "", "recipe show": "manku-2007", "recipe check": "manku-2007", "recipe diff": "manku-2007 chowdhury-2002",
}
FLAG = (None, None)
# An option's value, and where it takes another input that; (None, ...): it has no value.  Of one command,
# or of one part, before that of all.
TRY = {
    "truth": "scores.tsv", "universe": "all", "documents": "docs.jsonl", "truth-is": "classes", "result": "clusters", "at": "2",
    "positive": "0", "close": FLAG, "resamplings": "10", "seed": "2", "curve": "3", "by": "last",
    "files": "out/files", "tsv": FLAG,
    "removals": FLAG, "time": FLAG, "sweep set": "shingle=1,2", "sweep truth": "some-more.tsv",
    "track time": "at", "sweep df": "t.df", "strata": "resemblance:0.5", "allocation": "equal", "size": "8", "half-width": "20%", "eval svg": ("out/c", "--truth truth.tsv --universe labelled --curve 3 listed.tsv -o out/o"), "total": "1000", "sizes": FLAG, "insert": "3", "delete": "3", "swap": "3", "replace": "3", "lexicon": "ids", "perturb least": "16", "beside": FLAG, "df top least": "8", "most": "3", "html": "out/g",
    "threshold": "1",
    "shingle": "1",
    "characters": "60",
    "method": "identical",
    "bits": "20",
    "short": ("keep", "docs.jsonl"),
    "forms": ("numbers", "forms.jsonl"),
    "within": "lang",
    "security-field": "key",
    "never": "lang=en",
    "site": "url",
    "columns": "terms,edit",
    "recipe": "r.ini",
    "set": "shingle=1",
    "recipe set": "candidates=all",
    "df": "auto=out/t",
    "recipe df": "t.df",
    "canonical": FLAG,
    "no-shingles": (None, "docs.jsonl -o out/o.sketch"), "part": "1/2",
    "sketches": "out/s.sketch", "store export no-shingles": (None, "st --sketches out/s.sketch"),
    "shingle-hashes": FLAG,
    "keep": "longest",
    "prefer": "lang=de",
    "against": "d.sketch",
    "only-against": (None, "same.jsonl --against a.sketch"),
    "cluster": "components",
    "template cluster": "d0",
    "files-from": "list",
    "null": FLAG,
    "dedup null": (None, "dir"), "apply null": (None, "dir --partial"),
    "partial": (None, "a.txt"),
    "format": "text",
    "text-field": "key",
    "apply text-field": "none", "apply unit": ("line", "a.txt --partial"),
    "text-format": ("html", "docs.jsonl"),
    "charset": "no-charset",
    "id-field": "key",
    "missing-text": ("empty", "bad.jsonl"),
    "unit": ("line", "a.txt"),
    "binary": ("text", "dir"),
    "no-mail": (None, "mail.mbox"),
    "glob": ("a.*", "dir"),
    "exclude": ("a.*", "dir"),
    "tags": ("own.tags", "tagged.xml"),
    "filter": ("txt:false", "dir"), "filter-limits": ("output=1", "dir --filter txt:base64"),
    "strict": (None, "bad.jsonl"),
    "max-bad": ("0", "bad.jsonl"),
    "corpus": ("b.txt", "docs.jsonl"),
    "prototypes": "docs.jsonl",
    "prototypes-text-field": "key",
    "prototypes-id-field": ("key", "-p p.jsonl docs.jsonl --annotate"),
    "prototypes-group-field": "lang",
    "spark": "executors=7",
    "series": "lang",
    "plan": FLAG,
    "duplicates": "3",
    "max-age": "1d",
    "interval": "5d",
    "shortest": "2d",
    "longest": ("2d", "same.jsonl"),
    "equal": ("2", "same.jsonl"),
    "changes": "1",
    "expect": "1",
    "factor": "5",
    "order": "min:n",
    "explain order": "position",
    "only": "d0",
    "expand": "max:n",
    "window": "0",
    "base": "http://x/",
    "root": "/tmp",
    "url-field": "none",
    "sample": "1",
    "df sample": "1",
    "least-paths": "4",
    "common": "2",
    "score": "0.9",
    "share": "0.1",
    "clusters": "c.tsv",
    "top": "1",
    "histogram": FLAG,
    "buckets": "7",
    "svg": "out/svg",
    "sample-bytes": ("4k", "bad.jsonl"),
    "predicted": "plan.json",
    "rows": "m.jsonl",
    "lowest": "1",
    "metric": "edit",
    "show": "edits",
    "limit": "1",
    "costs": "2,2,2",
    "least": "1",
    "gap": "5",
    "output": "out/other",
    "output-dir": "out/d",
    "copy-to": "out/d",
    "link-to": "out/d",
    "removed": "out/r", "revisit": ("out/r.warc", "pages.warc"),
    "annotate": FLAG,
    "copies-field": "copies",
    "manifest": "out/m2",
    "dedup clusters": "out/c2", "audit clusters": "of.tsv", "unmatched": "out/u", "false-clusters": ("out/f", "docs.jsonl --removed gone --clusters of.tsv -o out/o"),
    "summary": "out/s2",
    "report": "out/report.html",
    "differs": FLAG,
    "dry-run": FLAG,
    "progress": FLAG,
    "invert": FLAG,
    "count": FLAG,
    "index count": "5",
    "df count": "1",
    "near-misses": "0.1",
    "json": FLAG,
    "color": ("always", "docs.jsonl"),
    "verify": "containment",
    "distance": "1",
    "raw": FLAG,
    "any-digits": (None, "short.txt"),
    "fingerprints": FLAG,
    "merge": FLAG,
    "codec": "manku",
    "layout": "fast",
    "index-memory": "1",
    "design": "blocks",
    "tables": "3",
    "key-bits": "9",
    "part-fingerprints": "200",
    "calibrate": FLAG,
    "calibration": "out/cal",
    "features": "terms",
    "texts": FLAG,
    "rarest": FLAG,
    "drop": "0.1",
    "index recipe": "henzinger-2006-c",
    "df recipe": "r.ini", "df calibrate recipe": "manku-2007",
    "filter json": (None, "mail.mbox"),
    "template shingle": ("1", "a.txt b.txt"),
    "template set": ("shingle=1", "a.txt b.txt"),
    "template recipe": ("r.ini", "a.txt b.txt"),
    "url": "http://127.0.0.1:1",
    "key-file": "list",
    "security": "a,b",
    "with": ("docs.jsonl", "a"), "client fingerprint expect": "00",
    "client limit": "5", "client max-age": "12h", "client at": "0.5",
    "follow": "cat docs.jsonl",
    "index build records": FLAG,
    "cut": "passages", "tokens": "100", "occurrences": "9", "drop-empty": FLAG, "near": ".1", "repeats texts": FLAG, "sources texts": "p.jsonl", "domain-field": "id", "repeats binary": ("text", "dir/data.bin"), "repeats filter": ("txt:false", "dir/a.txt"),
    "anchors text-field": ("key", "pages.jsonl"),
    "anchors text-format": ("html", "pages.jsonl"),
}
# These change how long a run takes, what it says while it runs, and which candidates are looked at; other
# tests see to them.
UNSEEN = ["threads", "tmp", "quiet", "memory", "recall", "bands", "max-checks", "candidates"]
# Neither do stores that these change tell it: store.bats sees to them.
UNSEEN += ["store import recipe", "store import set", "store import least", "store import containment", "all"]
# They change what client and service say to each other: client.bats sees to them.
UNSEEN += ["client at", "ca-file", "retry-for", "batch", "connections", "resume", "client post dry-run", "client crawl limit", "client crawl gap", "client delete key-file", "client delete security",
           "client crawl key-file", "client compare key-file", "client fingerprint key-file", "client query id-field"]
# They change nothing but time, or refuse inputs: checkpoint.bats and sketched.bats see to them.
UNSEEN += ["checkpoint", "known-sketches", "sketches"]
# The first shows no more than texts that are not there, and the other reads none: filters.bats sees to them.
UNSEEN += ["report filter", "report filter-limits", "report tags", "repeats filter-limits"]
# It changes outputs whose names call for a compression: compressed.bats sees to it.
UNSEEN += ["output-level"]
# They change what sketch files keep: sketched.bats and against.bats see to them.
UNSEEN += ["record-field", "record-length"]
# No prototype is a form, and no truth names one: forms.bats tries it.
UNSEEN += ["filter forms", "sweep forms"]
# It makes an index of another kind: index_documents.bats sees to it.
UNSEEN += ["index build records"]
# It changes a file of --against: against.bats sees to it.
UNSEEN += ["append"]
# It lets an input be replaced, where the base replaces none: overwriting.bats sees to it.
UNSEEN += ["force"]
# Survivors are the same however their texts are read; apply.bats sees to bad records.
UNSEEN += ["apply text-format", "apply tags", "apply max-bad"]
# sample shows its documents, which are JSON Lines; judging.bats tries what is of texts, and judged files.
UNSEEN += ["eval judged", "eval weights", "sample documents"] + ["sample " + name for name in ("text-format", "missing-text", "unit", "binary", "no-mail", "glob", "exclude", "filter", "filter-limits", "tags", "strict")]
# The folder has a page, of which repeats cuts nothing, and no page has a passage: repeats.bats and sources.bats try these.
UNSEEN += ["repeats exclude", "sources text-format"]
# audit is given documents by their ids, and a file of lines has none.
UNSEEN += ["audit unit", "audit tags"]
# The manifest is that of other documents: report.bats and files_from.bats try these.
UNSEEN += ["report files-from", "report missing-text", "report unit"]
# Nor do those of clusters: clusters.bats tries these.
UNSEEN += ["clusters " + name for name in ("text-format", "missing-text", "unit", "binary", "no-mail", "glob", "exclude", "filter", "filter-limits", "tags", "strict")]
# eval reads only the ids of its documents, and a result of pairs removes none: eval.bats tries these.
UNSEEN += ["lost"] + ["eval " + name for name in ("text-format", "missing-text", "unit", "binary", "no-mail", "glob", "exclude", "filter", "filter-limits", "tags", "strict")]
# Nothing here is a corpus of a paper: reproduce.bats tries it.
UNSEEN += ["corpora", "packages"]
# sweep reads the same options as pairs, but needs documents that its truth names.
UNSEEN += ["sweep " + name for name in ("text-format", "missing-text", "unit", "binary", "no-mail", "glob", "exclude", "tags", "strict", "max-bad", "id-field", "resamplings", "seed", "verify")]
# No result has the ids of these, or what the option is about.
UNSEEN += ["plan id-field", "collapse id-field", "mirrors id-field", "df id-field", "index stats id-field", "collapse text-format", "index pairs text-format", "collapse verify",
           "df calibrate shingle", "df calibrate characters", "df calibrate set"]

def offered(*line):
    return [word.split("\t")[0] for word in run("complete", *line).stdout.decode().split("\n") if word]

def words(command):
    return offered(*command.split(), "--")

def commands():
    """All commands, as "dedup", and as "index build" where they have parts."""
    names = [name for name in offered("") if name != "help" and not name.startswith("-")]
    return {f"{name} {part}".strip() for name in names for part in offered(name, "") or [""]} | {"sketch"}

SEEN = {}  # what a command without the option does, and whether it does the same twice
def observe_base(arguments):
    if arguments not in SEEN:
        SEEN[arguments] = observe(arguments.split())
    return SEEN[arguments]

STEADY = {}
def is_steady(arguments):
    if arguments not in STEADY:
        STEADY[arguments] = observe(arguments.split())[:2] == observe_base(arguments)[:2]
    return STEADY[arguments]

def try_option(command, option, argument, base):
    given = [option] if argument is None else [option, argument]
    before = observe_base(command + " " + base)
    after = observe(command.split() + (base.split() + given if option in LAST else given + base.split()))
    if after[0] == 2 and option in after[2]:
        return "refused: " + after[2].strip()
    if before[:2] == after[:2]:
        return ""
    # A difference counts where the same command twice has none.
    return "differs" if is_steady(command + " " + base) else UNSTEADY

def start_service():
    """The commands of client need a service, and the program that has these commands: where it was not built, none."""
    if not os.path.exists(os.path.join(os.path.dirname(NEARDUP), "neardup-server")):
        for command in [c for c in BASE if c.split()[0] in ("store", "client")]:
            BASE[command] = None
        return
    run("store", "import", "st", stdin=b"")
    fake = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_service.py")
    service = subprocess.Popen([sys.executable, fake, "log"], stdout=subprocess.PIPE)
    atexit.register(service.kill)
    url = service.stdout.readline().decode().strip()
    for command in BASE:
        if command.split()[0] == "client" and BASE[command] is not None:
            BASE[command] = f"--url {url} {BASE[command]}".strip()

make_files()
start_service()
failed = tried = 0
for command in sorted(commands() ^ BASE.keys()):
    print(f"{command}: no command line to try its options with (see BASE)" if command not in BASE else f"{command}: there is no such command (see BASE)")
    failed += 1
for command in [c for c in BASE if BASE[c] is not None]:
    for option in words(command):
        if option == "--help":
            continue
        name = option[2:]
        key = next((k for k in (f"{command} {name}", f"{command.split()[0]} {name}", name) if k in TRY or k in UNSEEN), None)
        if key is None:
            print(f"{command} {option}: no value to try (see TRY, UNSEEN)"); failed += 1
            continue
        if key in UNSEEN:
            continue
        argument, files = TRY[key] if isinstance(TRY[key], tuple) else (TRY[key], None)
        if command == "filter" and name not in ("annotate", "invert", "count"):
            files = files or "docs.jsonl"
            files += " --annotate" if name == "json" else " --annotate --json"
        base = BASE[command] if option in OF_NUMBERS or command not in OF_DOCUMENTS else OF_DOCUMENTS[command]
        if files:
            base = re.sub(r"(docs[.]jsonl|fp[.]txt|\bdir\b)( d0 d3)?", files if command not in ("explain", "compare") else ONE.get(f"{command} {name}", ONE.get(name, "docs.jsonl d0 d3")), base)
        result = try_option(command, option, argument, base)
        if result == UNSTEADY:
            print(f"{command}: twice the same, and not the same result ({base})")
            failed += 1
        elif not result:
            print(f"{command} {option} {argument}: nothing differs ({base}; see TRY, UNSEEN)"); failed += 1
        tried += 1
print(tried, "options tried")
sys.exit(failed > 0 or tried < 500)
