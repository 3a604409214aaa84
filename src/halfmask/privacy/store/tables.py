"""The three tables of a ledger, in the types of an engine; and words for common refusals."""

__all__ = ["DAMAGED", "FULL", "LOCKED", "tables"]

LOCKED = "is locked by another process; wait for it to finish, or find what holds it"
FULL = "cannot grow: the disk is full; free some space and ask again"
DAMAGED = "is damaged; restore it from a copy you trust"


def tables(*, whole: str, text: str, once: str) -> tuple[str, ...]:
    """Return the statements that make them.

    whole, text: types of integers up to 2^63 and of texts of any length.
    once: a constraint under which two rows never have the same `request_id`.
    """
    return (
        f"""CREATE TABLE account (
            id {whole} PRIMARY KEY CHECK (id = 1),
            opened {text} NOT NULL,
            budget_text {text} NOT NULL,
            budget {whole} NOT NULL,
            budget_delta {whole} NOT NULL,
            spent {whole} NOT NULL CHECK (spent BETWEEN 0 AND budget),
            spent_delta {whole} NOT NULL CHECK (spent_delta BETWEEN 0 AND budget_delta),
            head_seq {whole} NOT NULL,
            head_hash {text} NOT NULL)""",
        f"""CREATE TABLE spend (
            seq {whole} PRIMARY KEY,
            request_id {text},
            time {text} NOT NULL,
            actor {text} NOT NULL,
            query {text} NOT NULL,
            price {text} NOT NULL,
            amount {whole} NOT NULL CHECK (amount >= 0),
            amount_delta {whole} NOT NULL CHECK (amount_delta >= 0),
            total {whole} NOT NULL,
            total_delta {whole} NOT NULL,
            previous {text} NOT NULL,
            hash {text} NOT NULL,
            {once})""",
        f"""CREATE TABLE release (
            seq {whole} PRIMARY KEY REFERENCES spend (seq),
            answer {text} NOT NULL,
            hash {text} NOT NULL)""",
    )
