"""The sparse vector technique: which of many integers lie above a threshold, and no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex, final

from halfmask.errors import InvalidQuery, shown
from halfmask.mechanisms.checks import charged, drawable, figure, whole_sensitivity
from halfmask.mechanisms.discrete_laplace import DiscreteLaplace
from halfmask.noise import Words, discrete_laplace, secure_words
from halfmask.privacy import Cost, Number, Pure

MOST_ABOVE = 10**6


@final
@dataclass(frozen=True, init=False)
class AboveThreshold:
    """Say of each integer in turn whether it reaches a threshold, until `limit` of them did.

    The threshold is made noisy once, every integer afresh; only the comparisons are shown. The
    price depends on `limit`, not on how many integers are asked about.

    Privacy: epsilon-DP. [Lyu, Su & Li 2017, Alg. 7, without numbers; proof below]
    With S the sensitivity, epsilon = e1 + e2, c the limit, threshold noise N of scale S/e1 and
    noise of scale 2cS/e2 on each integer q (cS/e2 where `monotonic`: one unit moves all of them
    the same way). Fix the answers, and let N be S larger for the neighbour (P changes by e^e1 at
    most): every q' + noise < T + N + S holds where q + noise < T + N did, since q' <= q + S; each
    of the c others must gain 2S at most, which costs e2/c. Monotonic: where all q' >= q, the same
    with a gain of S at most; where all q' <= q, N stays and the gain is S at most. All shifts are
    integers, and a tie counts as reached on both sides, so the discrete laws lose nothing.

    Attributes:
        sensitivity: the most by which one unit can change any of the integers, in grid steps.
        epsilon: the price; 0.1 means one tenth.
        limit: after so many integers that reach the threshold, no more are looked at.
        monotonic: whether one unit moves all integers the same way.
        price: what is charged in place of epsilon, which it must cover; None is epsilon itself.

    >>> from halfmask.noise import seeded_words
    >>> first = AboveThreshold(sensitivity=1, epsilon=2, monotonic=True)
    >>> first.release([3, 50, 4000, 7, 9000], threshold=1000, words=seeded_words(1))
    (False, False, True)
    >>> first.law
    'sparse vector: discrete Laplace, scale 1 on the threshold and 1 on each number'

    """

    sensitivity: int
    epsilon: Fraction
    limit: int
    monotonic: bool
    price: Cost | None

    def __init__(
        self,
        sensitivity: SupportsIndex,
        epsilon: Number,
        limit: int = 1,
        monotonic: bool = False,
        price: Cost | None = None,
    ) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_ABOVE:
            raise InvalidQuery(f"limit: {shown(limit)} is no whole number from 1 to 10^6; give one")
        if not isinstance(monotonic, bool):
            raise InvalidQuery(f"monotonic: {shown(monotonic)} given; give True or False")
        object.__setattr__(self, "sensitivity", whole_sensitivity(sensitivity, "sensitivity"))
        object.__setattr__(self, "epsilon", Pure(epsilon).epsilon)
        object.__setattr__(self, "limit", limit)
        object.__setattr__(self, "monotonic", monotonic)
        object.__setattr__(self, "price", price)
        charged(Pure(epsilon), price)
        drawable(max(self.scales), "epsilon")

    @property
    def cost(self) -> Cost:
        """The price of all answers together."""
        return charged(Pure(self.epsilon), self.price)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """The scales of the noise on the threshold and on each integer, in grid steps.

        The split 1 : k^(2/3), k the integers' noise per epsilon, makes the variance of the
        difference least. [Lyu, Su & Li 2017, section 4.2]
        """
        k = self.limit * (1 if self.monotonic else 2)
        ratio = Fraction(round(1000 * k ** (2 / 3)), 1000)
        first = self.epsilon / (1 + ratio)
        return self.sensitivity / first, k * self.sensitivity / (self.epsilon - first)

    @property
    def scale(self) -> Fraction:
        """The larger of the two scales; 0 where no unit can change the integers."""
        return max(self.scales)

    @property
    def variance(self) -> float:
        """The variance of an integer's noise less the threshold's, in squared grid steps."""
        noises = (DiscreteLaplace(1, 1 / scale) for scale in self.scales if scale)
        return sum(noise.variance for noise in noises)

    @property
    def law(self) -> str:
        """The law in words."""
        return self.law_in(Fraction(1))

    def law_in(self, step: Fraction) -> str:
        """Return the law in words, in units of which a grid step is worth `step`."""
        if not self.sensitivity:
            return "no noise: no unit can change these numbers"
        first, each = (figure(scale * step) for scale in self.scales)
        return (
            f"sparse vector: discrete Laplace, scale {first} on the threshold and {each} on "
            "each number"
        )

    def release(
        self, integers: Sequence[int], threshold: int, words: Words | None = None
    ) -> tuple[bool, ...]:
        """Return, for each integer up to the last one looked at, whether it reaches the threshold.

        Args:
            integers: the exact statistics, in grid steps.
            threshold: public, in grid steps.
            words: the source of random words; None means the secure one.

        """
        source = secure_words() if words is None else words
        least, noises = threshold, [0] * len(integers)
        if self.sensitivity:
            first, each = self.scales
            least += int(discrete_laplace(first, (), source))
            noises = discrete_laplace(each, len(integers), source).tolist()
        answers: list[bool] = []
        for integer, noise in zip(integers, noises, strict=True):
            answers.append(integer + noise >= least)
            if sum(answers) == self.limit:
                break
        return tuple(answers)
