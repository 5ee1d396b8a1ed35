"""gaoya: its own tokeniser (white space, in Rust), bulk insert, bulk query."""

import gaoya

from harness import BATCH, first_of_each


def run(job):
    # Only with bands and rows None does it make them from the number of hashes (21 x 6 at .8).
    index = gaoya.minhash.MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=job.threshold,
        num_bands=None,
        band_size=None,
        num_hashes=job.perms,
        analyzer="word",
        lowercase=True,
        ngram_range=(job.width, job.width),
        id_container="vec",
    )
    job.note["index"] = str(index)
    kept_texts = []
    for texts in job.batches():
        with job.phase("sketch and index"):
            index.par_bulk_insert_docs(
                list(range(len(kept_texts), len(kept_texts) + len(texts))), texts
            )
        kept_texts.extend(texts)  # its query takes texts
    pairs = []
    with job.phase("query"):
        for base in range(0, len(kept_texts), BATCH):
            for i, found in enumerate(index.par_bulk_query(kept_texts[base : base + BATCH]), base):
                pairs.extend((i, j) for j in found if j < i)
    with job.phase("cluster"):
        leader = first_of_each(len(kept_texts), pairs)
        removed = {i for i, first in enumerate(leader) if first != i}
    job.write_survivors(removed)
    return lambda: leader, removed
