"""Replicable linear algebra: two samples, one published seed, the same answer."""

from flagstone._version import __version__

__all__ = ["__version__"]
