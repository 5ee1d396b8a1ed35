#!/usr/bin/env python3
"""The service, `neardup dedup` and `neardup explain` on the same documents in the same order: one leader for each.

    agree.py CLOCKED_SERVER NEARDUP [FIRST_SEED [COUNT]]

Each document is asked about, posted, and, once all are there, posted again unchanged: every answer names the leader
that dedup keeps in its place, with the same evidence, and so does the list of its cluster.  The words in which the two
differ are those of `dedup --differs`.  Exit status 1: one differs.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import rest  # noqa: E402  (no files beside the sources)
import texts  # noqa: E402

RECIPES = [
    "default",
    "short-texts",
    "manku-2007",
    "default,threshold=0.6",
    "default,candidates=simhash",
    "seshasai-2009",
    "seshasai-2009-arbitrary-function",
    "seshasai-2009-doc-position-scaling",
    "seshasai-2009-high-threshold",
    "seshasai-2009-inverse-idf",
    "seshasai-2009-low-threshold",
    "seshasai-2009-stripping-numbers-dates",
    "broder-1997,cluster=star",
    "chowdhury-2002",
    "conrad-schriber-2004",
    "cops-1995",
    "henzinger-2006-b",
    "henzinger-2006-c",
    "henzinger-2006-combined",
    "kolcz-2004-mail",
    "kolcz-2004-web",
    "pugh-henzinger-2003",
    "spotsigs-2008",
    "text-profile",
    "winnowing-2003",
    "code,code.template_count=30",
    "framed-pages,page.template_count=30",
    "seshasai-2009-extra-metadata,match=distance(simhash) <= 12",
    "seshasai-2009-tagged-text,match=distance(simhash) <= 12",
    "dean-henzinger-1999",
    "joshi-2003",
    "default,threshold=0.6,forms=names",
    "default,candidates=simhash,forms=dates",
    "manku-2007,forms=numbers",
]
# Recipes whose documents are pages, or records with fields.
PAGES = ("seshasai-2009-tagged-text", "dean-henzinger-1999", "joshi-2003")
RECORDS = ("seshasai-2009-extra-metadata",)


def options(recipe):
    name, *changes = recipe.split(",")
    pages = ["--text-format", "html"] if name in PAGES else []
    return ["--recipe", name, *pages, *(word for change in changes for word in ("--set", change))]


def filled(rng, text):
    """A form: the text with another number, name or date in the place of one word."""
    words = text.split(" ")
    words[rng.randrange(len(words))] = rng.choice(["7", "12", "Hull", "York", "Monday", "May"])
    return " ".join(words)


def corpus(rng, recipe, is_short):
    """Records without ids, as the commands read them."""
    some = texts.family(rng, 16) if is_short else texts.articles(rng, 16)
    name = recipe.split(",")[0]
    if name in PAGES:
        some = texts.pages(rng, 16)
    if "forms=" in recipe:
        some += [filled(rng, rng.choice(some)) for _ in range(16)]
    records = [{"text": rng.choice(some)} for _ in range(40)]
    for record in records if name in RECORDS else []:
        record |= {"title": rng.choice(["One title", "another"]), "desk": rng.choice(["Foreign", None, 7]), "year": rng.choice([1987, "1988"])}
    return [{"id": f"d{i}"} | record for i, record in enumerate(records)]


def posted(recipe, record):
    """The record as the service reads it."""
    if recipe.split(",")[0] not in PAGES:
        return record
    return {("html" if key == "text" else key): value for key, value in record.items()}


def with_tables(neardup, recipe, path, folder):
    """The recipe, naming a df table of the documents where it needs one."""
    name, *changes = recipe.split(",")
    text = subprocess.run([neardup, "recipe", "show", name], check=True, capture_output=True, text=True).stdout
    section = re.search(r"^\[signature (.*)\]$", text, re.MULTILINE)
    for key, counted in {"df": ["--recipe", name], "template_df": ["--features", "sketch"]}.items():
        if not re.search(rf"^{key}\b", text, re.MULTILINE):
            continue
        table = os.path.join(folder, key)
        subprocess.run([neardup, "df", "build", "--quiet", *options(name)[2:], *counted, "-o", table, path], check=True)
        changes.append(f"{section[1]}.{key}={table}")
    return ",".join([name, *changes])


def deduplicate(neardup, recipe, path, folder):
    """By id: the row of what was removed."""
    manifest = os.path.join(folder, "manifest.jsonl")
    command = [neardup, "dedup", "--quiet", *options(recipe), "--manifest", manifest, "--differs", "-o", os.devnull, path]
    subprocess.run(command, check=True)
    with open(manifest, encoding="utf-8") as rows:
        return {row["removed"]: row for row in map(json.loads, rows) if "removed" in row}


def explained(neardup, recipe, path, a, b):
    command = [neardup, "explain", "--json", *options(recipe), "--corpus", path, a, b]
    return json.loads(subprocess.run(command, check=False, capture_output=True).stdout)


def leader(cluster):
    """The id of an answer, and its measures."""
    if cluster is None:
        return None
    e = cluster["evidence"]
    return cluster["id"], e["identical"], e["resemblance"], e["distance"]


def removed(row):
    """The id of a row of the manifest, and its measures."""
    return row and (row["kept"], row["identical"], row.get("resemblance"), row.get("distance"))


def same(said, wanted):
    """Whether the two name one leader, and agree where both measure."""
    if said is None or wanted is None:
        return said is wanted
    if said[0] != wanted[0] or (said[1] == "no") != (wanted[1] == "no"):
        return False
    return said[1] != "no" or all(x == y or x is None or y is None for x, y in zip(said[2:], wanted[2:]))


def same_words(answer, row):
    """Whether an answer says of the leader, which is among its nearest, what a row says of the document kept."""
    said = next((d["differs"] for d in answer["nearest"] if row and d["id"] == row["kept"]), None)
    return said is None or said == {{"removed": "this", "kept": "other"}.get(k, k): v for k, v in row["differs"].items()}


def try_seed(program, neardup, seed):
    """How many answers were compared; the first that differs ends it."""
    rng = random.Random(seed)
    recipe = RECIPES[seed % len(RECIPES)]
    records = corpus(rng, recipe, seed // len(RECIPES) % 2)
    documents = [(record["id"], json.dumps(posted(recipe, record))) for record in records]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "documents.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(record) + "\n" for record in records)
        recipe = with_tables(neardup, recipe, path, folder)
        rows = deduplicate(neardup, recipe, path, folder)
        answers = {name: [] for name, _ in documents}
        with rest.Service(program, folder, recipe, {"root": ["*"]}) as service:
            def post(path, body, **query):
                return service.send("root", "POST", path, body, "application/json", limit=100, differs=1, **query).json()

            for name, body in documents:
                answers[name] += [post("/v1/query", body), post("/v1/documents", body)]
            for name, body in documents:
                answers[name] += [post("/v1/documents", body, dry=dry) for dry in ("1", None)]
                first = service.send("root", "GET", rest.document_path(name, "/cluster"), limit=1).json()["documents"][0]["id"]
                kept = rows[name]["kept"] if name in rows else name
                if first != kept:
                    raise SystemExit(f"seed {seed}, {recipe}: the leader of {name} is {first}, of dedup {kept}")
        n_words = 0
        for name in answers:
            wanted = removed(rows.get(name))
            for answer in answers[name]:
                n_words += wanted is not None and wanted[0] in [d["id"] for d in answer["nearest"] if "differs" in d]
                if not same(leader(answer["cluster"]), wanted) or not same_words(answer, rows.get(name)):
                    raise SystemExit(f"seed {seed}, {recipe}: {name} in {path}\n{answer}\n--- of dedup\n{rows.get(name)}")
        if rows and not n_words:
            raise SystemExit(f"seed {seed}, {recipe}: no answer has the words that differ")
        if rows:
            row = rng.choice(list(rows.values()))
            pair = explained(neardup, recipe, path, row["removed"], row["kept"])
            if not pair["duplicates"]:
                raise SystemExit(f"seed {seed}, {recipe}: explain says {pair}\n--- of dedup\n{row}")
    return 5 * len(documents)


def main():
    program, neardup = sys.argv[1:3]
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 300 if "NEARDUP_NIGHTLY" in os.environ else len(RECIPES)
    compared = sum(try_seed(program, neardup, seed) for seed in range(first, first + count))
    print(f"{count} corpora, {compared} answers: one leader for each document")


if __name__ == "__main__":
    main()
