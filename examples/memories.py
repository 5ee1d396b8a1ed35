"""An agent's memories: is this one known already, and what differs.

A memory is a sentence or two. remember() keeps it unless one says the same, and says what a similar
one has in its place: "Sam lives in Hull" and "Sam lives in York" are not the same.

    python memories.py            prints what the end of this file says
"""

import json
import os

import neardup

# Each name that neardup has for a difference, and its meaning for a memory that is to be kept.
VERDICTS = {
    "nothing": "known",  # the same words in the same order, whatever marks and capitals are between
    "order": "changed",  # the same words in another order: "tea to coffee", "coffee to tea"
    "dates": "changed",
    "numbers": "changed",
    "names": "changed",
    "words": "similar",
}


class Memories:
    """Memories in a file of JSON Lines, one for each, and in an index of this process."""

    def __init__(self, path):
        self.path = path
        self.texts = {}
        # Runs of three letters find sentences; half of them in common is a sentence to look at.
        self.index = neardup.Index("short-texts", threshold=0.5)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as lines:
                self.texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
            self.index.add_batch(self.texts, self.texts.values())

    def recall(self, text):
        """The memories like a text, the nearest first, and how each of them differs from it."""
        return [
            {
                "id": match.id,
                "text": self.texts[match.id],
                "verdict": VERDICTS[match.differs["in"]],
                "resemblance": round(match.jaccard, 3),
                "differs": match.differs,
            }
            for match in self.index.query(text, differs=True)
        ]

    def remember(self, text):
        """Keep a memory, unless one says the same; the memories like it."""
        found = self.recall(text)
        if not any(memory["verdict"] == "known" for memory in found):
            id = max(self.texts, default=0) + 1
            with open(self.path, "a", encoding="utf-8") as lines:
                lines.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
            self.texts[id] = text
            self.index.add(id, text)
        return found

    def forget(self, id):
        """Forget a memory, such as one that another has replaced."""
        self.index.remove(id)
        del self.texts[id]
        with open(self.path + ".new", "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"id": i, "text": t}, ensure_ascii=False) + "\n" for i, t in self.texts.items())
        os.replace(self.path + ".new", self.path)


if __name__ == "__main__":
    import tempfile

    memories = Memories(os.path.join(tempfile.mkdtemp(), "memories.jsonl"))
    for said in (
        "Sam lives in Hull with two old cats",
        "sam lives in Hull, with two old cats!",
        "Sam lives in York with two old cats",
        "The meeting is on 3 May 2025 in room 12",
        "The meeting is on 3 May 2025 in room 14",
    ):
        like = memories.remember(said)
        print(said, "->", like[0]["verdict"] if like else "new", like[0]["differs"] if like else "")

# Sam lives in Hull with two old cats -> new
# sam lives in Hull, with two old cats! -> known {'in': 'nothing', 'this': [], 'other': []}
# Sam lives in York with two old cats -> changed {'in': 'names', 'this': ['York'], 'other': ['Hull']}
# The meeting is on 3 May 2025 in room 12 -> new
# The meeting is on 3 May 2025 in room 14 -> changed {'in': 'numbers', 'this': ['14'], 'other': ['12']}
