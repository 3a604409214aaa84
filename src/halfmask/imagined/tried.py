"""A question's own measurement, asked of supposed rows again and again."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import HalfmaskError
from halfmask.imagined.asker import Asker
from halfmask.imagined.table import imagined_setting
from halfmask.noise import Words, seeded_words
from halfmask.privacy import Cost
from halfmask.procedures import Family, Filtered, Together, UnknownKeys
from halfmask.queries import Expected, Setting, Supposes

__all__ = ["foreseen"]

Vector = NDArray[np.float64]
Error = Callable[[Words], Vector]

CLOSE = 0.02
"""How well an error is to be known: one deviation of it, as a share."""

_BATCH = 50
_MOST = 2**18
"""Rows to compare with."""

_ROWS, _NUMBERS = 50_000, 2_000_000
"""Numbers in a table, above which a formula has to do, and numbers drawn for all tries."""


def foreseen(
    asked: Together | UnknownKeys, setting: Setting, price: Cost, rows: int
) -> dict[str, tuple[Expected, str]]:
    """Return each error to expect, and how it was found where no formula tells it.

    Nothing of a table is read, nothing is spent; the noise is seeded by what is public, so that the
    same question has the same preview.
    """
    known = asked.expected(setting, price, rows)
    found = {name: (expected, "") for name, expected in known.items()}
    if isinstance(asked, UnknownKeys) or rows < 2:
        return found
    for family, part in asked.parts(setting, price):
        for name in family.members:
            if known[name].rough:
                found[name] = _refined(family, name, setting, part, rows, known[name])
    return found


def _refined(
    family: Family, name: str, setting: Setting, price: Cost, rows: int, known: Expected
) -> tuple[Expected, str]:
    """Try the question; the formula stays where that cannot be done."""
    question = family.members[name]
    if isinstance(question, Filtered):  # rows are supposed that pass
        family = Family({name: question.question})
        question = question.question
    supposed = question.supposed(setting) if isinstance(question, Supposes) else None
    inside = imagined_setting(supposed, setting) if supposed else None
    if supposed is None or inside is None or rows * len(supposed.columns) > _ROWS:
        return known, ""
    seed = f"{question!r} {rows} {setting.unit!r}"
    asker = Asker(family, name, price, rows, supposed, inside)
    with suppress(HalfmaskError):  # a price too large for exact answers, say
        error = asker.ready(seeded_words(_seed(seed)))
        more, plain = _enough(family, name, inside, price, rows) if supposed.even else (0, 0.0)
        if not more:
            most = max(min(supposed.most, _NUMBERS // (rows * len(supposed.columns))), 8)
            errors = _tried(error, seed, most)
            rmse = sqrt(float(np.mean(errors**2)))
        else:
            beside = replace(asker, rows=more, known={}).ready(seeded_words(_seed(seed)))
            errors, square = _compared(error, beside, plain**2, seed, supposed.most)
            rmse = sqrt(square)
        how = f"simulated: {len(errors)} draws on {rows} rows"
        told = replace(known, rmse=rmse, bias=_bias(errors), rough=False)
        return replace(told, assuming=supposed.in_words), how
    return known, ""


def _enough(
    family: Family, name: str, setting: Setting, price: Cost, rows: int
) -> tuple[int, float]:
    """Return so many more rows that the formula holds, and what it says there; or 0."""
    while rows < _MOST:
        rows *= 2
        expected = family.expected(setting, price, rows)[name]
        if not expected.rough:
            return rows, expected.rmse
    return 0, 0.0


def _tried(error: Error, seed: str, most: int) -> Vector:
    """Return errors (tries, numbers), as many as tell their size well enough."""
    found: list[Vector] = []
    while len(found) < most:
        found += [error(_words(seed, len(found) + i)) for i in range(_BATCH)]
        squares = (np.array(found) ** 2).mean(axis=1)
        if squares.std() / sqrt(len(found)) <= 2 * CLOSE * squares.mean():
            break
    return np.array(found)


def _compared(
    error: Error, beside: Error, true: float, seed: str, most: int
) -> tuple[Vector, float]:
    """Return errors, and their mean square, told by others with the same noise on more rows.

    The mean square of those is known, `true`: so by how much chance has moved it, and, from how the
    two move together, how much of that is to be taken off here.
    """
    here: list[Vector] = []
    there: list[Vector] = []
    while True:
        for i in range(len(here), len(here) + _BATCH):
            here.append(error(_words(seed, i)))
            there.append(beside(_words(seed, i)))
        own, other = ((np.array(one) ** 2).mean(axis=1) for one in (here, there))
        slope = float(np.cov(own, other)[0, 1] / max(other.var(ddof=1), 1e-300))
        found = max(own.mean() - slope * (other.mean() - true), own.mean() / 4)
        spread = (own - slope * other).std() / sqrt(len(own))
        if spread <= 2 * CLOSE * found or len(here) >= most:
            return np.array(here), found


def _bias(errors: Vector) -> float:
    """The mean error, where it is more than chance."""
    mean = errors.mean(axis=0)
    clear = np.abs(mean) > 4 * errors.std(axis=0) / sqrt(len(errors))
    return float(np.where(clear, mean, 0.0).mean())


def _words(seed: str, number: int) -> Words:
    return seeded_words(_seed(f"{seed} {number}"))


def _seed(told: str) -> int:
    """Public, and the same for all prices: so that errors fall as prices rise."""
    return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8])
