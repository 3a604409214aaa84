"""Which unknown keys may be named at all: the best selection there is, without any count."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import SupportsIndex, final

import numpy as np

from halfmask.mechanisms.tails import precise
from halfmask.mechanisms.threshold import checked
from halfmask.noise import Words, bernoulli_enclosed, exp_minus
from halfmask.privacy import Approximate, Cost
from halfmask.privacy.normal import decimal, round_down, round_up


@final
@dataclass(frozen=True, init=False)
class KeySelection:
    """Keep each key with the largest probability that its number of units allows.

    A unit counts once in each key. With e and d the loss and the delta that one key may use,
    P(0) = 0 and P(n+1) = min(exp(e) P(n) + d, 1 - exp(-e)(1 - P(n) - d), 1): no selection that
    treats keys alike keeps any key more often. [Desfontaines, Voss, Gipson & Mandayam 2022, Thm 1]

    Privacy: (e, d)-DP for one key, by the three bounds of the minimum. Two neighbours differ in
    `changed` keys, which are kept independently: epsilon = changed*e, and delta =
    1 - (1-d)^changed. [Kairouz, Oh & Viswanath 2015, Thm 3.3, of the largest epsilon]

    Attributes:
        groups: how many keys one unit may be counted in.
        price: the (epsilon, delta) of the whole.
        replaced: whether a unit is replaced (it then leaves so many keys and enters as many).

    >>> keep = KeySelection(groups=1, price=Approximate("0.5", "1e-6"))
    >>> keep.likely, keep.law
    (26, 'each key kept with the largest probability: half the time at 26 units')

    """

    groups: int
    price: Approximate
    replaced: bool

    def __init__(self, groups: SupportsIndex, price: Cost, replaced: bool = False) -> None:
        _, several, held, twice = checked(1, groups, price, replaced)
        object.__setattr__(self, "groups", several)
        object.__setattr__(self, "price", held)
        object.__setattr__(self, "replaced", twice)

    @property
    def cost(self) -> Approximate:
        """The price of the selection."""
        return self.price

    @property
    def changed(self) -> int:
        """In how many keys two neighbours may differ."""
        return self.groups * (2 if self.replaced else 1)

    @property
    def loss(self) -> Fraction:
        """The epsilon of one key."""
        return self.price.epsilon / self.changed

    @functools.cached_property
    def lone(self) -> Fraction:
        """The delta of one key: a key of one unit is kept with this probability."""
        if self.changed == 1:
            return self.price.delta
        with precise():
            kept = (decimal(1 - self.price.delta).ln() / self.changed).exp()
            return round_down(1 - kept)

    @property
    def delta(self) -> Fraction:
        """The delta that is truly used, rounded up."""
        with precise():
            used = 1 - (1 - decimal(self.lone)) ** self.changed
            return min(round_up(used), self.price.delta)

    @functools.cached_property
    def turn(self) -> int:
        """The last n whose probability follows from the first bound of the minimum."""
        x, d = float(self.loss), float(self.lone)
        last = math.log1p((1 - d) * math.tanh(x / 2) / d) / x
        near = max(1, math.floor(last))
        # (exp(ne) - 1) d (1 + exp(-e)) <= (1-d)(1 - exp(-e)) up to n = turn - 1; e is rational, so
        # exp(-e) is transcendental and the two are never equal (Lindemann).
        while self._rises(near):
            near += 1
        while near > 1 and not self._rises(near - 1):
            near -= 1
        return near

    def _rises(self, n: int) -> bool:
        """Whether the first bound is the lesser one from n to n + 1, decided by enclosures."""
        d, bits = self.lone, 64
        while True:
            power, one = _exp_minus(n * self.loss, bits), _exp_minus(self.loss, bits)
            if power[0]:
                high = (1 / power[0] - 1) * d * (1 + one[1]) - (1 - d) * (1 - one[1])
                low = (1 / power[1] - 1) * d * (1 + one[0]) - (1 - d) * (1 - one[0])
                if high <= 0 or low >= 0:
                    return high <= 0
            bits *= 2

    @functools.cached_property
    def full(self) -> int:
        """A count from which every key is kept for certain."""
        x, d = float(self.loss), float(self.lone)
        most = d / math.expm1(x) if x < 700 else 0.0
        return self.turn + (1 if most == 0 else math.ceil(math.log1p(1 / most) / x) + 2)

    def enclosure(self, n: int, bits: int) -> tuple[int, int]:
        """Return integers (a, b) with a <= 2^bits P(n) <= b."""
        if n <= 0:
            return 0, 0
        more = bits + 32 + int(float(min(n, self.turn) * self.loss) * 1.5)
        low, high = self._first(min(n, self.turn), more)
        if n > self.turn:
            after = _exp_minus((n - self.turn) * self.loss, more)
            share = [self.lone * q / (1 - q) for q in _exp_minus(self.loss, more)]
            low, high = (
                1 + share[0] - after[1] * (1 + share[0] - low),
                1 + share[1] - after[0] * (1 + share[1] - high),
            )
        return (
            min(math.floor(low * (1 << bits)), 1 << bits),
            min(math.ceil(high * (1 << bits)), 1 << bits),
        )

    def _first(self, n: int, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose d (exp(ne) - 1)/(exp(e) - 1)."""
        power, one = _exp_minus(n * self.loss, bits), _exp_minus(self.loss, bits)
        return (
            self.lone * (1 / power[1] - 1) * one[0] / (1 - one[0]),
            self.lone * (1 / power[0] - 1) * one[1] / (1 - one[1]),
        )

    def chance(self, count: int) -> float:
        """Return the probability that a key of so many units is kept, to 1e-15."""
        low, high = self.enclosure(min(count, self.full), 60)
        return (low + high) / 2.0**61

    def log_chance(self, count: int) -> float:
        """Return the log probability that a key of so many units is kept."""
        chance = self.chance(count)
        return math.log(chance) if chance > 0 else -math.inf

    @functools.cached_property
    def likely(self) -> int:
        """The least number of units of a key that is kept as often as not."""
        low, high = 1, self.full
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.chance(middle) >= 0.5 else (middle + 1, high)
        return low

    @property
    def law(self) -> str:
        """The law in words."""
        return (
            "each key kept with the largest probability: half the time at "
            f"{self.likely} {'unit' if self.likely == 1 else 'units'}"
        )

    def release(self, counts: Sequence[int], words: Words | None = None) -> list[bool]:
        """Return which keys are kept.

        Args:
            counts: how many units each key has.
            words: the source of random words; None means the secure one. Read by rising count.

        """
        whole = np.minimum(np.array([index(count) for count in counts], dtype=object), self.full)
        whole = whole.astype(np.int64)
        kept = whole >= self.full
        for count in np.unique(whole[(whole > 0) & ~kept]).tolist():
            places = np.flatnonzero(whole == count)
            chance = functools.partial(self.enclosure, count)
            kept[places] = bernoulli_enclosed(chance, places.size, words)
        answer: list[bool] = kept.tolist()
        return answer


def _exp_minus(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose exp(-x)."""
    low, high = exp_minus(x, bits)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)
