"""Each sampler against a naive twin: one draw at a time, mpmath, no float filter, the same words.

The twins follow the docstrings' account of how words are read. Equal samples and equal counts of
words mean that the fast code decides every lane as exact arithmetic does, and reads on exactly
when the law says so.
"""

from fractions import Fraction
from math import floor

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask import noise
from halfmask.noise import gaussian, lanes, split

F = Fraction
ONES = (1 << 64) - 1
SCALES = [F(1, 1000), F(1, 64), F(1, 3), F(1), F(7, 3), F(1000), F(1025), F(1 << 20), F(1 << 25)]
SCALES += [F(10**7, 3), F(1 << 33), F(1 << 34), F(1 << 40), F(1 << 55) - F(1, 3), F(0.1)]


class Tape:
    """Given words first, then reproducible random ones."""

    seeded = True

    def __init__(self, start=(), seed=0):
        self.start, self.rest, self.read = [int(w) for w in start], noise.seeded_words(seed), 0

    def words(self, count):
        given_words = self.start[self.read : self.read + count]
        self.read += count
        fresh = self.rest.words(count - len(given_words))
        return np.concatenate([np.array(given_words, np.uint64), fresh])

    def word(self):
        return int(self.words(1)[0])

    def halves(self, count):
        words = [int(w) for w in self.words((count + 1) // 2)]
        return [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)][:count]


def real(x):
    return mp.mpf(x.numerator) / x.denominator


def cell(t, two_sided, u, bits):
    if u == 0:
        return None
    mp.mp.prec = bits + 300
    head = mp.log(2 / (1 + mp.exp(-1 / real(t)))) if two_sided else mp.mpf(0)
    low = mp.floor(real(t) * (head - mp.log(mp.ldexp(u + 1, -bits))))
    high = mp.ceil(real(t) * (head - mp.log(mp.ldexp(u, -bits)))) - 1
    return int(low) if low == high else None


def signed_floors(t, two_sided, n, tape):
    return settled(t, two_sided, tape.halves(n), tape)


def settled(t, two_sided, halves, tape):
    answer = []
    for half in halves:
        minus = half >> 31
        u, bits = (half ^ 0xFFFFFFFF if minus else half), 31
        while (k := cell(t, two_sided, u, bits)) is None:
            u, bits = u << 64 | tape.word(), bits + 64
        answer.append((k, minus))
    return answer


def below_exp(u, bits, x, tape, factor=1):
    """V < factor exp(-x)?"""
    while True:
        mp.mp.prec = bits + 300
        bound = mp.ldexp(real(F(factor)) * mp.exp(-real(x)), bits)
        if u + 1 <= bound:
            return True
        if u >= bound:
            return False
        u, bits = u << 64 | tape.word(), bits + 64


def folded(t, n, tape, signed, block=1 << 17):
    m = 0
    while t / 2**m > 512:
        m += 1
    halves, lows = [], []
    for first in range(0, n, block):
        size = min(block, n - first)
        halves += tape.halves(size)
        if m <= 24:
            lows += [(half >> 24, half % 2**m) for half in tape.halves(size)]
        else:
            lows += [(word >> 56, word % 2**m) for word in (tape.word() for _ in range(size))]
    high = settled(t / 2**m, False, halves, tape)
    result = [[k, s, byte, low] for (k, s), (byte, low) in zip(high, lows, strict=True)]
    doubtful = [lane for lane in result if lane[2] == 255]
    while doubtful:
        rejected = []
        for lane, word in [(lane, tape.word()) for lane in doubtful]:
            _, s, _, low = lane
            steps = (2**m - 1 - low if s else low) + (s if signed else 0)
            if not below_exp(255 << 64 | word, 72, steps / t, tape):
                rejected.append(lane)
        for lane in rejected:
            word = tape.word()
            lane[1:] = word >> 55 & 1, word >> 56, word % 2**m
        doubtful = [lane for lane in rejected if lane[2] == 255]
    return [((-1 - k if s else k) << m) + low for k, s, _, low in result]


def discrete_laplace(t, n, tape):
    if t > 1024:
        return folded(t, n, tape, signed=True, block=split.BLOCK)
    return [-k if minus else k for k, minus in signed_floors(t, True, n, tape)]


def signed_geometric(t, n, tape):
    if t > 1024:
        values = folded(t, n, tape, signed=False, block=split.BLOCK)
        return [(-1 - x, 1) if x < 0 else (x, 0) for x in values]
    return signed_floors(t, False, n, tape)


def geometric(t, n, tape):
    return [k for k, _ in signed_geometric(t, n, tape)]


def bernoulli_exp(x, n, tape):
    return [below_exp(u, 64, x, tape) for u in [tape.word() for _ in range(n)]]


def rounded_laplace(t, n, tape):
    moved = bernoulli_exp(1 / (2 * t), n, tape)
    steps = signed_geometric(t, n, tape)
    return [(-1 - k if s else 1 + k) * move for move, (k, s) in zip(moved, steps, strict=True)]


def in_blocks(batch, n):
    values = []
    for first in range(0, n, gaussian.BLOCK):
        end = min(n, first + gaussian.BLOCK)
        while len(values) < end:
            values += batch(end - len(values))
    return values


def discrete_gaussian(sigma, n, tape):
    t = F(floor(sigma) + 1)

    def batch(missing):
        size = missing + missing // 2 + 16
        proposals = discrete_laplace(t, size, tape)
        words = [tape.word() for _ in range(size)]
        exponents = [(abs(k) - sigma**2 / t) ** 2 / (2 * sigma**2) for k in proposals]
        stays = [below_exp(u, 64, x, tape) for u, x in zip(words, exponents, strict=True)]
        return [k for k, stay in zip(proposals, stays, strict=True) if stay][:missing]

    return in_blocks(batch, n)


def karney_accepts(k, u, v, tape):
    bits = 64
    while True:
        mp.mp.prec = bits + 300
        ends = [mp.ldexp(end, -bits) for end in (u, u + 1)]
        most, least = (mp.ldexp(mp.exp(-(k * (k - 1) + x * (2 * k + x)) / 2), bits) for x in ends)
        if v + 1 <= least or v >= most:
            return v + 1 <= least, u, bits
        u, v, bits = u << 64 | tape.word(), v << 64 | tape.word(), bits + 64


def rounded_gaussian(sigma, n, tape):
    def batch(missing):
        size = 2 * missing + missing // 8 + 16
        steps = signed_floors(F(2), False, size, tape)
        xs, vs = ([tape.word() for _ in range(size)] for _ in range(2))
        chosen = []
        for (k, s), x, v in zip(steps, xs, vs, strict=True):
            accepted, u, bits = karney_accepts(k, x, v, tape)
            if accepted:
                chosen.append((k, s, u, bits))
        return [rounded(sigma, *lane, tape) for lane in chosen[:missing]]

    return in_blocks(batch, n)


def rounded(sigma, k, s, u, bits, tape):
    while True:
        low, high = (sigma * (k + F(end, 1 << bits)) + F(1, 2) for end in (u, u + 1))
        if high <= floor(low) + 1:
            return -floor(low) if s else floor(low)
        u, bits = u << 64 | tape.word(), bits + 64


def below(bound, n, tape):
    bits, values, lanes = (bound - 1).bit_length(), [0] * n, list(range(n))
    while lanes and bits:
        for lane in lanes:
            values[lane] = tape.word() >> (64 - bits)
        lanes = [lane for lane in lanes if values[lane] >= bound]
    return values


def categorical(scores, rate, n, tape):
    mp.mp.prec = 400
    exponents = [rate * (max(scores) - score) for score in scores]
    weights = [int(mp.ceil(mp.ldexp(mp.exp(-real(x)), 30))) for x in exponents]
    cumulative = np.cumsum(weights).tolist()
    values, lanes = [0] * n, list(range(n))
    while lanes:
        drawn = below(cumulative[-1], len(lanes), tape)
        words = [tape.word() for _ in lanes]
        rejected = []
        for lane, target, word in zip(lanes, drawn, words, strict=True):
            i = next(i for i, c in enumerate(cumulative) if target < c)
            values[lane] = i
            if not below_exp(word, 64, exponents[i], tape, F(1 << 30, weights[i])):
                rejected.append(lane)
        lanes = rejected
    return values


def permutation(n, tape):
    keys = [[tape.word()] for _ in range(n)]
    while True:
        tied = [i for i in range(n) if keys.count(keys[i]) > 1]
        if not tied:
            return sorted(range(n), key=lambda i: keys[i])
        padding = {i: tape.word() for i in tied}
        for i in range(n):
            keys[i].append(padding.get(i, 0))


SCALED = [discrete_laplace, rounded_laplace, geometric, discrete_gaussian, rounded_gaussian]


def assert_twins(twin, *arguments, start=(), seed=0):
    fast, slow = Tape(start, seed), Tape(start, seed)
    values = getattr(noise, twin.__name__)(*arguments, fast).tolist()
    assert values == twin(*arguments, slow)
    assert fast.read == slow.read
    return values


@pytest.mark.parametrize("twin", SCALED, ids=lambda twin: twin.__name__)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_twins_agree(twin, scale):
    assert_twins(twin, scale, 300, seed=5)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(SCALED),
    st.fractions(min_value=F(1, 1 << 12), max_value=1 << 55, max_denominator=10**6)
    | st.floats(min_value=2.0**-12, max_value=2.0**55).map(F)
    | st.integers(-10, 55).map(lambda e: F(2) ** e),
    st.integers(0, 20),
    st.integers(0, 2**64),
)
def test_twins_agree_at_any_scale(twin, scale, count, seed):
    assert_twins(twin, scale, count, seed=seed)


