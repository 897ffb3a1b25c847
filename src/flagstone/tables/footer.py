"""The footer of a Parquet file, read in Python as far as its statistics are needed.

Arrow hands out the statistics of a column chunk through calls that end the process when the footer
is damaged: an exception of C++ leaves a function that was not declared to raise one. What is read
here raises ordinary errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

_MAGIC = b"PAR1"
#: Parquet's numbers for its types of integers, and how many bytes these take.
_INTEGER_BYTES = {1: 4, 2: 8}
#: Types of Thrift's compact protocol.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = (
    0, 1, 2, 3, 7, 8, 9, 10, 11, 12,
)  # fmt: skip
_VARINTS = (4, 5, 6)

#: Which fields are read of a struct, by number: their names, and the fields of structs in them.
_Shape = Mapping[int, tuple[str, Any]]
_STATISTICS: _Shape = {3: ("null_count", None), 5: ("max_value", None), 6: ("min_value", None)}
_META_DATA: _Shape = {1: ("type", None), 3: ("path", None), 12: ("statistics", _STATISTICS)}
_CHUNK: _Shape = {3: ("meta_data", _META_DATA)}
_ROW_GROUP: _Shape = {1: ("columns", _CHUNK)}
#: The field of a footer that lists the row groups.
_ROW_GROUPS = 4


class Noted(NamedTuple):
    """What a file notes of the integers of a column in a row group."""

    least: bytes
    most: bytes
    n_missing: int


def row_groups(source: Any, most: int) -> list[dict[str, Noted]]:
    """Return the statistics of the integer columns of the first row groups, by column name.

    ``source`` is an open file of Arrow's. Columns without complete statistics are left out.
    ValueError, or any other ordinary error, if the footer does not follow its format.
    """
    size = source.size()
    source.seek(max(0, size - 8))
    length, magic = int.from_bytes(source.read(4), "little"), source.read(4)
    if magic != _MAGIC or length > size - 8:
        raise ValueError("the file does not end in a Parquet footer")
    source.seek(size - 8 - length)
    footer = _Compact(source.read(length))
    n_groups = footer.find_list(_ROW_GROUPS)
    return [_noted(footer.struct(_ROW_GROUP)) for _ in range(min(most, n_groups))]


def _noted(group: Mapping[str, Any]) -> dict[str, Noted]:
    found: dict[str, Noted] = {}
    for chunk in group["columns"]:
        about = chunk.get("meta_data", {})
        width = _INTEGER_BYTES.get(about.get("type"))
        seen = about.get("statistics", {})
        least, most = seen.get("min_value", b""), seen.get("max_value", b"")
        if width is None or len(about["path"]) != 1 or "null_count" not in seen:
            continue
        if len(least) == len(most) == width:
            found[about["path"][0].decode()] = Noted(least, most, seen["null_count"])
    return found


class _Compact:
    """Values of Thrift's compact protocol, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def find_list(self, wanted: int) -> int:
        """Go to the list of structs that a field of the footer holds; return its length."""
        number = 0
        while (head := self._byte()) & 15 != _STOP:
            number = self._number(number, head)
            if number == wanted and head & 15 == _LIST:
                kind, size = self._list()
                if kind != _STRUCT:
                    raise ValueError(f"field {wanted} of the footer is no list of structs")
                return size
            self._value(head & 15, {})
        raise ValueError(f"the footer has no field {wanted}")

    def struct(self, shape: _Shape) -> dict[str, Any]:
        """Read a struct; fields that are not in the shape are passed over."""
        found: dict[str, Any] = {}
        number = 0
        while (head := self._byte()) & 15 != _STOP:
            number = self._number(number, head)
            name, inner = shape.get(number, (None, None))
            value = self._value(head & 15, inner or {})
            if name is not None:
                found[name] = value
        return found

    def _number(self, last: int, head: int) -> int:
        """Return the number of the field that a byte begins."""
        return last + (head >> 4) if head >> 4 else self._zigzag()

    def _list(self) -> tuple[int, int]:
        """Return the type of the entries of a list, and how many follow."""
        head = self._byte()
        return head & 15, self._varint() if head >> 4 == 15 else head >> 4

    def _value(self, kind: int, shape: _Shape, *, alone: bool = False) -> Any:
        if kind in (_TRUE, _FALSE):  # the value of a field is in its type; in a list it has a byte
            return self._byte() == _TRUE if alone else kind == _TRUE
        if kind in _VARINTS:
            return self._zigzag()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            inner, size = self._list()
            return [self._value(inner, shape, alone=True) for _ in range(size)]
        if kind == _STRUCT:
            return self.struct(shape)
        if kind == _BYTE:
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _MAP:
            size = self._varint()
            kinds = self._byte() if size else 0
            for _ in range(size):
                self._value(kinds >> 4, {}, alone=True)
                self._value(kinds & 15, {}, alone=True)
            return None
        raise ValueError(f"there is no type {kind} in Thrift's compact protocol")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise ValueError("the footer ends within a value")
        self._at += size
        return found

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number in the footer is longer than 64 bits")

    def _zigzag(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)
