"""The version, in one place: the package's metadata and every release read it here."""

__version__ = "0.1.0"
"""The version of this package."""
