"""Random texts of which many are near one another, equal, or equal but for marks and cases."""

WORDS = [a + b for a in ("ka", "lo", "mi", "ru", "te", "vo", "xi", "zu") for b in ("", "n", "ra", "sto", "ing", "ver", "dem", "pal")]


def fresh(rng):
    return [rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 12, 30, 30, 60, 60]))]


def edited(rng, words):
    words = list(words)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        at = rng.randrange(len(words) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            words.insert(at, rng.choice(WORDS))
        elif words and kind == 1:
            words[at % len(words)] = rng.choice(WORDS)
        elif words:
            del words[at % len(words)]
    return words


def written(rng, words):
    """A text with these words: rarely other cases and marks."""
    text = " ".join(words)
    kind = rng.randrange(8)
    return text.upper() if kind == 0 else text + "." if kind == 1 else text


def family(rng, most):
    """Up to `most` texts: a few originals, and edited and equal ones of each."""
    originals = [fresh(rng) for _ in range(rng.choice([1, 2, 3]))]
    texts = []
    for _ in range(rng.randrange(most // 2, most + 1)):
        words = rng.choice(originals)
        for _ in range(rng.choice([0, 1, 1, 2])):
            words = edited(rng, words)
        texts.append(written(rng, words))
        originals.append(words)
    return texts


def articles(rng, most):
    """Up to `most` longer texts: sentences with stop words, of which a few words or sentences were changed."""
    sentences = [
        "".join((rng.choice(["the ", "a ", "is ", "an "]) if rng.random() < 0.4 else "") + rng.choice(WORDS) + rng.choice(WORDS) + " " for _ in range(rng.randrange(5, 15)))
        for _ in range(60)
    ]
    originals = [[rng.choice(sentences) for _ in range(rng.choice([12, 20, 30]))] for _ in range(2)]
    found = []
    for _ in range(rng.randrange(most // 2, most + 1)):
        article = list(rng.choice(originals))
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            article[rng.randrange(len(article))] = rng.choice(sentences)
        words = " ".join(sentence.capitalize().strip() + "." for sentence in article).split(" ")
        for _ in range(rng.choice([0, 0, 1, 3])):
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        found.append(" ".join(words))
    return found


def pages(rng, most):
    """Up to `most` pages: headings, emphasis, and more than ten links, of which some were changed."""
    originals = [[rng.choice(["h1", "h2", "p", "li", "td", "div"]) for _ in range(rng.choice([14, 20, 30]))] for _ in range(2)]
    words = [[rng.choice(WORDS) + rng.choice(WORDS) for _ in range(120)] for _ in originals]
    found = []
    for _ in range(rng.randrange(most // 2, most + 1)):
        at = rng.randrange(len(originals))
        tags, text = list(originals[at]), list(words[at])
        for _ in range(rng.choice([0, 0, 1, 2])):
            tags[rng.randrange(len(tags))] = rng.choice(["h3", "p", "dd"])
        for _ in range(rng.choice([0, 0, 1])):
            text[rng.randrange(len(text))] = rng.choice(WORDS)
        body = "".join(
            f"<{tag}>{text[4 * i]} <b>{text[4 * i + 1]}</b> <a href='/{tag}/{i}'>{text[4 * i + 2]}</a> {text[4 * i + 3]}</{tag}>"
            for i, tag in enumerate(tags)
        )
        found.append(f"<html><head><title>{text[0]}</title></head><body><main>{body}</main></body></html>")
    return found
