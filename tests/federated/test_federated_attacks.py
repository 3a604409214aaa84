"""Learning digits in spite of every attack, where an average fails."""

import numpy as np
import pytest
from federated_attacks import UPDATES, flipped
from sklearn.datasets import load_digits

from halfmask.federated import PrivateRobustAggregator

CLIENTS, BAD, ROUNDS = 100, 10, 30


def digits():
    X, y = load_digits(return_X_y=True)
    X = np.hstack([X / 8 - 1, np.ones((len(X), 1))])
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def accuracy(aggregate, attack, rate):
    """Softmax regression of 100 clients with 14 digits each; the rest is for the test."""
    X, y = digits()
    each, rng = 14, np.random.default_rng(1)
    held = y[: CLIENTS * each].reshape(CLIENTS, each).copy()
    if attack == "label flip":
        held[:BAD] = flipped(held[:BAD])
    images, hot = X[: CLIENTS * each].reshape(CLIENTS, each, -1), np.eye(10)[held]
    weights = np.zeros((X.shape[1], 10))
    for _ in range(ROUNDS):
        chances = np.exp(images @ weights - (images @ weights).max(axis=2, keepdims=True))
        chances /= chances.sum(axis=2, keepdims=True)
        updates = (images.transpose(0, 2, 1) @ (hot - chances) / each).reshape(CLIENTS, -1)
        updates[:BAD] = UPDATES[attack](updates[BAD:], updates[:BAD], rng)
        weights += rate * aggregate(updates).reshape(weights.shape)
    return ((X[CLIENTS * each :] @ weights).argmax(axis=1) == y[CLIENTS * each :]).mean()


@pytest.mark.parametrize("attack", UPDATES)
def test_digits_are_learned_in_private_under_every_attack(attack):
    aggregate = PrivateRobustAggregator(8, "1e-5", ROUNDS, CLIENTS, radius=0.1)
    assert accuracy(aggregate, attack, rate=2) > 0.8  # about 0.94, give or take 0.01


def test_an_average_learns_until_signs_are_flipped():
    assert accuracy(lambda updates: updates.mean(axis=0), "none", rate=0.3) > 0.85
    assert accuracy(lambda updates: updates.mean(axis=0), "sign flip", rate=0.3) < 0.4
