"""A recorded tape of words."""

import numpy as np

from halfmask.noise import seeded_words


class Tape:
    """Recorded words; reading beyond the last fails. `laps` repeats them, each lap bent by its
    number, for long runs."""

    seeded = True

    def __init__(self, words, laps=1):
        lap = np.array(words, np.uint64)
        bends = np.arange(laps, dtype=np.uint64)[:, None] << np.uint64(11)
        self.tape, self.read = (lap ^ bends).ravel(), 0

    def words(self, count):
        self.read += count
        assert self.read <= self.tape.size, "the tape has ended"
        return self.tape[self.read - count : self.read].copy()


def noise(count, seed):
    """Return some words as integers."""
    return [int(word) for word in seeded_words(seed).words(count)]
