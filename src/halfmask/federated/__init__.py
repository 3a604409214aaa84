"""Federated learning: one private vector a round from what clients send, some of them malicious.

aggregator   `PrivateRobustAggregator`: the price, the rounds, the ledger
pace         how a price is spread over rounds
sampled      how strong a round may be in which only some clients take part, drawn by coins
renyi        what such rounds cost, by divergences
losses       the same more closely, by masses of losses on a grid
walk         one round: noisy clipped steps towards the spatial median
subspace     random subspaces in which clients send less
steps        the exact integer sum of clipped differences
flower       a strategy for Flower (needs `pip install halfmask[flower]`, and its own import)
"""

from halfmask.federated.aggregator import PrivateRobustAggregator
from halfmask.federated.subspace import Subspace

__all__ = ["PrivateRobustAggregator", "Subspace"]
