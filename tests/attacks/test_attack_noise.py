"""Attacks on the noise: 1 support, 13 fork, 14 seeds, 15 generator, 16 timing, 34 leftovers."""

import ast
import math
import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.noise import discrete_gaussian, discrete_laplace, rounded_gaussian, secure_words

SOURCES = Path(hm.__file__).parent
KEYS = 2500


# 1. Floating-point support: no output may be possible on one table and impossible on another.


def low_bits(draw):
    """How often |y| < 1/8 and y is no multiple of 2^-53, at f = 0 and at f = 1."""
    hits = []
    for f in (0.0, 1.0):
        y = np.abs(draw(f))
        hits.append(int(((y < 1 / 8) & (y * 2.0**53 % 1 != 0)).sum()))
    return hits


def test_01_float_support_tells_no_tables_apart(tools):
    keys = hm.Keys("k", range(KEYS))

    def ours(f):
        table = {"k": np.arange(KEYS), "x": np.full(KEYS, f)}
        answer = hm.open(table, budget=1).ask(hm.Sum("x", 0, 1), by=keys, epsilon=1)
        return np.array(list(answer.value.values()))

    def textbook(f):
        return f + np.random.default_rng().laplace(size=100_000)

    assert not tools.told_apart(*low_bits(ours), KEYS)
    assert tools.told_apart(*low_bits(textbook), 100_000)


def test_01_every_value_lies_on_one_public_grid():
    for x in (0.1, 1 / 3, math.pi / 4):
        answer = hm.open({"x": [x] * 9}, budget=99).ask(hm.Sum("x", 0, 1), epsilon=1)
        assert (answer.value / float(answer.estimate.step)).is_integer()


