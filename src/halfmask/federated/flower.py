"""A strategy for Flower: private and robust in one line (`pip install halfmask[flower]`).

    aggregator = PrivateRobustAggregator(3, 1e-5, rounds=20, population=100, radius=0.3)
    strategy = PrivateRobust(aggregator)
    strategy.start(grid=grid, initial_arrays=ArrayRecord(model.state_dict()), num_rounds=20)

Clients stay as they are: they send arrays of the names and shapes that they were sent.

Nothing else of what they send is used. Their numbers of examples would be weights that a client
chooses, and break the sensitivity; their metrics would be published without noise; so both are
ignored, clients are not asked to evaluate, and no log says who answered: measure a model on public
rows of the server's, by `evaluate_fn`. One node is one client: who may connect decides what a
client is, and that is Flower's matter.
"""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import HalfmaskError, InvalidQuery
from halfmask.federated.aggregator import PrivateRobustAggregator

try:
    from flwr.app import (
        Array,
        ArrayRecord,
        ConfigRecord,
        Message,
        MessageType,
        MetricRecord,
        RecordDict,
    )
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import Result, Strategy
except ImportError:
    raise HalfmaskError(
        "flower: needs Flower, which is not installed; pip install 'halfmask[flower]'"
    ) from None

__all__ = ["PrivateRobust"]

_PAUSE = 1.0  # seconds between two looks at who is connected


class PrivateRobust(Strategy):
    """Add the private spatial median of what clients changed to the model.

    Args:
        aggregator: the price, the rounds and the robustness; it holds the promise.
        learning_rate: by how much its aggregate counts.
        min_available_nodes: for how many connected nodes a round waits.
        arrayrecord_key, configrecord_key: under which names clients expect what they are sent.

    Arrays of floats are learned; others, such as counters, stay as they began. Whatever a node
    sends that has not their names and shapes counts as absent, a second reply of a node too.

    Privacy: that of the aggregator, for one node: its replies make one row of the array.

    """

    def __init__(
        self,
        aggregator: PrivateRobustAggregator,
        learning_rate: float = 1.0,
        *,
        min_available_nodes: int = 2,
        arrayrecord_key: str = "arrays",
        configrecord_key: str = "config",
    ) -> None:
        if aggregator.subspace is not None:
            raise InvalidQuery("subspace: Flower's clients send whole models; leave it out")
        self.aggregator = aggregator
        self.learning_rate = learning_rate
        self.min_available_nodes = min_available_nodes
        self.arrayrecord_key = arrayrecord_key
        self.configrecord_key = configrecord_key
        self._model: dict[str, NDArray[Any]] = {}
        self._asked: set[int] = set()

    def summary(self) -> None:
        """Say nothing: the ledger and the aggregator tell what is spent."""

    def start(
        self, grid: Grid, initial_arrays: ArrayRecord, num_rounds: int = 3, **others: Any
    ) -> Result:
        """Run all rounds; refuse before the first when the aggregator has fewer left."""
        if num_rounds > self.aggregator.rounds_left:
            raise InvalidQuery(
                f"num_rounds: {num_rounds} given and {self.aggregator.rounds_left} left; make the "
                "aggregator with as many rounds"
            )
        return super().start(grid, initial_arrays, num_rounds, **others)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Send the model to the clients of this round, drawn by the aggregator's coins."""
        self._model = {name: array.numpy() for name, array in arrays.items()}
        while len(nodes := sorted(grid.get_node_ids())) < self.min_available_nodes:
            time.sleep(_PAUSE)
        chosen = [nodes[i] for i in self.aggregator.sample(len(nodes)).tolist()]
        self._asked = set(chosen)
        config["server-round"] = server_round
        content = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: config})
        return [
            Message(content=content, message_type=MessageType.TRAIN, dst_node_id=node)
            for node in chosen
        ]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Return the next model, and no metrics."""
        learned = [name for name, old in self._model.items() if old.dtype.kind == "f"]
        rows = []
        for reply in replies:
            if reply.metadata.src_node_id in self._asked:
                self._asked.remove(reply.metadata.src_node_id)
                rows.append(self._change(reply, learned))
        size = sum(self._model[name].size for name in learned)
        moved = self.learning_rate * self.aggregator(np.array(rows).reshape(len(rows), size))
        model, start = dict(self._model), 0
        for name in learned:
            old = model[name]
            part = moved[start : start + old.size].reshape(old.shape)
            model[name], start = (old + part).astype(old.dtype), start + old.size
        return ArrayRecord({name: Array(np.asarray(new)) for name, new in model.items()}), None

    def _change(self, reply: Message, learned: list[str]) -> NDArray[Any]:
        """Return what a client changed, as one row; NaN where it sent anything else."""
        kind = np.result_type(np.float32, *(self._model[name].dtype for name in learned))
        row = np.full(sum(self._model[name].size for name in learned), np.nan, dtype=kind)
        try:
            (record,) = reply.content.array_records.values()
            news = [np.asarray(record[name].numpy()) for name in learned]
        except Exception:  # whatever a client sends, nothing is raised or shown
            return row
        olds = [self._model[name] for name in learned]
        if all(
            new.shape == old.shape and new.dtype.kind in "fiu"
            for new, old in zip(news, olds, strict=True)
        ):
            with np.errstate(all="ignore"):
                parts = [(new - old).ravel() for new, old in zip(news, olds, strict=True)]
                np.concatenate(parts, out=row, casting="unsafe")
        return row

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask no client to evaluate: what it would answer has no noise."""
        return []

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Return nothing."""
        return None
