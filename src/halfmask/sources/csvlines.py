r"""The records of a CSV file, each made one line of clean UTF-8, and none lost.

A record ends at a line feed outside quoted fields (carriage returns before it belong to it), so one
person's text stays in that person's record, whatever it holds, in every file whose writer quotes as
RFC 4180 says. Where no such record is found, as at a lone quote, the line is a record of its own.
A carriage return alone ends no line: common writers leave it outside quotes.

A record that is no text (not UTF-8, longer than 1 MiB, blank, or with a control character U+001E or
U+001F) is written as a lone quote, which reads as a row of missing fields: so the number of rows is
the number of records, and no row's content changes it.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["BREAK", "LONGEST", "records"]

LONGEST = 1 << 20
"""Bytes of a record that can be read."""

BREAK = "\x1e"
"""What stands for a line break that ends no record."""

_BLOCK = 4 << 20
_REACH = 8 << 20  # bytes in which an open quote is looked for its end
_UNREADABLE = b'"'
_FIELD = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^",\n\x1e][^,\n\x1e]*+|)'
_RECORD = re.compile(rb"%b(?:,%b)*+" % (_FIELD, _FIELD))
_LINE_END = re.compile(rb"(?<!\r)\r++\n")
_NO_TEXT = bytes.maketrans(b"\x1e\x1f", b"\xff\xff")  # no byte of UTF-8


def records(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the records after the header, as blocks of whole lines."""
    rest, lost = b"", False
    for block, last in _blocks(stream):
        if lost:  # in a line so long that it is no record: go on at its end
            found = block.find(b"\n")
            block, lost = (block[found:], False) if found >= 0 else (b"", True)
        text = rest + block
        if last and text and not text.endswith(b"\n"):
            text += b"\n"
        done, rest = _split(text, last)
        if len(rest) > _REACH:
            rest, lost = b"\xff", True
        yield done


def _blocks(stream: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    r"""Yield the file without its first line, lines ending in ``\n``, and whether this is all."""
    held, first = b"", True
    while block := stream.read(_BLOCK):
        block = held + block
        ready = block.rstrip(b"\r")  # the rest may belong to a line feed
        held = block[len(ready) : len(ready) + LONGEST + 1]
        ready = _without_returns(ready)
        yield (ready.partition(b"\n")[2] if first else ready), False
        first = first and b"\n" not in ready
    yield b"", True


def _without_returns(block: bytes) -> bytes:
    if b"\x1e" in block or b"\x1f" in block:
        block = block.translate(_NO_TEXT)
    if b"\r" not in block:
        return block
    return _LINE_END.sub(b"\n", block).replace(b"\r", BREAK.encode())


def _split(text: bytes, last: bool) -> tuple[bytes, bytes]:
    """Return the whole records of a text, each as one line, and the rest."""
    joins: list[tuple[int, int]] = []
    stop = text.rfind(b"\n") + 1
    if text.find(b'"', 0, stop) >= 0:
        joins, stop = _quoted(text, stop, last)
    done = text[:stop]
    if joins:
        letters = bytearray(done)
        for start, end in joins:
            letters[start:end] = letters[start:end].replace(b"\n", BREAK.encode())
        done = bytes(letters)
    return _readable(done), text[stop:]


def _quoted(text: bytes, stop: int, last: bool) -> tuple[list[tuple[int, int]], int]:
    """Return where records go over several lines, and where the last whole record ends.

    In a record of several lines the first and the last have an odd number of quotes, and no line
    between them has. So each line with an odd number is tried with the next such line alone, and
    no byte is looked at more than twice.
    """
    letters = np.frombuffer(text, np.uint8, stop)
    ends = np.flatnonzero(letters == ord("\n"))
    lines = np.searchsorted(ends, np.flatnonzero(letters == ord('"')))
    odd = np.flatnonzero(np.bincount(lines, minlength=len(ends)) & 1)
    spans = [(int(ends[i - 1]) + 1 if i else 0, int(ends[i])) for i in odd]
    joins: list[tuple[int, int]] = []
    at = 0
    while at < len(spans):
        start, end = spans[at]
        at += 1
        if _RECORD.fullmatch(text, start, end):  # a quote inside an unquoted field
            continue
        if at == len(spans):
            if not last and len(text) - start <= _REACH:
                return joins, start
        elif spans[at][1] - start < _REACH and _RECORD.fullmatch(text, start, spans[at][1]):
            joins.append((start, spans[at][1]))
            at += 1
    return joins, stop


def _readable(text: bytes) -> bytes:
    """Put the mark of an unreadable record where a line is no text, blank or too long."""
    letters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    sizes = np.diff(ends, prepend=-1) - 1
    bad = set(np.flatnonzero((sizes == 0) | (sizes > LONGEST)).tolist())
    bad |= _not_text(text, ends)
    if not bad:
        return text
    pieces, kept = [], 0
    for line in sorted(bad):
        end = int(ends[line])
        pieces += [text[kept : end - int(sizes[line])], _UNREADABLE]
        kept = end
    return b"".join([*pieces, text[kept:]])


def _not_text(text: bytes, ends: NDArray[np.intp]) -> set[int]:
    """Return the numbers of the lines that are not valid UTF-8."""
    if _is_text(text):
        return set()
    other = np.flatnonzero(np.frombuffer(text, np.uint8) > 127)
    lines = np.unique(np.searchsorted(ends, other)).tolist()
    return {i for i in lines if not _is_text(text[int(ends[i - 1]) + 1 if i else 0 : int(ends[i])])}


def _is_text(letters: bytes) -> bool:
    try:
        letters.decode()
    except UnicodeDecodeError:
        return False
    return True
