"""Words are uniform, never come twice, and leave no trace."""

import copy
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
from scipy import stats

from halfmask.noise import discrete_laplace, secure_words, seeded_words
from halfmask.noise.words import BUFFER_WORDS, DIRECT_WORDS, WORDS_PER_KEY, SecureWords, Words

ALARM = 1e-6
COUNTS = [1, 2, 3, 100, DIRECT_WORDS - 1, DIRECT_WORDS, BUFFER_WORDS - 1, BUFFER_WORDS, 20_001]


def all_different(*batches):
    words = np.concatenate(batches)
    return np.unique(words).size == words.size  # a chance repeat: under 2^-30 for 10^5 words


@pytest.mark.parametrize("source", [secure_words(), seeded_words(3)], ids=repr)
def test_no_word_comes_twice(source):
    batches = [source.words(count) for count in COUNTS * 2]
    assert [batch.size for batch in batches] == COUNTS * 2
    assert all(batch.dtype == np.uint64 for batch in batches)
    assert all_different(*batches)


def test_given_words_stay_as_they_are():
    source = secure_words()
    batches = [source.words(count) for count in COUNTS]
    copies = [batch.copy() for batch in batches]
    for count in COUNTS * 3:
        source.words(count)
    for batch, before in zip(batches, copies, strict=True):
        assert np.array_equal(batch, before)


def test_bits_are_fair():
    words = secure_words().words(100_000)
    for bit in range(64):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        assert stats.binomtest(ones, words.size).pvalue > ALARM / 64
    counts = np.bincount(words.view(np.uint8), minlength=256)
    assert stats.chisquare(counts).pvalue > ALARM


def test_a_key_is_changed_after_its_share():
    source = SecureWords()
    source.words(1)
    stream = source._local.stream
    stream.drawn = WORDS_PER_KEY + 1
    source.words(1)
    assert source._local.stream is not stream


def test_used_words_leave_the_buffer():
    source = SecureWords()
    given = source.words(10)
    assert not np.isin(given, source._local.stream._buffer).any()


def test_seeded_words_are_one_stream():
    whole = seeded_words(9).words(30_000)
    for counts in ([30_000], [1] * 50 + [29_950], [4095, 2, 4096, 8193, 13_614]):
        source = seeded_words(9)
        assert np.array_equal(np.concatenate([source.words(n) for n in counts]), whole)
    assert not np.isin(seeded_words(10).words(1000), whole).any()
    assert seeded_words(9).seeded
    assert not secure_words().seeded


def test_seeded_words_never_change():
    """Recorded: other languages and later versions must draw the same."""
    assert seeded_words(0).words(2).tolist() == SEED_0


SEED_0 = [3238948109685582283, 3208202275077060467]


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_draw_fresh_words(clone):
    source = SecureWords()
    first = source.words(5)
    other = clone(source)
    assert all_different(first, source.words(5000), other.words(5000), clone(other).words(5000))
    seeded = seeded_words(4)
    seeded.words(4097)
    assert np.array_equal(clone(seeded).words(99), seeded.words(99))


def test_nothing_shows_a_key():
    source = SecureWords()
    source.words(1)
    assert repr(source) == "SecureWords()"
    assert pickle.dumps(source) == pickle.dumps(SecureWords())
    assert isinstance(source, Words)
    assert isinstance(seeded_words(1), Words)


def draw():
    return secure_words().words(1000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.parametrize("grandchild", [False, True])
def test_a_forked_child_draws_other_words(grandchild):
    draw()
    receive, send = os.pipe()
    if (child := os.fork()) == 0:
        if grandchild and (again := os.fork()) != 0:
            os.waitpid(again, 0)
            os._exit(0)
        os.write(send, draw().tobytes())
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as stream:
        theirs = np.frombuffer(stream.read(), np.uint64)
    os.waitpid(child, 0)
    assert theirs.size == 1000
    assert all_different(draw(), theirs)


@pytest.mark.parametrize(
    "method", sorted({"fork", "spawn"} & {*multiprocessing.get_all_start_methods()})
)
def test_worker_processes_draw_other_noise(method):
    """At scale 2^50 two samples among thousands are equal with probability under 2^-25."""
    mine = discrete_laplace(2**50, 1000)
    with multiprocessing.get_context(method).Pool(2) as pool:
        theirs = pool.starmap_async(discrete_laplace, [(2**50, 1000)] * 4, chunksize=1).get(60)
    assert all_different(mine, discrete_laplace(2**50, 1000), *theirs)


def test_threads_draw_different_words():
    for source in (secure_words(), seeded_words(2)):
        batches, together = [], threading.Barrier(8)

        def work(source=source, batches=batches, together=together):
            together.wait()
            batches.extend(source.words(37) for _ in range(200))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(batches) == 1600
        assert all_different(*batches)


def test_production_noise_differs_each_time():
    assert not np.array_equal(discrete_laplace(2**40, 5), discrete_laplace(2**40, 5))