@pytest.mark.parametrize("twin", SCALED, ids=lambda twin: twin.__name__)
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("word", [0, ONES, 1 << 63, ONES >> 1, 0xFFFFFFFF, 0xFF << 56], ids=hex)
def test_twins_agree_on_monstrous_words(twin, scale, word):
    assert_twins(twin, scale, 3, start=[word] * 9)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_twins_agree_over_blocks(scale, monkeypatch):
    monkeypatch.setattr(split, "BLOCK", 16)
    monkeypatch.setattr(gaussian, "BLOCK", 16)
    for twin in SCALED:
        assert_twins(twin, scale, 53)


def digits_of_boundary(t, two_sided, j, words):
    """The half-word and further words that spell S(j), where the cell of j begins."""
    mp.mp.prec = 64 * words + 400
    head = 2 / (1 + mp.exp(-1 / real(t))) if two_sided else mp.mpf(1)
    spelled = int(mp.floor(mp.ldexp(head * mp.exp(-j / real(t)), 31 + 64 * words)))
    return spelled >> 64 * words, [spelled >> 64 * i & ONES for i in reversed(range(words))]


@pytest.mark.parametrize("scale", [F(1, 3), F(1), F(7, 3), F(100), F(1000)], ids=str)
@pytest.mark.parametrize("twin", [discrete_laplace, geometric], ids=lambda twin: twin.__name__)
@pytest.mark.parametrize("ties", [0, 1, 3])
def test_words_at_a_boundary_read_on(twin, scale, ties):
    for j in (1, 2, 1 + int(scale), 1 + int(3 * scale)):
        half, more = digits_of_boundary(scale, twin is discrete_laplace, j, ties + 1)
        below_it, above_it = [*more[:-1], more[-1] - 1], [*more[:-1], more[-1] + 1]
        words = {"below": below_it, "above": above_it, "tie": [*more, 1 << 63]}
        for kind, tail in words.items():
            values = assert_twins(twin, scale, 1, start=[half, *tail])
            if kind == "tie":
                assert values[0] in (j - 1, j)
            else:
                assert values == [j if kind == "below" else j - 1]


