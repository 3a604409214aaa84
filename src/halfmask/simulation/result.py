"""What repeated answers show beside the truth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.privacy import Cost
from halfmask.rendering import figure

__all__ = ["Trials"]


@dataclass(frozen=True, eq=False)
class Trials:
    """Answers to one question, each with noise of its own. Of public rows: no promise is made.

    Attributes:
        title: the question in words.
        price: of each single answer.
        estimates: the answers, shape (repeats, ...): then one axis for groups, where there are
            any, and one for the numbers of a vector. Of what is chosen, names.
        exact: the answer without noise on the bounded rows, shape (...).
        truth: what the answers are held against, shape (...): the rows without bounds, or what was
            given.
        keys: the public group keys.

    """

    title: str
    price: Cost
    estimates: NDArray[Any]
    exact: NDArray[Any]
    truth: NDArray[Any]
    keys: tuple[object, ...] = field(default=())

    @property
    def repeats(self) -> int:
        """How many answers there are."""
        return len(self.estimates)

    def _numbers(self) -> NDArray[np.float64]:
        if self.estimates.dtype == object:
            raise InvalidQuery(
                "trials: the answers are names, which have no mean; see `right` and `estimates`"
            )
        return np.asarray(self.estimates, dtype=float)

    @property
    def mean(self) -> Any:
        """The mean of the answers."""
        return _plain(self._numbers().mean(axis=0))

    @property
    def bias(self) -> Any:
        """The mean less the truth: what clipping takes, and what noise shifts."""
        return _plain(self._numbers().mean(axis=0) - self.truth)

    @property
    def clipping(self) -> Any:
        """The part of the bias that no price removes: the exact answer less the truth."""
        self._numbers()
        return _plain(np.asarray(self.exact - self.truth, dtype=float))

    @property
    def spread(self) -> Any:
        """The standard deviation of the answers about their own mean: the noise."""
        return _plain(self._numbers().std(axis=0, ddof=1))

    @property
    def rmse(self) -> Any:
        """The root-mean-square error against the truth."""
        return _plain(np.sqrt(np.mean((self._numbers() - self.truth) ** 2, axis=0)))

    @property
    def noise_rmse(self) -> Any:
        """The root-mean-square error against the exact answer: what a preview predicts."""
        return _plain(np.sqrt(np.mean((self._numbers() - self.exact) ** 2, axis=0)))

    @property
    def standard_error(self) -> Any:
        """How far the mean of so many answers may be off by chance: one deviation."""
        return _plain(self._numbers().std(axis=0, ddof=1) / np.sqrt(self.repeats))

    def quantiles(self, q: float | Sequence[float] = (0.05, 0.5, 0.95)) -> Any:
        """Return quantiles of the answers, shape (len(q), ...)."""
        return _plain(np.quantile(self._numbers(), q, axis=0))

    @property
    def right(self) -> Any:
        """The share of answers that equal the truth: for choices."""
        return _plain(np.mean(self.estimates == self.truth, axis=0))

    def __str__(self) -> str:
        head = f"{figure(self.repeats, 1)} answers, each at {self.price}"
        if self.estimates.dtype == object:
            return f"{self.title}: {head}: {_listed(self.right, 0.01)} of them are the right one"
        if np.ndim(self.truth):
            whole = float(np.sqrt(np.mean(np.square(self.rmse))))
            size = np.size(self.truth)
            return f"{self.title}: {head}: error {figure(whole, whole)} (of {size} numbers)"
        low, high = (figure(float(q), self.spread) for q in self.quantiles((0.05, 0.95)))
        told = {"mean": self.mean, "truth": float(self.truth), "bias": self.bias}
        told |= {"spread": self.spread, "error": self.rmse}
        parts = ", ".join(f"{name} {figure(float(x), self.spread)}" for name, x in told.items())
        return f"{self.title}: {head}: {parts}; nine tenths from {low} to {high}"

    def __repr__(self) -> str:
        return f"<Trials: {self}>"


def _plain(numbers: Any) -> Any:
    """A float where there is one number, else the array."""
    return float(numbers) if np.ndim(numbers) == 0 else numbers


def _listed(numbers: Any, spread: float) -> str:
    return ", ".join(figure(float(x), spread) for x in np.ravel(numbers))
