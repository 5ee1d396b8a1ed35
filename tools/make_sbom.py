"""make_sbom.py - the bill of materials of a release: SPDX 2.3 in JSON, on the standard output

usage: make_sbom.py VERSION FOLDER

FOLDER has the files of the release, each of which becomes a file with its checksums.  PARTS below are
what neardup carries, links or opens.  Nothing but the files and SOURCE_DATE_EPOCH decides the bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

SITE = "https://github.com/neardup/neardup"
# Name, version (of Debian 12, with which neardup is tested), licence, how neardup has it, what for.  What
# packages of Debian link or open is a part of the commands in wheels and of those for other systems.
PARTS = [
    ("xxHash", "0.8.1", "BSD-2-Clause", "STATIC_LINK", "hashes"),
    ("snowball", "2.2.0", "BSD-3-Clause", "STATIC_LINK", "stems"),
    ("simdjson", "3.0.1", "Apache-2.0", "DYNAMIC_LINK STATIC_LINK", "JSON"),
    ("isa-l", "2.30.0", "BSD-3-Clause", "DYNAMIC_LINK STATIC_LINK", "gzip"),
    ("zstd", "1.5.4", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF STATIC_LINK", ".zst"),
    ("zlib", "1.2.13", "Zlib", "OPTIONAL_DEPENDENCY_OF STATIC_LINK", "gzip is written"),
    ("musl", "as in zig 0.17.1", "MIT", "STATIC_LINK", "the static commands"),
    ("mingw-w64", "as in zig 0.17.1", "ZPL-2.1", "STATIC_LINK", "the command for Windows"),
    ("xz", "5.4.1", "LicenseRef-public-domain", "OPTIONAL_DEPENDENCY_OF", ".xz"),
    ("bzip2", "1.0.8", "bzip2-1.0.6", "OPTIONAL_DEPENDENCY_OF", ".bz2"),
    ("libarchive", "3.6.2", "BSD-2-Clause", "OPTIONAL_DEPENDENCY_OF", "archives"),
    ("libxml2", "2.9.14", "MIT", "OPTIONAL_DEPENDENCY_OF", "HTML"),
    ("gmime", "3.2.13", "LGPL-2.1-or-later", "OPTIONAL_DEPENDENCY_OF", "mail"),
    ("brotli", "1.0.9", "MIT", "OPTIONAL_DEPENDENCY_OF", "web archives"),
    ("lmdb", "0.9.24", "OLDAP-2.8", "OPTIONAL_DEPENDENCY_OF", "the service"),
    ("libmicrohttpd", "0.9.75", "LGPL-2.1-or-later", "OPTIONAL_DEPENDENCY_OF", "the service"),
    ("curl", "7.88.1", "curl", "OPTIONAL_DEPENDENCY_OF", "the client of the service"),
]


def package(name: str, version: str, licence: str, comment: str | None = None) -> dict[str, object]:
    about: dict[str, object] = {
        "SPDXID": f"SPDXRef-Package-{name}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": f"{SITE}/releases/tag/v{version}" if name == "neardup" else "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }
    return about | ({"comment": comment} if comment else {})


def main() -> None:
    version, folder = sys.argv[1], Path(sys.argv[2])
    names = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.endswith((".spdx.json.new", "SHA256SUMS")))
    files = []
    whole = hashlib.sha256()
    for number, path in enumerate(names):
        data = path.read_bytes()
        sums = {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}
        whole.update(f"{path.name} {sums['SHA256']}\n".encode())
        files.append(
            {
                "SPDXID": f"SPDXRef-File-{number}",
                "fileName": f"./{path.name}",
                "checksums": [{"algorithm": name, "checksumValue": value} for name, value in sums.items()],
                "licenseConcluded": "NOASSERTION",
                "licenseInfoInFiles": ["NOASSERTION"],
                "copyrightText": "NOASSERTION",
            }
        )

    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package-neardup")]
    for name, _, _, how, _ in PARTS:
        ends = ("SPDXRef-Package-neardup", f"SPDXRef-Package-{name}")
        for kind in how.split():
            first, second = reversed(ends) if kind.endswith("_OF") else ends
            relations.append((first, kind, second))
    relations += [(file["SPDXID"], "GENERATED_FROM", "SPDXRef-Package-neardup") for file in files]

    time = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"neardup-{version}",
        "documentNamespace": f"{SITE}/spdx/neardup-{version}-{whole.hexdigest()[:16]}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: The neardup project", "Tool: make_sbom.py"],
        },
        "packages": [package("neardup", version, "Apache-2.0")]
        + [package(name, at, licence, f"for {what}") for name, at, licence, _, what in PARTS],
        "files": files,
        "hasExtractedLicensingInfos": [
            {
                "licenseId": "LicenseRef-public-domain",
                "name": "Public domain",
                "extractedText": "liblzma is in the public domain.",
            }
        ],
        "relationships": [
            {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}
            for first, kind, second in relations
        ],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


main()
