"""Digests: what check equations over GF(2) say about frames, and what is known by a name.

- :class:`Layers`: constants, pairs, check bits and the rest.
"""

from flagstone.digests.layers import Frame, Layers, Solved, propose
from flagstone.digests.relations import Relation

__all__ = ["Frame", "Layers", "Relation", "Solved", "propose"]
