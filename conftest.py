"""Which files wait for an optional library before their doctests are collected."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("flwr") else ["src/halfmask/federated/flower.py"]
collect_ignore += [] if find_spec("sklearn") else ["src/halfmask/cluster", "tests/cluster"]