@pytest.mark.parametrize("word", [0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
@pytest.mark.parametrize("law", [discrete_laplace, discrete_gaussian, rounded_gaussian])
def test_01_no_word_makes_noise_that_is_infinite_or_missing(law, word):
    class Stuck:
        """A source that is stuck at one word, and then recovers."""

        seeded = True

        def __init__(self):
            self.left, self.fresh = 300, secure_words()

        def words(self, count):
            drawn = self.fresh.words(count)
            stuck = min(self.left, count)
            drawn[:stuck], self.left = word, self.left - stuck
            return drawn

    noise = law(1000, 64, Stuck())
    assert noise.dtype == np.int64
    assert len(noise) == 64
    assert np.abs(noise).max() < 2 * 10**7  # 300 words of zeros: about 1000 ln(2) 64 * 300


# 13. Fork, spawn, thread, copy: nobody draws the same words twice.

FORKS = """
import os, sys
from halfmask.noise import secure_words
import numpy as np
ours, textbook = secure_words(), np.random.default_rng(os.getpid())
ours.words(3), textbook.random()
for child in range(4):
    read, write = os.pipe()
    if os.fork() == 0:
        grandchild = os.fork()
        os.write(write, f"{ours.words(1)[0]} {textbook.random()}\\n".encode())
        if grandchild:
            os.waitpid(grandchild, 0)
        os._exit(0)
    os.wait()
    print(os.read(read, 1000).decode(), end="")
print(ours.words(1)[0], textbook.random())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_13_forks_draw_words_of_their_own():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 9  # four children, four grandchildren, the parent
    assert len({ours for ours, _ in lines}) == 9
    assert len({textbook for _, textbook in lines}) == 1  # what the attack finds elsewhere


def test_13_pickled_and_spawned_sources_draw_words_of_their_own():
    words = secure_words()
    words.words(5)
    code = "import pickle, sys; print(*pickle.loads(bytes.fromhex(sys.argv[1])).words(4))"
    copied = pickle.dumps(words)
    drawn = [words.words(4).tolist(), pickle.loads(copied).words(4).tolist()]
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code, copied.hex()], capture_output=True, text=True, check=True
        )
        drawn.append([int(word) for word in done.stdout.split()])
    assert len({word for four in drawn for word in four}) == 16


# 14. Seeds in production.


def test_14_no_global_seed_and_no_setting_repeats_an_answer():
    answers = []
    for _ in range(2):
        random.seed(7)
        np.random.seed(7)  # noqa: NPY002
        curator = hm.open({"x": [1.0] * 10}, budget=10)
        answers.append([curator.ask(hm.Sum("x", 0, 1), epsilon=0.1).value for _ in range(5)])
    assert answers[0] != answers[1]


def test_14_a_seeded_release_says_so_wherever_it_is_shown():
    curator = hm.open({"x": [1.0]}, budget=10, words=hm.noise.seeded_words(1))
    release = curator.ask(hm.Count(), epsilon=1)
    grouped = curator.ask(hm.Count(), by=hm.Keys("x", [1]), epsilon=1)
    for one in (release, grouped):
        assert one.seeded
        for shown in (str(one), one.statement, one._repr_html_(), one.to_json()):
            assert "NOT PRIVATE" in shown
        assert not one.to_dict()["private"]
        assert not one.to_frame()["private"].any()
    assert not hm.open({"x": [1.0]}, budget=1).ask(hm.Count(), epsilon=1).seeded


# 15. The generator is a cipher keyed by the operating system, and there is no other.

CHANCE = {"random", "secrets", "numpy.random", "os.urandom", "uuid"}


def chance_in(tree):
    """What a module imports or calls that draws."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute):
            found.add(ast.unparse(node).replace("np.", "numpy."))
    return {name for name in found if any(name == c or name.startswith(f"{c}.") for c in CHANCE)}


def test_15_only_the_word_source_draws():
    drawing = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if chance_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert drawing == {"noise/words.py"}
    for fault in ("import random", "x = np.random.laplace()", "from os import urandom"):
        assert chance_in(ast.parse(fault))


def test_15_every_bit_of_a_word_is_fair_and_no_word_comes_back(tools):
    words = secure_words().words(200_000)
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    z = np.abs(bits - 100_000) / math.sqrt(50_000)
    assert z.max() < stats.norm.isf(tools.alarm / 128)
    assert len(np.unique(words)) == len(words)  # by chance: 1e-9


# 16. Timing: how long it takes says nothing about the noise.


def tells_time(draw, count, alarm):
    """Whether |noise| and the time of a draw are ranked alike: exact under the null, since the
    noises are exchangeable whatever else the machine does."""
    noise, spent = np.empty(count), np.empty(count)
    for i in range(count):
        start = time.perf_counter_ns()
        noise[i] = draw()
        spent[i] = time.perf_counter_ns() - start
    correlation = stats.spearmanr(np.abs(noise), spent).statistic
    return abs(correlation) > stats.norm.isf(alarm / 2) / math.sqrt(count - 1)


@pytest.mark.parametrize("law", [discrete_laplace, discrete_gaussian, rounded_gaussian])
@pytest.mark.parametrize("scale", [3, 1000])
def test_16_the_time_of_a_draw_does_not_show_the_noise(law, scale, tools):
    assert not tells_time(lambda: law(scale, 1)[0], 3000, tools.alarm)


def test_16_a_sampler_that_counts_is_found_by_its_time(tools):
    def counting():
        steps = 0
        while random.random() < 0.999:
            steps += 1
        return steps

    assert tells_time(counting, 3000, tools.alarm)


def test_16_the_time_of_an_ask_does_not_show_the_noise(tools):
    curator = hm.open({"x": [1.0] * 20}, budget=10**5)
    assert not tells_time(lambda: curator.ask(hm.Count(), epsilon=0.5).value - 20, 500, tools.alarm)


# 34. Leftovers: noise that was used is not kept.


def test_34_the_buffer_forgets_the_words_that_it_gave(tools):
    source = pickle.loads(pickle.dumps(secure_words()))
    given = source.words(100)
    held = [one for one in tools.reachable(source._local.stream) if isinstance(one, np.ndarray)]
    kept = np.concatenate([one.view(np.uint64).ravel() for one in held])
    assert len(kept) > 1000
    assert not np.isin(given, kept).any()
    assert np.isin(source.words(1), kept).any()  # the search sees what is still to be given
