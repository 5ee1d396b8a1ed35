"""An agent's memories, of a sentence or two: is this one known already, and what differs."""

import json
import os
import tempfile

import neardup

# The verdict on a difference: marks and capitals are nothing, and "tea to coffee", "coffee to tea" is order.
VERDICTS = {"nothing": "known", "words": "similar"} | dict.fromkeys(("order", "dates", "numbers", "names"), "changed")


class Memories:
    """Memories in a file of JSON Lines, one for each, and in an index of this process."""

    def __init__(self, path):
        self.path, self.texts = path, {}
        # Runs of three letters find sentences; half of them in common is a sentence to look at.
        self.index = neardup.Index("short-texts", threshold=0.5)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as lines:
                self.texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
            self.index.add_batch(self.texts, self.texts.values())

    def recall(self, text):
        """The memories like a text, the nearest first, and how each of them differs from it."""
        return [
            {"id": m.id, "text": self.texts[m.id], "verdict": VERDICTS[m.differs["in"]], "differs": m.differs}
            for m in self.index.query(text, differs=True)
        ]

    def remember(self, text):
        """Keep a memory, unless one says the same; the memories like it."""
        found = self.recall(text)
        if not any(memory["verdict"] == "known" for memory in found):
            id = max(self.texts, default=0) + 1
            self.texts[id] = text
            self.index.add(id, text)
            self._write([id], self.path, "a")
        return found

    def forget(self, id):
        """Forget a memory, such as one that another has replaced."""
        self.index.remove(id)
        del self.texts[id]
        self._write(self.texts, self.path + ".new", "w")
        os.replace(self.path + ".new", self.path)

    def _write(self, ids, path, mode):
        with open(path, mode, encoding="utf-8") as lines:
            lines.writelines(json.dumps({"id": id, "text": self.texts[id]}, ensure_ascii=False) + "\n" for id in ids)


if __name__ == "__main__":
    memories = Memories(os.path.join(tempfile.mkdtemp(), "memories.jsonl"))
    for said in "Sam lives in Hull with a cat", "sam lives in Hull, with a cat!", "Sam lives in York with a cat":
        print(said, "->", *[(like["verdict"], like["differs"]) for like in memories.remember(said)])
# Sam lives in Hull with a cat ->
# sam lives in Hull, with a cat! -> ('known', {'in': 'nothing', 'this': [], 'other': []})
# Sam lives in York with a cat -> ('changed', {'in': 'names', 'this': ['York'], 'other': ['Hull']})
