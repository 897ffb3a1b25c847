"""Files: written whole or not at all, read only if they are regular, one run at a time.

- :mod:`~flagstone.disk.writing`: outputs that are complete or absent, and never replace what is
  not a regular file; locks that vanish with their process.
- :mod:`~flagstone.disk.reading`: bytes of regular files, of bounded size; strict JSON.
- :mod:`~flagstone.disk.ledger`: append-only files of JSON lines, each with a checksum.
"""

from flagstone.disk.ledger import Ledger, open_ledger, read_ledger, sealed
from flagstone.disk.reading import (
    check_fields,
    json_checksum,
    json_text,
    parse_json,
    read_regular,
    repeated,
)
from flagstone.disk.writing import (
    atomic_file,
    atomic_write,
    check_target,
    destination,
    is_stdout,
    locked,
    same_place,
    write_all,
)

__all__ = [
    "Ledger",
    "atomic_file",
    "atomic_write",
    "check_fields",
    "check_target",
    "destination",
    "is_stdout",
    "json_checksum",
    "json_text",
    "locked",
    "open_ledger",
    "parse_json",
    "read_ledger",
    "read_regular",
    "repeated",
    "same_place",
    "sealed",
    "write_all",
]
