"""Running totals of a table that grows, released again whenever a period closes.

strategy  which sums are measured at each closing, and what totals they tell
closing   the measurement, its privacy and its noise; totals: how it is read
"""

from halfmask.queries.series.closing import Closing, Closings, Running
from halfmask.queries.series.totals import Totals

__all__ = ["Closing", "Closings", "Running", "Totals"]
