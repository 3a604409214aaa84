"""Procedures: they ask queries with parts of their price, and meet only answers.

mean       the mean: two-sided sums, then a centred sum where the noisy count is large
centring   when and how that second sum pays
public_count   the mean where the number of units is public
together   several queries in one ask: shared bodies, and the split of the rest
procedure  the protocol
"""

from halfmask.procedures.mean import Mean
from halfmask.procedures.procedure import Measure, Procedure
from halfmask.procedures.together import Together

__all__ = ["Mean", "Measure", "Procedure", "Together"]
