"""The functions of :mod:`flagstone.kernels.evidence`, compiled."""

from __future__ import annotations

from numba.extending import register_jitable

from flagstone.kernels import evidence
from flagstone.kernels._jit import jit

register_jitable(evidence._loss)
register_jitable(evidence.log_mean_product)
register_jitable(evidence._surplus)
edge = jit(evidence.edge)
