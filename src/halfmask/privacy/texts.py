"""Texts of a ledger: what a database can hold, of bounded length, and no two queries alike."""

import hashlib

from halfmask.errors import InvalidQuery, shown

__all__ = ["brief", "stored_query", "stored_text"]

_LONGEST = 100_000  # characters
_BRIEF = 500  # characters of a query in a message


def stored_text(value: str, name: str) -> str:
    """Return a text as it is stored."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise InvalidQuery(
            f"{name}: must be a text of 1 to {_LONGEST} characters; shorten it or give one"
        )
    return _storable(value)


def stored_query(query: str) -> str:
    """Return a query as it is stored: of a long one, its beginning and the SHA-256 of the whole.

    What is stored of a long query is longer than any that is stored whole, so none equals it.
    """
    if not isinstance(query, str) or not query:
        raise InvalidQuery(f"query: must be a text, given {shown(query)}; say what is asked")
    text = _storable(query)
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:_LONGEST]}... ({len(text)} characters, SHA-256 {digest})"


def brief(query: str) -> str:
    """Return what a message shows of a query."""
    return query if len(query) <= _BRIEF else f"{query[:_BRIEF]}..."


def _storable(text: str) -> str:
    """Write lone surrogates and NUL as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")
