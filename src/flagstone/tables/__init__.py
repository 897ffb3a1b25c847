"""Tables: files and frames in, rows over a field out, one batch at a time.

>>> import tempfile, pathlib
>>> from flagstone.tables import open_table
>>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
>>> _ = path.write_text("door,alarm\\nopen,1\\nshut,0\\n")
>>> table = open_table(path)
>>> for proposal in table.proposals(table.columns):
...     print(proposal)
door=levels:open,shut (text with 2 values)
alarm=element (whole numbers, all in GF(2))
>>> encoding = table.encoding(2, encode={"door": "levels:shut,open"})
>>> [batch.matrix.tolist() for batch in table.rows(encoding)]
[[[1, 1], [0, 0]]]
"""

from flagstone.encoding import ColumnEncoder, Encoding
from flagstone.tables.batches import Batch, Place
from flagstone.tables.encoded import EncodedBatch
from flagstone.tables.frames import reorder
from flagstone.tables.misfits import MisfitGroup, misfit_groups, misfit_lines, misfit_records
from flagstone.tables.opening import BIT_ORDERS, FORMATS, open_table
from flagstone.tables.proposals import Proposal, propose
from flagstone.tables.table import Table
from flagstone.tables.written import as_written, frame_masks, frame_text, is_frames

__all__ = [
    "BIT_ORDERS",
    "FORMATS",
    "Batch",
    "ColumnEncoder",
    "EncodedBatch",
    "Encoding",
    "MisfitGroup",
    "Place",
    "Proposal",
    "Table",
    "as_written",
    "frame_masks",
    "frame_text",
    "is_frames",
    "misfit_groups",
    "misfit_lines",
    "misfit_records",
    "open_table",
    "propose",
    "reorder",
]
