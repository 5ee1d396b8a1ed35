#!/usr/bin/env bash
# make-site.sh - build the documentation site in build/site, and check its links
#
# usage: tools/make-site.sh [COMMAND]
#
# COMMAND is the neardup whose help is shown (build/release/neardup).  The generator and the Python
# package go into an environment in build/site-work; only that needs a network.
set -euo pipefail
cd "$(dirname "$0")/.."
command=${1:-build/release/neardup}
work=build/site-work
python=$work/venv/bin/python
quiet=(--quiet --disable-pip-version-check)

[ -x "$python" ] || python3 -m venv "$work/venv"
"$python" -m pip install "${quiet[@]}" -r tools/site/requirements.txt
launcher=$(command -v ccache || true)
CMAKE_C_COMPILER_LAUNCHER=$launcher "$python" -m pip install "${quiet[@]}" --force-reinstall --no-deps ./python
"$python" -P -B -c 'import neardup'
PYTHONPATH=tools/site "$python" -P -B tools/site/make_site.py "$command" build/site "$work"
"$python" -B tools/site/check_html.py build/site
"$python" -B tools/site/check_widths.py build/site
echo "the site is in build/site/index.html"
