"""Promises from the data at hand: what fresh samples of the same source will do, at a confidence.

The bounds of `flagstone.guarantees` hold for every distribution and ask for millions of rows. Real
data have a gap: some directions are frequent, the others rare. A certificate proves *from the rows*
that fresh samples find the same gap, and so the same space (docs/theory/certificates.md).

===================  ==========================================================================
module               what it does
===================  ==========================================================================
`certifier`          `Certifier`: one pass over the certifying rows, and what it certifies
`plan`               decides on pilot rows what to look at
`spaces`             nested spaces of a flag; where rows lie among them; counts of rows outside
`pieces`             cuts rows into independent pieces whose sets add up; what these prove
`claims`             what is proven of each space, with δ shared out, and of a window
`serial_dependence`  whether rows depend on those before them
===================  ==========================================================================
"""

from flagstone.certificates.certifier import Certifier
from flagstone.certificates.plan import pilot_rows
from flagstone.certificates.serial_dependence import SerialDependence, first_of_runs
from flagstone.certificates.spaces import LevelCounts, NestedSpaces

__all__ = [
    "Certifier",
    "LevelCounts",
    "NestedSpaces",
    "SerialDependence",
    "first_of_runs",
    "pilot_rows",
]
