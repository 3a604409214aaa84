"""How a budget was spent."""

import numpy as np

from halfmask.errors import InvalidQuery
from halfmask.plots.style import BLUE, INK, ORANGE, WASH, Axes, axes, finish, plain_numbers
from halfmask.privacy import Cost, Ledger

__all__ = ["budget_timeline"]


def budget_timeline(ledger: Ledger, *, ax: Axes | None = None) -> Axes:
    """Draw what was spent after each charge of a ledger, below the line of its budget.

    In the ledger's currency; squares of mu, which add up, for a budget in mu.

    >>> import halfmask as hm
    >>> from halfmask import plots
    >>> staff = hm.open({"x": [1.0]}, budget=1)
    >>> _ = staff.ask(hm.Count(), epsilon=0.5)
    >>> plots.budget_timeline(staff.ledger).get_ylabel()
    'epsilon spent'
    """
    entries = ledger.entries()
    if not entries:
        raise InvalidQuery("ledger: nothing was charged yet, so there is nothing to draw")
    ax = axes(ax)
    spent = [0.0, *(_main(entry.total) for entry in entries)]
    at = np.arange(len(spent))
    whole = _main(ledger.budget)
    ax.step(at, spent, where="post", color=BLUE, linewidth=2, label="spent")
    ax.fill_between(at, spent, step="post", color=WASH)
    ax.plot(at[-1], spent[-1], "o", color=BLUE)
    ax.axhline(whole, color=ORANGE, linestyle="--", linewidth=2, label=f"budget: {ledger.budget}")
    ax.set_xlim(0, len(entries) + 0.3)
    ax.set_ylim(0, 1.15 * max(whole, spent[-1]))
    stride = max(1, len(entries) // 8)
    shown = at[1::stride]
    ax.set_xticks(shown, [f"{n}\n{entries[n - 1].time[:10]}" for n in shown])
    ax.tick_params(colors=INK)
    plain_numbers(ax.yaxis)
    name = next(iter(set(ledger.budget.to_dict()) - {"measure", "delta"}))
    unit = "mu² spent" if name == "mu" else f"{name} spent"
    left = f"{ledger.remaining} left"
    return finish(ax, f"{len(entries)} charges, {left}", "charge", unit)


def _main(cost: Cost) -> float:
    return float(cost.amounts[0])
