"""What malicious clients send. The benchmark of the same name runs these too.

Each attack knows the honest updates and turns the updates that its clients would have sent into
others: (malicious, d) from honest (honest, d) and own (malicious, d). Label flips are done to data,
by `flipped`, not to updates.
"""

import numpy as np


def sign_flip(honest, own, rng):
    """Ten times the way back. [Li, Xu, Chen, Giannakis & Ling 2019]"""
    return -10 * own


def large_noise(honest, own, rng):
    """A random direction, a hundred times as long as an honest update."""
    noise = rng.standard_normal(own.shape)
    length = np.linalg.norm(honest, axis=1).mean() / np.linalg.norm(noise, axis=1)
    return 100 * length[:, None] * noise


def inner_product(honest, own, rng):
    """Half the honest mean, the other way. [Xie, Koyejo & Gupta 2019]"""
    return np.tile(-0.5 * honest.mean(axis=0), (len(own), 1))


def little(honest, own, rng):
    """All a little off, within the spread of the honest. [Baruch, Baruch & Goldberg 2019: ALIE]"""
    return np.tile(honest.mean(axis=0) - 1.5 * honest.std(axis=0), (len(own), 1))


def none(honest, own, rng):
    """What an honest client would send."""
    return own


def flipped(labels):
    """Labels 0 .. 9 backwards, as malicious clients hold them."""
    return 9 - labels


UPDATES = {
    "none": none,
    "sign flip": sign_flip,
    "large noise": large_noise,
    "inner product": inner_product,
    "ALIE": little,
    "label flip": none,
}
