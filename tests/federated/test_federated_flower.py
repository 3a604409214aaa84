"""The strategy for Flower, without Ray and without a network: an in-process grid of clients.

Skipped where Flower is not installed, but in CI: `pip install halfmask[flower]`.
"""

import os

os.environ["FLWR_TELEMETRY_ENABLED"] = "0"  # read when Flower is imported

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Flower's own dependencies deprecate each other
    if "CI" not in os.environ:
        pytest.importorskip("flwr")
    from flwr.app import Array, ArrayRecord, Error, Message, MetricRecord, RecordDict
    from flwr.supercore.task_identity import TaskIdentity

    from halfmask.federated.flower import PrivateRobust

from halfmask.errors import InvalidQuery
from halfmask.federated import PrivateRobustAggregator
from halfmask.noise import seeded_words
from halfmask.privacy import Approximate, Ledger

TARGET = {"weight": np.full((2, 3), 2.0, np.float32), "bias": np.full(3, -1.0, np.float32)}


@pytest.fixture(autouse=True)
def identity(monkeypatch):
    """What Flower sets in a server process before a strategy runs."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def start():
    arrays = {name: np.zeros_like(value) for name, value in TARGET.items()}
    return ArrayRecord({name: Array(value) for name, value in arrays.items()} | {"steps": STEPS})


STEPS = Array(np.array(7))


def honest(arrays):
    """Walk half of the way to the target."""
    new = {n: a.numpy() + (TARGET[n] - a.numpy()) / 2 for n, a in arrays.items() if n in TARGET}
    return ArrayRecord({name: Array(value) for name, value in new.items()} | {"steps": STEPS})


class InProcess:
    """A grid whose nodes answer at once: node number -> what it makes of the arrays."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.sent = []

    def get_node_ids(self):
        return list(self.nodes)

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        for message in messages:
            self.sent.append(message.metadata.dst_node_id)
            answer = self.nodes[message.metadata.dst_node_id](message.content["arrays"])
            answers = answer if isinstance(answer, list) else [answer]
            replies += [self._reply(message, each) for each in answers]
        return replies

    @staticmethod
    def _reply(message, answer):
        if isinstance(answer, Error):
            return Message(answer, reply_to=message)
        if isinstance(answer, ArrayRecord):
            metrics = MetricRecord({"num-examples": 10**9, "secret": 424242.0})
            answer = RecordDict({"arrays": answer, "metrics": metrics})
        return Message(answer, reply_to=message)


def aggregator(**changes):
    settings = {"rounds": 12, "population": 20, "radius": 1.0, "words": seeded_words(1)}
    return PrivateRobustAggregator(**({"epsilon": 10**5, "delta": "1e-5"} | settings | changes))


def run(nodes, rounds=12, one=None, **changes):
    strategy = PrivateRobust(one or aggregator(), **changes)
    grid = InProcess(dict(enumerate(nodes, start=100)))
    return strategy.start(grid=grid, initial_arrays=start(), num_rounds=rounds), grid


def learned(result):
    return np.concatenate([result.arrays[name].numpy().ravel() for name in TARGET])


WANTED = np.concatenate([value.ravel() for value in TARGET.values()])


def test_clients_learn_and_nothing_else_of_theirs_is_kept():
    result, _ = run([honest] * 20)
    assert np.abs(learned(result) - WANTED).max() < 0.7
    assert not result.train_metrics_clientapp
    assert not result.evaluate_metrics_clientapp
    assert result.arrays["steps"].numpy() == 7
    assert {a.numpy().dtype for n, a in result.arrays.items() if n in TARGET} == {np.dtype("f4")}


def no_arrays(arrays):
    return RecordDict({"metrics": MetricRecord({"num-examples": 5})})


def misshapen(arrays):
    return ArrayRecord({name: Array(np.zeros(1, np.float32)) for name in arrays})


def garbage(arrays):
    record = honest(arrays)
    record["bias"] = Array(dtype="float32", shape=(3,), stype="numpy.ndarray", data=b"no array")
    return record


def texts(arrays):
    record = honest(arrays)
    record["bias"] = Array(np.array(["a", "b", "c"]))
    return record


def endless(arrays):
    record = honest(arrays)
    record["bias"] = Array(np.array([np.inf, 0, 0], np.float32))
    return record


def failed(arrays):
    return Error(code=0, reason="the secret is 424242")


@pytest.mark.parametrize("bad", [no_arrays, misshapen, garbage, texts, endless, failed])
def test_a_client_that_sends_anything_else_is_absent(bad, caplog):
    with caplog.at_level(0):
        present, _ = run([honest] * 9, rounds=2)
        caplog.clear()
        result, _ = run([bad] + [honest] * 9, rounds=2)
    assert (learned(result) == learned(present)).all()
    assert "424242" not in caplog.text


def test_a_node_that_answers_twice_counts_once():
    def twice(arrays):
        return [honest(arrays), honest(arrays)]

    (result, _), (once, _) = run([twice] * 5, rounds=1), run([honest] * 5, rounds=1)
    assert (learned(result) == learned(once)).all()


def test_attackers_do_not_stop_the_others():
    def away(arrays):
        scaled = {n: Array(-1e6 * np.ones_like(v)) for n, v in TARGET.items()}
        return ArrayRecord(scaled | {"steps": STEPS})

    result, _ = run([away] * 2 + [honest] * 18)
    assert np.abs(learned(result) - WANTED).max() < 1.2


def test_coins_choose_who_is_asked():
    one = aggregator(sampling_rate="0.5", rounds=4, population=400)
    _, grid = run([honest] * 400, rounds=4, one=one)
    assert 600 < len(grid.sent) < 1000
    assert len(set(grid.sent[: len(grid.sent) // 4])) < 400


def test_more_rounds_than_paid_for_are_refused_before_the_first():
    ledger = Ledger(budget=Approximate(10**5, "1e-5"))
    with pytest.raises(InvalidQuery, match="num_rounds: 13 given and 12 left"):
        run([honest] * 20, rounds=13, one=aggregator(ledger=ledger))
    assert ledger.spent.epsilon == 0
