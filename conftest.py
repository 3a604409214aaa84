"""Which files wait for an optional library, and the fixtures that every folder may use."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("flwr") else ["src/halfmask/federated/flower.py"]
collect_ignore += [] if find_spec("sklearn") else ["src/halfmask/cluster", "tests/cluster"]
pytest_plugins = ["services"]  # tests/services: PostgreSQL
