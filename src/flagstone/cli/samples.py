"""Rows of files as any learner takes them: numbers as they are, and columns that are encoded."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from flagstone.cli.console import refuse_options
from flagstone.cli.inputs import chosen_columns, encoders_given, open_tables, say_proposals
from flagstone.cli.verbs import AuditOptions
from flagstone.encoding import Element
from flagstone.errors import InputError, Parameter
from flagstone.tables import Table
from flagstone.tables.batches import Array
from flagstone.tables.proposals import FirstRows, MissingEntry
from flagstone.tables.table import encoders_asked

#: Exact for all that encoders make of cells: 0 and 1, numbers of levels, numbers as they are.
_FIELD = "QQ"


def read_sample(files: Sequence[str], options: AuditOptions) -> tuple[tuple[Array, Any], Any]:
    """Return features, which are numbers, with their labels; and the groups.

    Columns that --encode names are encoded; "auto" is for text. The others are read as they are,
    and so is the label, unless --encode names it.
    """
    why = "is for our own estimators; a learner gets numbers as they are: leave it out"
    refuse_options(options, ["field", "floats"], why)
    table, label, groups = open_tables(files, options), options.label, options.groups
    features = [n for n in table.chosen(chosen_columns(options, table), label) if n != groups]
    cells = _Cells(table, [*features, *(name for name in (label, groups) if name is not None)])

    wanted = encoders_given(options.encode)
    asked = encoders_asked(wanted, features if label is None else [*features, label])
    named = {
        name: text
        for name, text in asked.items()
        if text is not None and (text != "auto" or name in cells.texts)
        if name != label or name in wanted  # a label may be text
    }
    plain = [name for name in cells.columns if name not in named]
    cells.refuse_text([name for name in features if name in plain])
    encoded, kept = _encoded(table, named, options) if named else ({}, cells.all_rows)
    if options.missing == "drop":
        kept = np.logical_and.reduce([kept, *(~cells.gaps[name] for name in plain)])
    else:
        cells.refuse_missing(plain)

    def column(name: str) -> Array:
        found = encoded[name] if name in encoded else cells.columns[name]
        return _numbers(found[kept])

    X = np.column_stack([column(n) for n in features if n in plain or n in encoded])
    y = None if label is None else column(label)
    return (X, y), None if groups is None else column(groups)


class _Cells:
    """The cells of some columns as they were read, and where each row stands."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self._table, self._read = table, list(table.batches(names, gaps=True))
        self.all_rows = np.ones(sum(len(batch) for _, batch in self._read), dtype=bool)
        if not len(self.all_rows):
            raise InputError(f"{table.files[0]}: holds no rows")
        parts = [[batch.column(i) for _, batch in self._read] for i in range(len(names))]
        self.columns = dict(zip(names, map(np.concatenate, parts), strict=True))
        self.gaps = {name: Element(name).missing(cells) for name, cells in self.columns.items()}
        given = {name: cells[~self.gaps[name]] for name, cells in self.columns.items()}
        self.texts = {name for name, cells in given.items() if _is_text(cells)}

    def refuse_missing(self, names: Sequence[str]) -> None:
        """Refuse missing values."""
        try:
            FirstRows({name: self.columns[name] for name in names}, "refuse").check(names)
        except MissingEntry as gap:
            raise InputError(
                f"{self._place(gap.index)}, column {gap.column!r}: the value is missing "
                f"({gap.counted}); leave such rows out with ",
                Parameter("missing", "drop"),
            ) from None

    def refuse_text(self, names: Collection[str]) -> None:
        """Refuse columns that hold text, with the first one."""
        for name in names:
            if name in self.texts:
                cells, gaps = self.columns[name], self.gaps[name]
                text = (i for i in range(len(cells)) if not gaps[i] and _is_text(cells[i : i + 1]))
                index = next(text)
                raise InputError(
                    f"{self._place(index)}, column {name!r}: holds text such as "
                    f"{str(cells[index])!r}; make numbers of columns of text with ",
                    Parameter("encode", "auto"),
                    ", or leave it out with ",
                    Parameter("columns", [f"-{name}"]),
                )

    def _place(self, index: int) -> str:
        for file, batch in self._read:
            if index < len(batch):
                return str(batch.place(self._table.files[file], index))
            index -= len(batch)
        raise IndexError(index)


def _encoded(
    table: Table, named: Mapping[str, str], options: AuditOptions
) -> tuple[dict[str, Array], Array]:
    """Return the columns that encoders make of the named ones, and which rows are kept.

    Columns that are better left out are not among them, unless the user chose the columns.
    """
    others = [f"-{name}" for name in table.columns if name not in named]
    encoding = table.encoding(
        _FIELD,
        columns=list(named) if options.columns else others,
        encode=named,
        missing=options.missing,
    )
    label = next((one for one in encoding.encoders if one.column == options.label), None)
    if label is not None and label.width > 1:
        raise InputError(
            f"the label {label.column!r} must stay one column, but {label.text} makes "
            f"{label.width} of it; leave it as it is, or number its values: ",
            Parameter("encode", {label.column: "levels:no,yes"}),
        )
    if "auto" in named.values():
        say_proposals(table, encoding, options)
    parts, kept = [], []
    for batch in table.rows(encoding):
        parts.append(batch.matrix)
        read = np.zeros(len(batch) + batch.skipped, dtype=bool)
        read[slice(None) if batch.index is None else batch.index] = True
        kept.append(read)
    mask = np.concatenate(kept)
    found = np.concatenate(parts)
    is_whole = all(value.denominator == 1 and abs(value) < 1 << 53 for value in found.flat)
    matrix = np.zeros((len(mask), len(encoding.names)), dtype=np.int64 if is_whole else np.float64)
    matrix[mask] = found
    return {encoder.column: matrix[:, part] for encoder, part in encoding.parts}, mask


def _numbers(column: Array) -> Array:
    """Return a column of texts as whole numbers or floats, if all of them are."""
    for kind in (np.int64, np.float64):
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            return np.asarray(column.astype(kind))
    return np.asarray(column.astype(str))


def _is_text(column: Array) -> bool:
    return bool(_numbers(column).dtype.kind == "U")
