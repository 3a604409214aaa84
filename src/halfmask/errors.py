"""Every error that halfmask raises on purpose.

HalfmaskError
├── InvalidQuery (ValueError)   a question, bound, price or plan that cannot be asked as written
├── BudgetExhausted             the price is more than what is left; nothing was read or charged
├── LedgerError                 the ledger cannot be opened, trusted or written; nothing was read
├── SourceError                 a table cannot be opened
└── ReleaseFailed               charged, then the engine failed; the charge stays, why is not shown
Interrupted (KeyboardInterrupt) stopped by Ctrl-C after the price was charged; the charge stays
PrivacyWarning (UserWarning)    a promise that holds, and that may mean little

Messages say what was wrong, what was given and what to do:
``bounds: lower 5 is above upper 3; swap them``. What was given is shown by ``shown``, since a table
passed by mistake would print its rows.
"""

from decimal import Decimal
from fractions import Fraction

__all__ = [
    "BudgetExhausted",
    "HalfmaskError",
    "Interrupted",
    "InvalidQuery",
    "LedgerError",
    "PrivacyWarning",
    "ReleaseFailed",
    "SourceError",
    "shown",
]

_SCALARS = (str, int, float, Fraction, Decimal, type(None))  # a bool is an int
_LONGEST = 60  # characters


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


class Interrupted(KeyboardInterrupt):
    """Stopped by Ctrl-C after the price was charged: the charge stays, and nothing was answered."""


class PrivacyWarning(UserWarning):
    """A promise that holds as it is written, and that may mean little."""


def shown(value: object) -> str:
    """A value as a message may show it: a short scalar as written, all else by its type's name.

    >>> shown("a"), shown(0.5), shown([1, 2]), shown(None)
    ("'a'", '0.5', 'a list', 'None')
    """
    if not isinstance(value, _SCALARS):
        name = type(value).__name__
        return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"
    if isinstance(value, str):
        value = value[: _LONGEST + 1]  # cut first: printing a huge text would take its length
    try:
        text = repr(value)
    except ValueError:  # Python prints no integer of more than 4300 digits
        return f"a very long {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
