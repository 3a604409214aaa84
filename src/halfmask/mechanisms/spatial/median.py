"""The spatial median by its own score: an exact sampler of the exponential mechanism."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.grid_points import GridChoice
from halfmask.mechanisms.spatial.boxes import Boxes
from halfmask.mechanisms.spatial.proposals import Proposals
from halfmask.noise import Words
from halfmask.privacy import Number

__all__ = ["SpatialMedian"]

LARGEST_STEP = 2**40
BRANCHED = 4  # coordinates up to which boxes can be cut small enough
PATIENCE = 100


@final
@dataclass(frozen=True, init=False)
class SpatialMedian(GridChoice):
    """Choose a grid point θ with P(θ) ∝ exp(-epsilon ‖S(θ)‖ / (2 moved)).

    S(θ) is the sum over rows of the unit vectors that point from θ to them, 0 for rows at θ; its
    length is 0 at the spatial median. A row more adds a vector of length at most 1, so it changes
    ‖S(θ)‖, a real number and no float, by at most 1: whatever the number of coordinates.

    Privacy: epsilon-DP, as every `GridChoice`: a row changes the score -‖S‖ by at most 1.

    The draw is exact, by rejection: near the rows from shells around their median, far from them
    from the whole box (`Proposals`). z uniform in a spherical shell (all its digits, as needed) is
    moved to c + M z and rounded to the grid point θ. The shells weigh their exact volumes times
    exp(-m rate), m a certified lower bound of ‖S‖ in the shell, and θ is accepted with
    exp(-(‖S(θ)‖ - m) rate), decided by enclosures as close as it takes. As a cell of the grid is
    as large as any other, P(accepted θ) ∝ exp(-‖S(θ)‖ rate), whatever c, M and the bounds: these
    decide about the time alone. θ = c, where rows may coincide, is proposed by itself, as one cell.

    The number of proposals depends on the rows, and no limit on it can be private here: two
    neighbours may have a good and a useless bound, and a refusal would tell them apart. So the draw
    goes on until one is accepted. Up to four coordinates it goes on, after 100 failures, with
    proposals from `Boxes`, whose bounds grow as close as it takes: seconds for thousands of rows,
    in four coordinates up to many minutes, whatever these are. An accepted proposal has the same
    law whichever bound it was made by, so to change over is exact too. From five coordinates on a
    draw takes milliseconds where rows spread about alike in all directions, and longer than anyone
    waits where most lie near one line or plane.

    (What a private limit would need: let all proposals weigh K together, Z if accepted, and let
    giving up weigh g K beside them. Then the expected number of proposals is at most 1 + 1/g. Were
    neighbours' ln K within epsilon/2 of each other, as their ln Z and scores are, P(θ) =
    exp(-rate ‖S(θ)‖)/(Z + g K) and P(giving up) = g/(g + Z/K) would move by exp(epsilon) at most.
    But c, M and with them the bounds come from the rows, and nothing of the kind is known of K.)

    Attributes:
        lower, upper: the box, an integer for each coordinate, both ends within.
        moved: how many rows come and go between neighbours: 1 for one row added or removed, 2 for
          one replaced; a unit of r rows moves r or 2 r.
        epsilon: the price.
        steps: how long a step of the grid is in each coordinate: integers, in one common unit.

    >>> import numpy as np
    >>> median = SpatialMedian([-1000] * 3, [1000] * 3, moved=1, epsilon=50)
    >>> median.release(np.repeat([[5, 6, 7]], 40, axis=0))
    (5, 6, 7)

    """

    steps: tuple[int, ...]

    def __init__(
        self,
        lower: Sequence[SupportsIndex],
        upper: Sequence[SupportsIndex],
        moved: SupportsIndex,
        epsilon: Number,
        steps: Sequence[int] | None = None,
    ) -> None:
        super().__init__(lower, upper, moved, epsilon)
        given = (1,) * self.size if steps is None else tuple(steps)
        if len(given) != self.size or not all(
            isinstance(step, int) and 1 <= step <= LARGEST_STEP for step in given
        ):
            raise InvalidQuery(
                f"steps: not {self.size} integers from 1 to 2^40; give the length of a grid step "
                "in each coordinate"
            )
        object.__setattr__(self, "steps", given)

    @property
    def _name(self) -> str:
        return "sums of unit vectors"

    def log_masses(self, points: NDArray[Any]) -> dict[tuple[int, ...], float]:
        """Return the log probability of every point of the grid, straight from the definition."""
        rows = self.inside(points)
        sides = [range(a, b + 1) for a, b in zip(self.lower, self.upper, strict=True)]
        logs = []
        for place in product(*sides):
            gaps = (rows - np.array(place)) * np.array(self.steps, float)
            lengths = np.sqrt(np.square(gaps).sum(axis=1))[:, None]
            units = gaps / np.where(lengths > 0, lengths, 1.0)
            logs.append(-float(self.rate) * math.hypot(*units.sum(axis=0)))
        best = max(logs)
        total = best + math.log(math.fsum(math.exp(log - best) for log in logs))
        return {place: log - total for place, log in zip(product(*sides), logs, strict=True)}

    def _choose(self, points: NDArray[Any], words: Words) -> tuple[int, ...]:
        if self.size > BRANCHED:
            return self.proposals(points).draw(words)
        if self.size > 1:
            proposals = self.proposals(points)
            for _ in range(PATIENCE):
                place = proposals.attempt(words)
                if place is not None:
                    return place
        return Boxes.of(self, self.inside(points), self.steps).draw(words)

    def proposals(self, points: NDArray[Any]) -> Proposals:
        """Return what draws are made from; building it is most of the work."""
        return Proposals(self, self.inside(points), self.steps)