def test_halves_next_to_a_boundary():
    for scale in (F(1, 3), F(1), F(7, 3), F(300), F(1000)):
        halves = [
            digits_of_boundary(scale, True, j, 0)[0] + shift
            for j in range(1, 1 + min(30, int(15 * scale)))
            for shift in (-1, 0, 1)
        ]
        words = [a | b << 32 for a, b in zip(halves[::2], halves[1::2], strict=False)]
        assert_twins(discrete_laplace, scale, 2 * len(words), start=words)


@pytest.mark.parametrize("scale", [F(1), F(1000), F(1 << 20), F(1 << 40)], ids=str)
@pytest.mark.parametrize("error", [-(2.0**-20.1), 2.0**-20.1])
def test_a_bad_logarithm_changes_no_sample(scale, error, monkeypatch):
    class Platform:
        """NumPy with a 32-bit logarithm almost eight units off, and a 64-bit one many."""

        def __getattr__(self, name):
            return getattr(np, name)

        @staticmethod
        def log(x, out=None):
            off = error if x.dtype == np.float32 else error * 2.0**-28
            with np.errstate(all="ignore"):
                return np.multiply(np.log(x), x.dtype.type(1 + off), out=out)

    right = noise.discrete_laplace(scale, 20_000, noise.seeded_words(3))
    monkeypatch.setattr(lanes, "np", Platform())
    assert np.array_equal(noise.discrete_laplace(scale, 20_000, noise.seeded_words(3)), right)


@pytest.mark.parametrize("x", [F(0), F(1, 10**30), F(1, 2), F(1), F(44), F(45), F(10**12)], ids=str)
def test_coins_agree(x):
    assert_twins(bernoulli_exp, x, 200)
    mp.mp.prec = 400
    spelled = int(mp.floor(mp.ldexp(mp.exp(-real(x)), 192))) if 0 < x < 100 else 0
    tie = [spelled >> 128, spelled >> 64 & ONES, spelled & ONES]
    for start in (tie, [tie[0], ONES], [tie[0], 0], [0] * 5, [ONES] * 5):
        assert_twins(bernoulli_exp, x, 1, start=start)


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 2**32 + 1, 2**63])
def test_uniform_integers_agree(bound):
    assert_twins(below, bound, 200)
    assert_twins(below, bound, 2, start=[ONES] * 6)


