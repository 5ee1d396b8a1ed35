"""Peers of `neardup repeats`: one process, one core.

    repeats_side.py sentences IN OUT FOLDER    datatrove's three steps of sentence deduplication
    repeats_side.py passages IN N              a suffix array of word numbers, with its common prefixes
    repeats_side.py lines IN OUT LIMIT ORACLE  one sentence a line, as tests/oracle/features.py finds them
    repeats_side.py score KIND IN OURS THEIRS LOG

All read JSON Lines.  The first writes them; its sentences are the lines of a text.  The second prints how
many words stand in a passage of N words that stands in an earlier place, too.  The last says what is equal:
documents with the same words, or how many words are cut.
"""

import json
import os
import re
import sys

WORD = re.compile(r"\w+")


def texts_of(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)


def sentences(path, to, folder):
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
    from datatrove.utils.text import TextNormConfig

    # Numbers and accents count, as they do in neardup's tokens.
    norm = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)
    config = SentDedupConfig(
        n_sentences=3, split_sentences=False, norm_config=norm, min_doc_words=0, min_num_sentences=0
    )

    class Read(PipelineStep):
        name, type = "read", "reader"

        def run(self, data=None, rank=0, world_size=1):
            for record in texts_of(path):
                yield Document(text=record["text"], id=str(record["id"]))

    class Write(PipelineStep):
        name, type = "write", "writer"

        def run(self, data, rank=0, world_size=1):
            with open(to, "w", encoding="utf-8") as f:
                for document in data:
                    f.write(json.dumps({"id": document.id, "text": document.text}) + "\n")
                    yield document

    signatures, found = os.path.join(folder, "signatures"), os.path.join(folder, "found")
    steps = [
        [Read(), SentenceDedupSignature(signatures, config=config, finder_workers=1)],
        [SentenceFindDedups(data_folder=signatures, output_folder=found, config=config)],
        [Read(), SentenceDedupFilter(data_folder=found, config=config), Write()],
    ]
    for i, pipeline in enumerate(steps):
        LocalPipelineExecutor(pipeline, tasks=1, logging_dir=os.path.join(folder, f"log{i}")).run()


def passages(path, n):
    import numpy
    import pydivsufsort

    numbers, words, ends = {}, [], []
    for record in texts_of(path):
        for word in WORD.findall(record["text"].lower()):
            words.append(numbers.setdefault(word, len(numbers) + 1))
        words.append(0)  # no passage goes across it
        ends.append(len(words))
    words = numpy.array(words, dtype=numpy.uint32)
    # Each end is a word of its own, so that common prefixes stop there.
    words[numpy.array(ends) - 1] = len(numbers) + 1 + numpy.arange(len(ends), dtype=numpy.uint32)
    # Big-endian bytes sort as the numbers do; suffixes that begin within a word are left out.
    order = pydivsufsort.divsufsort(words.astype(">u4").tobytes())
    order = order[order % 4 == 0] // 4
    common = pydivsufsort.kasai(words, order.astype(order.dtype))
    is_covered = numpy.zeros(len(words) + 1, dtype=numpy.int64)
    start = 0
    for i in range(len(order)):
        if common[i] >= n and i + 1 < len(order):
            continue
        if i > start:
            places = numpy.sort(order[start : i + 1])[1:]  # all but the first place
            is_covered[places] += 1
            is_covered[places + n] -= 1
        start = i + 1
    print(int((numpy.cumsum(is_covered)[:-1] > 0).sum()))


def lines(path, to, limit, oracle):
    sys.path.insert(0, oracle)
    import features

    with open(to, "w", encoding="utf-8") as out:
        for i, record in enumerate(texts_of(path)):
            if limit and i == limit:
                break
            found = [" ".join(s.split()) for s in features.sentences(record["text"])]
            # U+2029 ends a sentence whatever stands around it, and a line of datatrove's.
            text = "\u2029".join(s for s in found if WORD.search(s))
            out.write(json.dumps({"id": i, "text": text}) + "\n")


def score(kind, path, ours, theirs, log):
    left, right = ({str(r["id"]): WORD.findall(r["text"].lower()) for r in texts_of(p)} for p in (path, ours))
    if kind == "sentences":
        beside = {str(r["id"]): WORD.findall(r["text"].lower()) for r in texts_of(theirs)}
        equal = sum(beside.get(i, []) == words for i, words in right.items())
        print(json.dumps({"documents": len(left), "equal": equal}))
        return
    with open(log, encoding="utf-8") as f:
        beside = int(f.read().split()[-1])
    print(json.dumps({"cut": sum(map(len, left.values())) - sum(map(len, right.values())), "cut_beside": beside}))


if __name__ == "__main__":
    if sys.argv[1] == "sentences":
        sentences(*sys.argv[2:5])
    elif sys.argv[1] == "lines":
        lines(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    elif sys.argv[1] == "score":
        score(*sys.argv[2:7])
    else:
        passages(sys.argv[2], int(sys.argv[3]))
