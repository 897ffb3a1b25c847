"""Rules: flag + coins → subspace. `HeavyRule` is the paper's Algorithm 1, `IndexRule` is new.

Both draw one threshold t from a window that public numbers alone decide (rows, dimension, shards,
what the caller asked for), and read one space off the flag. The window:

- first threshold: t_min if given (an integer, or a fraction f of m: ⌈f·m⌉ + 1), else
  ⌈contamination·m⌉ + 1, past the outliers; k = t_min - 1;
- last threshold: t_max if given (an integer, or a fraction f of m: ⌊f·m⌋), else k + T, where the
  length T proves rho if that is given, and else is the longest that proves eps without a start
  (index: 1 + ⌊εm/(R·d)⌋, heavy: εm/(R·d(d+1)/2), R shards); T is never below 1. t_max="paper" is
  k + T with the printed constant T (heavy rule);
- u = coins.uniform("threshold"); index: t = t_min + ⌊uT⌋; heavy: t = k + T(1 - u).

Proofs: docs/theory/rules.md (what the rules do), docs/theory/guarantees.md (what they promise).
"""

from flagstone.rules.base import DEFAULT_EPS, SpanRule
from flagstone.rules.heavy import HeavyRule
from flagstone.rules.index import IndexRule
from flagstone.rules.select import Selection, rule_from_dict, rule_named, select_span

__all__ = [
    "DEFAULT_EPS",
    "HeavyRule",
    "IndexRule",
    "Selection",
    "SpanRule",
    "rule_from_dict",
    "rule_named",
    "select_span",
]
