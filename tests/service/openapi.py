#!/usr/bin/env python3
"""openapi.py - the service's description for programs says what its page says

usage: tests/service/openapi.py [--validate]

web/openapi.json and docs/http.md name the same requests, the same statuses and the same members of
answers, and every part of the description is used.  --validate also has openapi-spec-validator read
it, which must be installed.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
METHODS = ("get", "post", "put", "delete", "patch")


def operations(spec):
    """(method, path, operation) of each request that the description has."""
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def resolve(spec, reference):
    """The part that "#/components/..." names."""
    found = spec
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for member in value.values():
            yield from references(member)
    elif isinstance(value, list):
        for member in value:
            yield from references(member)


def members(spec, schema):
    """The names of an object's members, those of its parts included."""
    if "$ref" in schema:
        schema = resolve(spec, schema["$ref"])
    names = set(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        names |= members(spec, part)
    return names


def section(page, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.S | re.M)[1]


def first_column(text):
    """The first cell of each row of a table, without its head."""
    rows = re.findall(r"^\| (.*?) +\|", text, re.M)
    return [row for row in rows if "`" in row or row[0].isdigit()]


def check_paths(spec, page):
    """The requests, and what each takes in its address."""
    documented = {tuple(re.sub(r"\?.*", "", cell.strip("`")).split(" "))
                  for cell in first_column(section(page, "Paths"))}
    described = {(method, path) for method, path, _ in operations(spec)}
    yield from (f"docs/http.md alone has {' '.join(one)}" for one in documented - described)
    yield from (f"web/openapi.json alone has {' '.join(one)}" for one in described - documented)
    for row in re.findall(r"^\| `(\w+) (\S+?)(?:\?\S*)?`(.*)$", section(page, "Paths"), re.M):
        method, path, rest = row
        item = spec["paths"].get(path, {})
        parameters = item.get("parameters", []) + item.get(method.lower(), {}).get("parameters", [])
        names = {p["name"] if "name" in p else resolve(spec, p["$ref"])["name"] for p in parameters}
        for name in re.findall(r"`\??(\w+)=\d?`", rest):
            if name not in names:
                yield f"{method} {path} has no parameter {name}"


def check_statuses(spec, page):
    """Each status of the page is that of some request, and no request has another."""
    documented = {int(code) for cell in first_column(section(page, "Problems"))
                  for code in cell.split(", ")}
    described = {int(code) for _, _, operation in operations(spec)
                 for code in operation["responses"] if code >= "400"}
    # A method that the path does not have is no request of the description.
    described.add(405)
    yield from (f"docs/http.md alone has status {one}" for one in documented - described)
    yield from (f"web/openapi.json alone has status {one}" for one in described - documented)


def check_members(spec, page):
    """The example of a verdict, and the members that "Other answers" lists."""
    schemas = spec["components"]["schemas"]
    example = json.loads(re.search(r"^```json\n(.*?)^```", page, re.S | re.M)[1])
    for name, value in (("StoredVerdict", example), ("Evidence", example["evidence"]),
                        ("Work", example["work"]), ("Key", example["of"])):
        known = members(spec, schemas[name])
        if not set(schemas[name]["required"]) <= set(value) <= known:
            yield f"{name}: the example of docs/http.md has other members"
    listed = dict(re.findall(r"^\* \*\*(.*?)\*\*: (.*?)(?=^\* |\Z)", section(page, "Other answers"),
                             re.S | re.M))
    for title, name in (("A document", "DocumentWithText"), ("Near, cluster", "Neighbours"),
                        ("Versions", "Version"), ("Crawl", "CrawlRow"), ("Stats", "Stats"), ("Documents", "DocumentList"),
                        ("Clusters", "ClusterList"), ("Clusters", "Cluster"),
                        ("Fingerprints", "Fingerprints")):
        words = set(re.findall(r"\w+", " ".join(re.findall(r"`(.*?)`", listed[title], re.S))))
        own = members(spec, schemas[name])
        if name == "CrawlRow":
            own -= members(spec, schemas["Document"])
        for missing in sorted(own - words - {"replaced"}):
            yield f"{name}: docs/http.md does not name {missing}"
        if title == "A document":
            for missing in sorted(words - own - {"GET", "v1", "documents", "id"}):
                yield f"{name}: web/openapi.json does not name {missing}"


def check_references(spec):
    """Every reference leads somewhere, and every component is used."""
    used = set(references(spec))
    for reference in used:
        try:
            resolve(spec, reference)
        except KeyError:
            yield f"{reference} is not there"
    for kind in ("parameters", "responses", "schemas"):
        for name in spec["components"][kind]:
            if f"#/components/{kind}/{name}" not in used:
                yield f"nothing uses {kind}/{name}"
    ids = [operation["operationId"] for _, _, operation in operations(spec)]
    yield from (f"two requests are called {one}" for one in set(ids) if ids.count(one) > 1)


def main():
    spec = json.loads((ROOT / "web/openapi.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs/http.md").read_text(encoding="utf-8")
    wrong = [*check_paths(spec, page), *check_statuses(spec, page), *check_members(spec, page),
             *check_references(spec)]
    if "--validate" in sys.argv[1:]:
        from openapi_spec_validator import OpenAPIV31SpecValidator
        wrong += [error.message for error in OpenAPIV31SpecValidator(spec).iter_errors()]
    for line in wrong:
        print(f"openapi: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
