"""Documents that are given as tokens: the text that stands for them, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _native

# The letters of Vai that stand for bytes: byte b is chr(0xA500 + b); and the one for no bytes at all.
_FIRST, _EMPTY = 0xA500, 0xA600


def tokens_of_row(value: object) -> list[Any] | tuple[Any, ...] | None:
    """Give the tokens of a document as a list or tuple; None: it is no list of tokens."""
    if isinstance(value, (list, tuple)):
        return value
    if getattr(value, "ndim", 1) == 1 and hasattr(value, "tolist") and not isinstance(value, memoryview):
        return value.tolist()  # type: ignore[no-any-return]
    return None


def text_of_tokens(tokens: Iterable[str | int | bytes]) -> str:
    """Give the text that stands for a list of tokens.

    It has one word for each token, and neardup's tokens of the text are these words.  So whatever reads
    texts (a file for the command, the service) can be given tokens of one's own.

    Parameters
    ----------
    tokens : iterable of str, int or bytes
        The tokens.  An int is the token of its decimal digits.

    Returns
    -------
    str
        Words with one space between them.  A token that is a word as neardup finds it (in lower case,
        without punctuation) is itself; of any other, each byte of its UTF-8 is a letter of the script
        Vai, U+A500 + b.

    Raises
    ------
    TypeError
        A token is neither.

    Examples
    --------
    >>> text_of_tokens(["the", "ship", 464, 4074])
    'the ship 464 4074'
    >>> tokens_of_text(text_of_tokens(["The", "ship", "##ped", "."]))
    ['The', 'ship', '##ped', '.']
    """
    taken = tokens if isinstance(tokens, (list, tuple)) else list(tokens)
    return _native.text_of_tokens(taken)


def _token(word: str) -> str | bytes:
    codes = [ord(letter) - _FIRST for letter in word]
    if codes == [_EMPTY - _FIRST]:
        return ""
    if not codes or not all(0 <= code < 256 for code in codes):
        return word
    token = bytes(codes)
    try:
        return token.decode()
    except UnicodeDecodeError:
        return token


def tokens_of_text(text: str) -> list[str | bytes]:
    """Give the tokens that a text stands for.

    Parameters
    ----------
    text : str
        What :func:`text_of_tokens` made, or words of it.

    Returns
    -------
    list of str or bytes
        The tokens; bytes where they are not UTF-8.  An int comes back as its digits.

    Examples
    --------
    >>> tokens_of_text(text_of_tokens([15, "It's"]))
    ['15', "It's"]
    """
    return [_token(word) for word in text.split(" ")] if text else []
