"""The proof of a charge, and what a request that comes again is given."""

from dataclasses import dataclass

from halfmask.errors import InvalidQuery, LedgerError, shown
from halfmask.privacy.chain import Spend
from halfmask.privacy.cost import Cost
from halfmask.privacy.texts import brief

__all__ = ["Receipt", "repeated"]


@dataclass(frozen=True)
class Receipt:
    """Proof of a charge, and the stored answer, if any. `repeated`: nothing was charged now."""

    seq: int
    cost: Cost
    hash: str
    request_id: str | None = None
    repeated: bool = False
    answer: str | None = None


def repeated(cost: Cost, draft: Spend, earlier: Spend, answer: str | None) -> Receipt:
    """Return the receipt of a request that was charged earlier; refuse another by its name."""
    name = f"request_id: {shown(draft.request_id)}"
    if (earlier.query, earlier.price) != (draft.query, draft.price):
        raise InvalidQuery(
            f"{name} was used for {brief(earlier.query)} at {earlier.price}, given "
            f"{brief(draft.query)} at {draft.price}; give each request its own"
        )
    if answer is None:
        raise LedgerError(
            f"{name} was charged but has no stored answer: it is still being answered, or it "
            "failed; wait, or ask again under a new request_id, which is charged anew"
        )
    return Receipt(earlier.seq, cost, earlier.hash, earlier.request_id, True, answer)
