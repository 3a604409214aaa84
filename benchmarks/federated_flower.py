"""A whole simulation by Flower and Ray: 20 nodes, two of them malicious, learn linear regression.

Run: pip install "halfmask[flower]" "flwr[simulation]"
     python benchmarks/federated_flower.py [--rounds 10]

Prints how far the model ends from the truth, with the private robust strategy and with Flower's
average, and the seconds that each took. Nothing is sent anywhere.
"""

import argparse
import os
import time

os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}

import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation

from halfmask.federated import PrivateRobustAggregator
from halfmask.federated.flower import PrivateRobust

NODES, MALICIOUS, D = 20, 2, 20
TRUTH = np.linspace(-1, 1, D)

client = ClientApp()


@client.train()
def train(message, context):
    """One gradient step on 50 rows of the node's own, or ten times the way back."""
    number = int(context.node_config["partition-id"])
    rng = np.random.default_rng(number)
    X = rng.normal(size=(50, D))
    y = X @ TRUTH + 0.1 * rng.normal(size=50)
    weights = message.content["arrays"]["weights"].numpy()
    step = X.T @ (y - X @ weights) / 50
    new = weights + (-10 * step if number < MALICIOUS else 0.5 * step)
    content = RecordDict(
        {
            "arrays": ArrayRecord({"weights": Array(new)}),
            "metrics": MetricRecord({"num-examples": 50}),
        }
    )
    return Message(content=content, reply_to=message)


def simulate(strategy, rounds):
    """Run the simulation, and return the final distance and the seconds."""
    app, ends = ServerApp(), []

    @app.main()
    def main(grid, context):
        start = ArrayRecord({"weights": Array(np.zeros(D))})
        result = strategy.start(grid=grid, initial_arrays=start, num_rounds=rounds)
        ends.append(float(np.linalg.norm(result.arrays["weights"].numpy() - TRUTH)))

    start = time.perf_counter()
    run_simulation(server_app=app, client_app=client, num_supernodes=NODES)
    return ends[0], time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    aggregator = PrivateRobustAggregator(8, "1e-5", rounds, NODES, radius=0.5)
    lines = [f"start: {np.linalg.norm(TRUTH):.3f} from the truth"]
    for name, strategy in {
        "PrivateRobust, epsilon 8": PrivateRobust(aggregator, min_available_nodes=NODES),
        "FedAvg, not private": FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES),
    }.items():
        distance, seconds = simulate(strategy, rounds)
        lines.append(f"{name}: {distance:.3f} from the truth, {seconds:.0f} s")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
