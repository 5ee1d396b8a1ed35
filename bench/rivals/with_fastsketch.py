"""FastSketchLSH: batch sketches, 16 bands as its README has them, candidates taken as they are."""

import numpy as np
from FastSketchLSH import LSH, FastSimilaritySketch

from harness import first_of_each, shingles


def run(job):
    maker = FastSimilaritySketch(size=job.perms, seed=42)
    parts = []
    for texts in job.batches():
        with job.phase("tokenise"):
            documents = [shingles(text, job.width) for text in texts]
        with job.phase("sketch"):
            parts.append(np.asarray(maker.batch(documents, num_threads=1), dtype=np.uint64))
    sketches = np.concatenate(parts)
    with job.phase("index"):
        index = LSH(num_perm=job.perms, num_bands=16, num_threads=1)
        index.insert(sketches)
        flat, ends = (
            np.asarray(part).astype(np.int64) for part in index.query(sketches, format="csr")
        )
        rows = np.repeat(np.arange(len(sketches)), np.diff(ends))
        earlier = flat < rows
        pairs = list(zip(rows[earlier].tolist(), flat[earlier].tolist()))
    with job.phase("cluster"):
        leader = first_of_each(len(sketches), pairs)
        removed = {i for i, first in enumerate(leader) if first != i}
    job.write_survivors(removed)
    return lambda: leader, removed
