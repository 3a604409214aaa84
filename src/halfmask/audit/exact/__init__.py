"""Exact verification: losses from mass functions and exact integers, to 1e-12; nothing is sampled.

loss          one mechanism: the loss over its whole support; listed: two finite laws
verify        one release: all neighbours of small tables, through the real source
verify_series   all closings of a series, over histories of tables
ask           what is verified, checked as the door checks it
scripts       an ask's measurements; frozen: the noisy answers in between, made up
cells, tables   the simulated tables and their neighbours
moved         what a pair moves, and what that costs; spending: losses added up
verification  what was found; worst: the largest loss so far
"""

from halfmask.audit.exact.ask import Ask
from halfmask.audit.exact.listed import Listed
from halfmask.audit.exact.loss import Loss, exact_loss
from halfmask.audit.exact.moved import Moved, Redrawn
from halfmask.audit.exact.scripts import Script, scripts
from halfmask.audit.exact.tables import Simulation
from halfmask.audit.exact.verification import Verification, Witness
from halfmask.audit.exact.verify import verify, verify_ask
from halfmask.audit.exact.verify_series import verify_closings, verify_series

__all__ = [
    "Ask",
    "Listed",
    "Loss",
    "Moved",
    "Redrawn",
    "Script",
    "Simulation",
    "Verification",
    "Witness",
    "exact_loss",
    "scripts",
    "verify",
    "verify_ask",
    "verify_closings",
    "verify_series",
]
