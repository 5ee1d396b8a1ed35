"""datasketch: MinHash.bulk, then MinHashLSH, candidates taken as they are."""

from datasketch import MinHash, MinHashLSH
from xxhash import xxh32_intdigest

from harness import first_of_each, shingles


def run(job, **hashing):
    sketches = []
    for texts in job.batches():
        with job.phase("tokenise"):
            documents = [[s.encode() for s in shingles(text, job.width)] for text in texts]
        with job.phase("sketch"):
            sketches.extend(MinHash.bulk(documents, num_perm=job.perms, **hashing))
    pairs = []
    with job.phase("index"):
        index = MinHashLSH(threshold=job.threshold, num_perm=job.perms)
        for i, sketch in enumerate(sketches):
            pairs.extend((i, j) for j in index.query(sketch))
            index.insert(i, sketch, check_duplication=False)
    job.note["bands"] = [index.b, index.r]
    with job.phase("cluster"):
        leader = first_of_each(len(sketches), pairs)
        removed = {i for i, first in enumerate(leader) if first != i}
    job.write_survivors(removed)
    return lambda: leader, removed


def run_xxh(job):
    """With a faster hash function than its SHA-1, as its documentation proposes."""
    return run(job, hashfunc=xxh32_intdigest)
