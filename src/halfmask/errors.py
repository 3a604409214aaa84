"""Every error that halfmask raises on purpose.

HalfmaskError
├── InvalidQuery (ValueError)   a question, bound, price or plan that cannot be asked as written
├── BudgetExhausted             the price is more than what is left; nothing was read or charged
├── LedgerError                 the ledger cannot be opened, trusted or written; nothing was read
├── SourceError                 a table cannot be opened
└── ReleaseFailed               charged, then the engine failed; the charge stays, why is not shown

Messages say what was wrong, what was given and what to do:
``bounds: lower 5 is above upper 3; swap them``.
"""

__all__ = [
    "BudgetExhausted",
    "HalfmaskError",
    "InvalidQuery",
    "LedgerError",
    "ReleaseFailed",
    "SourceError",
]


class HalfmaskError(Exception):
    """The root of all errors that halfmask raises on purpose."""


class InvalidQuery(HalfmaskError, ValueError):
    """A question, bound, price or plan that cannot be asked as it is written."""


class BudgetExhausted(HalfmaskError):
    """The price is more than what is left; no row was read and nothing was charged."""


class LedgerError(HalfmaskError):
    """The ledger cannot be opened, trusted or written; no row was read."""


class SourceError(HalfmaskError):
    """A table cannot be opened: missing file, unknown type, two columns of one name."""


class ReleaseFailed(HalfmaskError):
    """Charged, then the engine failed; why is not shown, since that may tell about rows."""
