"""Promises from the data at hand: what fresh samples of the same source will do, at a confidence.

The bounds of `flagstone.guarantees` hold for every distribution, before any row is seen, and ask
for millions of rows. Real data have a gap: some directions are frequent, the others rare. A
certificate proves *from the rows* that fresh samples find the same gap, and so the same space
(docs/theory/certificates.md).

===============  ==============================================================================
module           what it does
===============  ==============================================================================
`plan`           decides on pilot rows what to look at
`spaces`         nested spaces of the pilot; where rows lie among them
`pieces`         cuts rows into independent pieces whose sets add up
`collector`      one pass over the certifying rows: counts, pieces; merges over shards
`evidence`       from the pieces seen to sums of fresh ones
`claims`         everything that is proven of each space, with δ shared out
`window`         from certified spaces to ρ for a window of thresholds
`certifier`      `Certifier`, the way through all of it
===============  ==============================================================================
"""

from flagstone.certificates.certifier import Certifier
from flagstone.certificates.plan import pilot_rows, pilot_share
from flagstone.guarantees.certificate import Certificate

__all__ = ["Certificate", "Certifier", "pilot_rows", "pilot_share"]
