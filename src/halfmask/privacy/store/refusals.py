"""What PostgreSQL's refusals mean, by their SQLSTATE, in words that hold no row and no secret."""

from halfmask.privacy.store.tables import DAMAGED, FULL, LOCKED

__all__ = ["FORBIDDEN", "UNWRITTEN", "reason"]

FORBIDDEN = (
    "may not be used so by you; let its owner GRANT USAGE on the schema, SELECT and INSERT on its "
    "tables, and UPDATE on account"
)
UNWRITTEN = (
    "lets you write no row: row security, a rule or a trigger stands before its tables; remove it, "
    "and run `halfmask ledger verify`"
)
LOST = "lost its connection; nothing was charged, so ask again when the server answers"

_REASONS = {
    "55P03": LOCKED,
    "53100": FULL,
    "53300": "has no connection left for you; close some, or raise max_connections",
    "53": "has too little memory or room; free some and ask again",
    "25006": "is read-only: a standby, or a role that may only read; use the primary server",
    "42501": FORBIDDEN,
    "42P01": "was dropped, renamed or closed to you while in use, so charges are missing; restore "
    "it, or open the one that you trust anew",
    "42703": "is no ledger any more: a column is gone; restore it from a copy you trust",
    "23": "holds rows that do not fit each other; run `halfmask ledger verify` on it",
    "22": "cannot hold this text; ask in plain characters",
    "57014": "took longer than the server allows; ask again",
    "08P01": "was lost to you, or a pool of connections on the way refuses you; nothing was "
    "charged, so ask again. A pool must keep transactions (pool_mode = transaction or session)",
    "57": LOST,
    "08": LOST,
    "40": "was changed by others at the same time; ask again",
    "58": "cannot be written: the disk failed or is full; free some space or use another",
    "XX001": DAMAGED,
    "XX002": DAMAGED,
}


def reason(state: str | None) -> str:
    """Return what to say of a ledger that a server refused; None where it said nothing more."""
    if state is None:
        return LOST
    for length in (5, 2):
        if state[:length] in _REASONS:
            return _REASONS[state[:length]]
    return f"failed (SQLSTATE {state}); run `halfmask ledger verify` on it"
