"""neardup.ray on the cores of this machine, measured; prints a line of JSON.

    ray_side.py --input DOCS.parquet --out FOLDER [--parts N] [--cores 2] [--runs 2]

The cluster starts, and the job runs once on a few documents, before the clock starts.  Processor
seconds are those of all processes: Ray's own, the driver's and those of the tasks.
"""

import argparse
import json
import os
import shutil
import time

from spark_side import processor_seconds


def run(data, out, parts):
    """Survivors and what was removed, in files, as the job on Spark writes them."""
    import neardup.ray

    shutil.rmtree(out, ignore_errors=True)
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
    kept.write_parquet(os.path.join(out, "survivors"))
    removed.write_parquet(os.path.join(out, "manifest"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--parts", type=int)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=2)
    args = parser.parse_args()
    import pyarrow.parquet
    import ray
    import ray.data

    ray.init(
        num_cpus=args.cores,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=1 << 30,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    few = pyarrow.parquet.read_table(args.input).slice(0, 20)
    run(ray.data.from_arrow(few), args.out, args.parts)
    cpu, wall = [], []
    for _ in range(args.runs):
        before, start = processor_seconds(), time.monotonic()
        run(ray.data.read_parquet(args.input), args.out, args.parts)
        cpu.append(round(processor_seconds() - before, 2))
        wall.append(round(time.monotonic() - start, 2))
    kept = pyarrow.parquet.read_table(os.path.join(args.out, "survivors")).num_rows
    removed = pyarrow.parquet.read_table(os.path.join(args.out, "manifest")).num_rows
    print(
        json.dumps(
            {"parts": args.parts, "cpu_s": cpu, "seconds": wall, "kept": kept, "removed": removed}
        )
    )
    ray.shutdown()


if __name__ == "__main__":
    main()
