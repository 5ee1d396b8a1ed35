#!/usr/bin/env bash
# check-sbom.sh - the validator of the SPDX project reads a bill of materials
#
# usage: tools/check-sbom.sh FILE.spdx.json
#
# Status 77: the validator cannot be had from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x build/sbom/bin/pyspdxtools ] || {
    python3 -m venv build/sbom
    build/sbom/bin/pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: spdx-tools || {
        echo "check-sbom: skipped: PyPI cannot be reached"
        exit 77
    }
}
build/sbom/bin/pyspdxtools --infile "$1"
echo "check-sbom: $(basename "$1") is valid"
