"""Recorded tapes of words and the samples that they give, shared with MATLAB and Octave.

noise.json is read here, where Python must reproduce it, and by matlab/tests/test_vectors.m, where
Octave must. `python tests/vectors/test_vectors.py` writes it anew; that is needed only when a
sampler changes how it reads words, which the change log must say.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tape import Tape, noise

from halfmask.noise import discrete_gaussian, discrete_laplace, exp_minus, weighted

VECTORS = Path(__file__).parent / "noise.json"
HALF = 1 << 31


def drawn(case):
    """Draw what a case asks: (samples, words read)."""
    tape = Tape([int(word, 16) for word in case["words"]], case["laps"])
    scale = Fraction(case["scale"])
    if case["sampler"] == "weighted":
        samples = weighted(case["counts"], case["scores"], scale, case["count"], tape)
    else:
        sampler = {"laplace": discrete_laplace, "gaussian": discrete_gaussian}[case["sampler"]]
        samples = sampler(scale, case["count"], tape)
    return samples, tape.read


def told(samples):
    """Short lists in full; of long ones, sums that hardly any other list shares."""
    listed = samples.tolist()
    if len(listed) <= 200:
        return [str(sample) for sample in listed]
    salted = sum(sample % 1009 * (i % 1013) for i, sample in enumerate(listed))
    return [str(sum(abs(k) % 1000003 for k in listed)), str(salted), *map(str, listed[-5:])]


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text())["cases"], ids=lambda c: c["name"])
def test_python_reproduces_the_vectors(case):
    samples, read = drawn(case)
    assert told(samples) == case["samples"]
    assert read == case["read"]


def test_the_vectors_read_on():
    """The hard cases are hard: they need more words than their samples' first ones."""
    cases = {case["name"]: case for case in json.loads(VECTORS.read_text())["cases"]}
    firsts = {"laplace at ends of cells": 4, "laplace, rejected digits": 24, "gaussian at ends": 26}
    for name, first in firsts.items():
        assert cases[name]["read"] >= first + 4


def digits(bits, x, factor=Fraction(1)):
    """Return floor(2^bits factor exp(-x))."""
    lower, upper = exp_minus(x, bits + 64)
    low, high = (factor * end / (1 << 64) // 1 for end in (lower, upper))
    assert low == high
    return int(low)


def packed(halves):
    """Words of half-words, the low half first."""
    return [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]


def cell_ends():
    """Half-words at the ends of cells, and words that go on along them, then leave them."""
    t, halves, onwards = Fraction(7, 2), [], []
    for j in range(1, 9):
        head = 2 / (1 + Fraction(digits(400, 1 / t), 1 << 400))
        end = digits(31 + 64 + 64, j / t, head)
        halves.append(end >> 128 if j % 2 else (1 << 32) - 1 - (end >> 128))
        onwards += [end >> 64 & (1 << 64) - 1, end & (1 << 64) - 1][: 1 + j % 2] + noise(1, j)
    return packed(halves) + onwards + noise(20, 99)


def rejected_digits():
    """Lanes whose accepting byte is 255, at the very limit of acceptance, for scale 5000."""
    t, highs, lows = Fraction(5000), noise(8, 5), list(range(16))
    last = [255 << 24 | low for low in lows]
    minus = [half >> 31 & 1 for word in highs for half in (word & (1 << 32) - 1, word >> 32)]
    steps = [(15 - low if s else low) + s for low, s in zip(lows, minus, strict=True)]
    limits = [digits(72, step / t) & (1 << 64) - 1 for step in steps]
    return highs + packed(last) + limits + noise(80, 6)


def gaussian_ends():
    """Accepting numbers equal to the chance, of 17 proposals for one sample of sigma 5/2."""
    sigma, t, first = Fraction(5, 2), 3, noise(9, 7)
    proposals = discrete_laplace(t, 17, Tape(first)).tolist()
    chances = [(abs(k) - sigma**2 / t) ** 2 / (2 * sigma**2) for k in proposals]
    return first + [digits(64, x) for x in chances] + noise(60, 8)


def recorded():
    """Every case, without its samples."""
    special = [0, (1 << 64) - 1, HALF, HALF - 1, 1, HALF << 32, (HALF - 1) << 32, 255 << 56]

    def case(name, sampler, scale, count, words, laps=1, **more):
        listed = [f"{word:016x}" for word in words]
        asked = {"name": name, "sampler": sampler, "scale": scale, "count": count} | more
        return asked | {"laps": laps, "words": listed}

    scales = ("1/1000000", "1/3", "1", "7/2", "1000", "1024", "1025", "99999/7", "12345678901234")
    for scale in scales:
        yield case(f"laplace {scale}", "laplace", scale, 101, noise(180, 1))
        yield case(f"laplace {scale}, odd words", "laplace", scale, 15, special + noise(60, 2))
    yield case("laplace 2^55", "laplace", str(1 << 55), 50, noise(99, 3))
    yield case("laplace at ends of cells", "laplace", "7/2", 8, cell_ends())
    yield case("laplace, rejected digits", "laplace", "5000", 16, rejected_digits())
    for scale in ("7/2", "12345", "98765432100"):
        yield case(f"laplace {scale}, blocks", "laplace", scale, 150_001, noise(211, 4), 1500)
    for sigma in ("1/7", "1", "5/2", "1000", "123456789/10"):
        yield case(f"gaussian {sigma}", "gaussian", sigma, 60, noise(300, 10))
    yield case("gaussian at ends", "gaussian", "5/2", 1, gaussian_ends())
    yield case("gaussian, blocks", "gaussian", "20", 20_001, noise(211, 11), 500)
    scores = [0, -1, -2, -3, -40, 0, -5, -6, 1, -700]
    counts = [1, 3, 10**6, 0, 10**9, 2, 7, 8, 1, 5]
    for rate in ("0", "1/10", "1", "20"):
        more = {"counts": counts, "scores": scores}
        yield case(f"weighted {rate}", "weighted", rate, 50, noise(400, 12), **more)
        yield case(
            f"chosen {rate}", "weighted", rate, 50, noise(400, 13), **more | {"counts": [1] * 10}
        )
    more = {"counts": [2**40 + 1, 0], "scores": [0, 0]}  # weight 2^19 + 2^-21, ceiling 2^19 + 1
    yield case("weighted, above an integer", "weighted", "1", 1, [(1 << 64) - 1, 0, 0], **more)


def main():
    cases = []
    for case in recorded():
        samples, read = drawn(case)
        if case["laps"] == 1:
            case["words"] = case["words"][:read]
        cases.append(case | {"samples": told(samples), "read": read})
    lines = ",\n".join(json.dumps(case) for case in cases)
    VECTORS.write_text(f'{{"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