@pytest.mark.parametrize(
    "scores",
    [
        [7],
        [0, 0, 0],
        [5, 4, 3, 2, 1],
        [0, 10**12, 10**12 - 1],
        [-(2**70), 2**70, 2**70 - 3],
        [0, -20, -22],
    ],
    ids=str,
)
@pytest.mark.parametrize("rate", [F(0), F(1, 3), F(1), F(1, 10**12)], ids=str)
def test_choices_agree(scores, rate):
    assert_twins(categorical, scores, rate, 200)
    assert_twins(categorical, scores, rate, 2, start=[ONES] * 6)
    assert_twins(categorical, scores, rate, 2, start=[ONES, 0, ONES, ONES - 1, ONES])


def test_permutations_agree():
    for n in (0, 1, 2, 17):
        assert_twins(permutation, n)
    assert_twins(permutation, 5, start=[3, 1, 3, 3, 1, 9, 9, 0, 4, 4, 2, 2])


def spelled(value, first, count):
    """The first `first` binary digits of a number in (0, 1), then `count` words of further ones."""
    digits = int(mp.floor(mp.ldexp(value, first + 64 * count)))
    return digits >> 64 * count, [digits >> 64 * i & ONES for i in reversed(range(count))]


@pytest.mark.parametrize("ties", [0, 1, 3])
@pytest.mark.parametrize("scale", [F(1025), F(1 << 20), F(1 << 40)], ids=str)
@pytest.mark.parametrize("twin", [discrete_laplace, geometric], ids=lambda twin: twin.__name__)
def test_accepting_numbers_at_their_boundary_read_on(twin, scale, ties):
    """Byte 255, then the digits of exp(-(L + s)/t) itself, with s = 1."""
    mp.mp.prec = 1000
    low_bits = max(0, (-(-scale // 512) - 1).bit_length())
    low = (1 << low_bits) // 3
    steps = (1 << low_bits) - 1 - low + (twin is discrete_laplace)
    byte, digits = spelled(mp.exp(-real(steps / scale)), 8, 1 + ties)
    assert byte == 255
    half = 0x9ABCDEF0
    first = [half, 255 << 24 | low] if low_bits <= 24 else [half, 255 << 56 | low]
    for last in (digits[-1] - 1, digits[-1] + 1, digits[-1]):
        assert_twins(twin, scale, 1, start=[*first, *digits[:-1], last])


@pytest.mark.parametrize("ties", [1, 2, 4])
def test_gaussian_acceptance_at_its_boundary_reads_on(ties):
    """The first proposal is 0 at sigma = 1/2, t = 1, and V spells its chance exp(-1/8)."""
    mp.mp.prec = 1000
    first, more = spelled(mp.exp(-mp.mpf(1) / 8), 64, ties - 1)
    halves, others = [0x123456787FFFFFFB] + [0x1234567812345678] * 8, [1 << 62] * 16
    fast = Tape([*halves, first, *others, *more])
    noise.discrete_gaussian(F(1, 2), 1, fast)
    assert fast.read == 9 + 17 + ties
    assert_twins(discrete_gaussian, F(1, 2), 1, start=[*halves, first, *others, *more])


@pytest.mark.parametrize("sigma", [F(1, 3), F(1000), F(1 << 55)], ids=str)
def test_half_normal_acceptance_at_its_boundary_reads_on(sigma):
    mp.mp.prec = 1000
    x = ONES // 3
    digits, _ = spelled(mp.exp(-(mp.ldexp(x, -64) ** 2) / 2), 64, 0)
    start = [0x123456787FFFFFFB] + [0x1234567812345678] * 8 + [x] * 18 + [digits] + [0] * 17
    fast = Tape(start)
    noise.rounded_gaussian(sigma, 1, fast)
    assert fast.read >= len(start) + 2  # a word for x and one for V at least
    assert_twins(rounded_gaussian, sigma, 1, start=start)


def test_rounding_at_a_half_integer_reads_on():
    """sigma (k + x) + 1/2 = 1 at x = 1/2 exactly, from below: digits 0111... and then more."""
    start = [0x123456787FFFFFFB] + [0x1234567812345678] * 8 + [ONES >> 1] * 18 + [0] * 18
    for more in ([], [ONES], [ONES, ONES, 0]):
        assert_twins(rounded_gaussian, F(1), 1, start=start + more)
    sigma = F(1) + F(1, 1 << 70)  # the half-integer lies inside the first word's cell
    fast = Tape(start)
    noise.rounded_gaussian(sigma, 1, fast)
    assert fast.read > len(start)
    assert_twins(rounded_gaussian, sigma, 1, start=start)
