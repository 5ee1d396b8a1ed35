#!/usr/bin/env bash
# test-python.sh - install the Python package into an environment of its own, and test it
#
# usage: tools/test-python.sh plain|frameworks FOLDER COMMAND [MODULE]
#
# plain: without any other package, and without the files of tests that take longest; frameworks: all,
# with the packages that people keep their data in.  FOLDER is where the environment goes, COMMAND
# the neardup to compare with.  MODULE: an extension module that is built already; without it pip
# builds the package from its sources.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1 folder=$(realpath -m "$2") command=$(realpath "$3") module=${4:-}
packages=(pytest)
if [ "$kind" = frameworks ]; then
    packages+=(hypothesis numpy pyarrow polars pandas duckdb datasets fsspec scikit-learn imbalanced-learn scrapy datatrove orjson mcp s3fs "moto[server,s3]" "ray[data]")
fi
python3 -m venv "$folder"
# Modules that no test imports need not be compiled: that takes a minute of processor time.
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-compile "${packages[@]}"
# Airflow fixes the versions of a hundred packages, so it has an environment of its own.
if [ "$kind" = frameworks ] && [ -n "${NEARDUP_NIGHTLY:-}" ]; then
    export NEARDUP_AIRFLOW=$folder-airflow
    python3 -m venv "$NEARDUP_AIRFLOW"
    "$NEARDUP_AIRFLOW/bin/pip" install --quiet --disable-pip-version-check --no-compile "apache-airflow>=3"
fi
if [ -n "$module" ]; then
    packages_folder=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    rm -rf "$packages_folder/neardup"
    cp -R python/src/neardup "$packages_folder"
    cp "$module" "$packages_folder/neardup"
else
    "$folder/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
        --config-settings=cmake.define.NEARDUP_WERROR=ON ./python
fi
cd python
# Only what is installed is tested: the sources must not stand in for it.  Spark has a test of its own.
installed=$("$folder/bin/python" -P -c "import neardup; print(neardup.__path__[0])")
options=(-P -m pytest -p no:cacheprovider --ignore=tests/spark --ignore="$installed/spark")
if [ "$kind" = plain ]; then
    options+=(--ignore="$installed/_batches.py") # whose example is of numpy's arrays
    for name in copies evidence files interrupts live_files memory pairs sketched ways; do options+=(--ignore="tests/test_$name.py"); done
fi
NEARDUP=$command "$folder/bin/python" "${options[@]}" tests README.md \
    --doctest-modules --doctest-ignore-import-errors --doctest-glob="*.md" --pyargs neardup
"$folder/bin/python" "${options[@]}" --doctest-glob="*.md" ../docs/tutorial
