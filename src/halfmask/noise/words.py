"""Uniform random words: the one place in halfmask where chance comes in.

A source is an endless stream of 64-bit words. `secure_words` gives the stream that protects people:
AES-256 in counter mode, keyed from the operating system. `seeded_words` gives a reproducible stream
for tests and simulations; a release made with it says so.
"""

import hashlib
import os
import threading
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

__all__ = ["SecureWords", "SeededWords", "Words", "secure_words", "seeded_words"]

WORD_BYTES: Final = 8
BUFFER_WORDS: Final = 1 << 12
WORDS_PER_KEY: Final = 1 << 23  # 64 MiB, then a fresh key
LARGEST_BATCH: Final = 1 << 14
DIRECT_WORDS: Final = 1 << 10  # as many or more come from the cipher without a copy
ZEROS: Final = memoryview(bytes(WORD_BYTES * LARGEST_BATCH))
BLOCK_BYTES: Final = 16


@runtime_checkable
class Words(Protocol):
    """A stream of independent uniform 64-bit words; `seeded` is True only for test sources."""

    @property
    def seeded(self) -> bool:
        """Whether somebody could draw the same words again."""
        ...

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words of the stream, in an array of their own."""
        ...


class _Stream:
    """AES-256-CTR keystream read as little-endian words, buffered; not shared between threads."""

    def __init__(self, key: bytes, counter: int = 0) -> None:
        mode = modes.CTR(counter.to_bytes(BLOCK_BYTES, "big"))
        self._encryptor = Cipher(algorithms.AES(key), mode).encryptor()
        self._buffer = np.zeros(BUFFER_WORDS, np.uint64)
        self._position = BUFFER_WORDS
        self.drawn = 0

    def generate(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh words, straight from the cipher; a seeded stream takes even counts only."""
        self.drawn += count
        room = np.empty(WORD_BYTES * count + BLOCK_BYTES, np.uint8)
        for start in range(0, WORD_BYTES * count, len(ZEROS)):
            stop = min(start + len(ZEROS), WORD_BYTES * count)
            self._encryptor.update_into(ZEROS[: stop - start], room.data[start:])
        return room.view("<u8")[:count]

    def take(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words, whatever the counts before: buffers join without a gap."""
        parts = []
        while count > (held := BUFFER_WORDS - self._position):
            parts.append(self._hand_over(held))
            count -= held
            self._buffer, self._position = self.generate(BUFFER_WORDS), 0
        parts.append(self._hand_over(count))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _hand_over(self, count: int) -> NDArray[np.uint64]:
        """A copy; the buffer forgets what it gave, so that memory holds no used noise."""
        start, self._position = self._position, self._position + count
        given = self._buffer[start : self._position].copy()
        self._buffer[start : self._position] = 0
        return given


class SecureWords:
    """Words that nobody can draw again: AES-256-CTR keyed from the operating system.

    Every thread has a key of its own, a forked child and a copy (`copy`, `pickle`) take new keys,
    and a key that has served 64 MiB is replaced before the next draw.

    >>> SecureWords()
    SecureWords()
    """

    seeded: Final = False

    def __init__(self) -> None:
        self._local = threading.local()

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words of this thread's stream."""
        local = self._local
        owner = (os.getpid(), _forks[0])
        if getattr(local, "owner", None) != owner or local.stream.drawn > WORDS_PER_KEY:
            local.stream = _Stream(os.urandom(32), int.from_bytes(os.urandom(BLOCK_BYTES)))
            local.owner = owner
        stream: _Stream = local.stream
        return stream.generate(count) if count >= DIRECT_WORDS else stream.take(count)

    def __reduce__(self) -> tuple[Any, ...]:
        return (SecureWords, ())

    def __repr__(self) -> str:
        return "SecureWords()"


# How many forks lie between this process and the first: process numbers alone can come round again.
_forks = [0]


def _count_fork() -> None:
    _forks[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class SeededWords:
    """Reproducible words for tests and simulations; whoever knows the seed can undo the noise.

    The words are the AES-256-CTR keystream, counter from 0, under the key SHA-256 of the text
    `halfmask words <seed>`. A copy goes on from where the original stands. Thread-safe.

    >>> SeededWords(7)
    SeededWords(7)
    """

    seeded: Final = True

    def __init__(self, seed: int, *, skip: int = 0) -> None:
        self._seed = int(seed)
        self._lock = threading.Lock()
        key = hashlib.sha256(f"halfmask words {self._seed}".encode()).digest()
        self._position = skip
        self._stream = _Stream(key, skip // 2)  # two words to a block of the cipher
        self._stream.take(skip % 2)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words of the stream."""
        with self._lock:
            self._position += count
            return self._stream.take(count)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            return (_resume, (self._seed, self._position))

    def __repr__(self) -> str:
        return f"SeededWords({self._seed})"


def _resume(seed: int, skip: int) -> SeededWords:
    return SeededWords(seed, skip=skip)


_process_words: Final = SecureWords()


def secure_words() -> Words:
    """The words that protect people: the process-wide source, which nobody can draw again.

    Safe over threads and forks; a pickled or copied source draws fresh words.

    >>> secure_words().words(3).shape, secure_words().seeded
    ((3,), False)
    """
    return _process_words


def seeded_words(seed: int) -> Words:
    """Reproducible words, for tests and simulations only: noise from them protects nobody.

    >>> seeded_words(1).words(2).tolist() == seeded_words(1).words(2).tolist()
    True
    """
    return SeededWords(seed)
