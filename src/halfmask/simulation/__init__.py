"""Trials: ask a public or simulated table many times over, and see how the answers scatter.

trial      `trials`: one ask, repeated
sweep      `sweep`: trials at several prices, bounds or shares
result     what they show: bias, spread, error, quantiles
simulated  the table they are asked of, read once
"""

from halfmask.simulation.result import Trials
from halfmask.simulation.sweep import Sweep, sweep
from halfmask.simulation.trial import trials

__all__ = ["Sweep", "Trials", "sweep", "trials"]
