#!/usr/bin/env bash
# test-spark.sh - install the Python package beside PySpark, and test it on sessions of Spark
#
# usage: tools/test-spark.sh [--check] FOLDER COMMAND [PYTEST-ARGUMENT...]
#
# FOLDER is where the environment goes, COMMAND the neardup to compare with.  The tests run in two
# sessions: threads of one process, local[2], and a cluster of two processes,
# local-cluster[2,1,1024].  Spark needs Java 17.  --check: say why this machine cannot run the tests,
# with status 1, or nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# The folder of the first Java that is 17 or later: the one that is set, then Debian's, then any.
find_java() {
    local home version
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/java-17-openjdk-* \
        "$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")"; do
        [ -x "$home/bin/java" ] || continue
        version=$("$home/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
        if [ "${version:-0}" -ge 17 ]; then
            echo "$home"
            return
        fi
    done
    return 1
}

if ! JAVA_HOME=$(find_java); then
    echo "Spark needs Java 17 or later, and there is none; Debian has it in openjdk-17-jre-headless"
    exit 1
fi
export JAVA_HOME
if [ "${1:-}" = --check ]; then
    exit 0
fi
folder=$(realpath -m "$1") command=$(realpath "$2")
shift 2

python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pytest 'pyspark>=4,<5' pyarrow 'pandas<3'
"$folder/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
    --config-settings=cmake.define.NEARDUP_WERROR=ON ./python
cd python
export NEARDUP=$command
status=0
for master in 'local[2]' 'local-cluster[2,1,1024]'; do
    echo "== Spark on $master"
    # Only what is installed is tested: the sources must not stand in for it.
    NEARDUP_SPARK_MASTER=$master "$folder/bin/python" -P -m pytest -p no:cacheprovider -rs \
        tests/spark "$@" || status=1
done
exit "$status"
