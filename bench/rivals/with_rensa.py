"""rensa: R-MinHash and C-MinHash through their own deduplicators, which keep the first document."""

import rensa

from harness import shingles


def deduplicate(job, tool):
    removed, count = set(), 0
    for texts in job.batches():
        with job.phase("tokenise"):
            documents = [shingles(text, job.width) for text in texts]
        with job.phase("sketch and index"):
            kept = tool.add_pairs((str(count + i), d) for i, d in enumerate(documents))
        removed.update(count + i for i, k in enumerate(kept) if not k)
        count += len(texts)
    job.write_survivors(removed)

    def leaders():
        """The first kept document that the tool names when asked again about a removed one."""
        leader, base = list(range(count)), 0
        for texts in job.batches():
            asked = [i for i in range(len(texts)) if base + i in removed]
            found = tool.get_duplicate_sets([shingles(texts[i], job.width) for i in asked])
            for i, keys in zip(asked, found):
                leader[base + i] = min(
                    (int(k) for k in keys if int(k) < base + i), default=base + i
                )
            base += len(texts)
        return leader

    return leaders, removed


def run_r(job):
    return deduplicate(
        job, rensa.RMinHashDeduplicator(threshold=job.threshold, num_perm=job.perms, use_lsh=True)
    )


def run_c(job):
    return deduplicate(job, rensa.CMinHashDeduplicator(threshold=job.threshold, num_perm=job.perms))
