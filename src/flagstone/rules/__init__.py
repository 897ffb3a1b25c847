"""Rules: flag + coins → subspace. The paper's Algorithm 1 is `HeavyRule`; ours is `IndexRule`.

Both draw one threshold t from a window that public numbers alone decide (rows, dimension, shards,
what the caller asked for), and read one space off the flag. The window:

- start: k = t_min if given, else ⌈contamination·m⌉;
- length T: t_max if given (an integer, a fraction of m, or "paper" for the heavy rule), else the
  threshold that proves rho if given, else the longest that proves eps without a start (index:
  1 + ⌊εm/(R·d)⌋, heavy: εm/(R·d(d+1)/2), R shards); never below 1;
- u = coins.uniform("threshold"); index: t = k + 1 + ⌊uT⌋; heavy: t = k + T(1 - u).

Proofs: docs/theory/rules.md (what the rules do), docs/theory/guarantees.md (what they promise).
"""

from flagstone.rules.base import DEFAULT_EPS, SpanRule
from flagstone.rules.heavy import HeavyRule
from flagstone.rules.index import IndexRule
from flagstone.rules.select import SpanResult, rule_named, select_span

__all__ = [
    "DEFAULT_EPS",
    "HeavyRule",
    "IndexRule",
    "SpanResult",
    "SpanRule",
    "rule_named",
    "select_span",
]
