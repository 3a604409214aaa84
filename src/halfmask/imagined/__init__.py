"""Errors that have no formula, foreseen by asking a table of supposed rows many times.

table  rows made of what is supposed in public
tried  the question's own measurement, asked of them again and again
"""

from halfmask.imagined.tried import foreseen

__all__ = ["foreseen"]
