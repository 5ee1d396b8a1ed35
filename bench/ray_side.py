"""neardup.ray on the cores of this machine, measured; prints a line of JSON.

    ray_side.py --input DOCS.parquet --out FOLDER [--parts N] [--cores 2] [--runs 2]

With --parts 0 one task decides.  The cluster starts, and the job runs once on a few documents, before
the clock starts.  Processor seconds are those of all processes: Ray's own, the driver's and those of
the tasks.
"""

import argparse
import json
import os
import shutil
import sys
import time

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from spark_side import processor_seconds, write_scored  # noqa: E402  (found by the path above)


def run(data, out, parts):
    """Survivors and what was removed, in files, as the job on Spark writes them."""
    import neardup.ray

    marked = neardup.ray.mark(data, order_by="n", parts=parts)
    marks = ["duplicate_of", "identical", "resemblance"]
    kept = marked.map_batches(
        lambda t: t.filter(t["duplicate_of"].is_null()).drop_columns(marks),
        batch_format="pyarrow",
        batch_size=None,
    )
    removed = marked.map_batches(
        lambda t: t.filter(t["duplicate_of"].is_valid()).drop_columns(["text"]),
        batch_format="pyarrow",
        batch_size=None,
    )
    for name, rows in (("survivors", kept), ("manifest", removed)):
        folder = os.path.join(out, name)
        shutil.rmtree(folder, ignore_errors=True)
        rows.write_parquet(folder)


def write_clusters(path, out):
    """Write the clusters and the removed rows for score.py."""
    import pyarrow.parquet

    ids = pyarrow.parquet.read_table(path, columns=["n", "id"])
    name = dict(zip(ids["n"].to_pylist(), ids["id"].to_pylist(), strict=True))
    removed = pyarrow.parquet.read_table(os.path.join(out, "manifest"))
    pairs = zip(removed["id"].to_pylist(), removed["duplicate_of"].to_pylist(), strict=True)
    write_scored(out, list(name.values()), {id: name[kept] for id, kept in pairs})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--parts", type=int, default=0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=2)
    args = parser.parse_args()
    import pyarrow.parquet
    import ray
    import ray.data

    os.makedirs(args.out, exist_ok=True)
    ray.init(
        num_cpus=args.cores,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=1 << 30,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    parts = args.parts or None
    few = pyarrow.parquet.read_table(args.input).slice(0, 20)
    run(ray.data.from_arrow(few), args.out, parts)
    record = {"seconds": [], "cpu_s": []}
    for _ in range(args.runs):
        before, start = processor_seconds(), time.monotonic()
        run(ray.data.read_parquet(args.input), args.out, parts)
        record["cpu_s"].append(round(processor_seconds() - before, 2))
        record["seconds"].append(round(time.monotonic() - start, 2))
    ray.shutdown()
    write_clusters(args.input, args.out)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
