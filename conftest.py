"""Which files wait for an optional library before their doctests are collected."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("flwr") else ["src/halfmask/federated/flower.py"]
