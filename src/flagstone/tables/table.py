"""Table: one or many files of rows, read in batches as rows over a field."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from flagstone.algebra.fields import Field, FieldLike, as_field
from flagstone.disk import repeated
from flagstone.encoding import BadEntry, ColumnEncoder, Element, Encoding, Hex, frame_lengths
from flagstone.errors import InputError, Parameter
from flagstone.tables.batches import Batch, Reader, Request, checked_start
from flagstone.tables.encoded import Batches, EncodedBatch
from flagstone.tables.frames import length_text, most_common
from flagstone.tables.naming import columns_meant
from flagstone.tables.proposals import (
    ALL_MISSING,
    MOST_LEFT_OUT,
    SAMPLE_ROWS,
    FirstRows,
    MissingEntry,
    Proposal,
    accepted,
    are_elements,
    told_apart,
    warn_left_out,
    warn_of,
)
from flagstone.wording import closest


class Table:
    """Files of rows with the same columns, read one after the other.

    Made by :func:`open_table`. Nothing is kept in memory but one batch; `prefetch` and `RowCache`,
    beside it, keep some or all of them.

    Attributes
    ----------
    columns : tuple of str
    readers : list of Reader
        One for each file.
    files : list of Path or RemoteFile
    n_rows : int or None
        The number of rows, if the files say it without being read.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self.readers = list(readers)
        self.columns = readers[0].columns
        self.files = [reader.path for reader in readers]
        counts = [reader.n_rows for reader in readers]
        self.n_rows = None if None in counts else sum(n for n in counts if n is not None)
        if (twice := repeated(self.columns)) is not None:
            raise InputError(f"{self.files[0]}: two columns are called {twice!r}; rename one")
        try:
            "".join(self.columns).encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{self.files[0]}: the name of a column is no valid Unicode ({error})"
            ) from None
        for reader in readers[1:]:
            if reader.columns != self.columns:
                odd = sorted(set(reader.columns) ^ set(self.columns))
                raise InputError(
                    f"{reader.path}: its columns differ from those of {self.files[0]} "
                    f"({len(reader.columns)} and {len(self.columns)}"
                    + (f"; first difference {odd[0]!r})" if odd else "; in another order)")
                )

    def __repr__(self) -> str:
        rows = "?" if self.n_rows is None else str(self.n_rows)
        return f"Table({len(self.files)} file(s), {rows} rows, {len(self.columns)} columns)"

    def batches(
        self,
        columns: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
        start: Sequence[int] | None = None,
        most: int = 1 << 62,
        gaps: bool = False,
    ) -> Iterator[tuple[int, Batch]]:
        """Yield (file index, batch) of the chosen columns, unencoded.

        With ``most``, a look at this many rows is enough: only the first batch need be read. With
        ``gaps``, values of text may be missing, whatever its kind.
        """
        chosen = list(self.columns if columns is None else columns)
        self._check_columns(chosen)
        first, position = checked_start(start, self.readers) if start is not None else (0, None)
        for index in range(first, len(self.readers)):
            here = position if index == first else None
            asked = Request(chosen, kinds or {}, here, most, gaps)
            for batch in self.readers[index].batches(asked):
                yield index, batch

    def rows(
        self,
        encoding: Encoding,
        start: Sequence[int] | None = None,
        *,
        may_be_empty: bool = False,
    ) -> Batches:
        """Yield encoded batches, from the beginning or from a position of an earlier run.

        Raises
        ------
        InputError
            Naming file, row or line, column and value of the first entry that does not fit; and
            for a table without any row (that is left), which answers no question.
        """
        seen = skipped = 0
        read = self.batches(encoding.columns, encoding.kinds, start, gaps=encoding.drop_missing)
        for index, batch in read:
            kept = None
            try:
                kept = encoding.kept(batch.values)
                rows, labels = encoding.rows(batch.values if kept is None else batch.some(kept))
            except BadEntry as bad:
                at = bad.index if kept is None else int(kept[bad.index])
                place = batch.place(self.files[index], at)
                is_label = encoding.label is not None and bad.column == encoding.label.column
                where = f"{place}, {'label' if is_label else 'column'} {bad.column!r}"
                remedy = ["; choose a larger ", Parameter("field"), " or an encoder"]
                hint = remedy if "element of" in bad.problem else []
                raise InputError(f"{where}: {bad.problem}", *hint) from None
            left_out = batch.skipped + len(batch) - len(rows)
            seen += len(rows)
            skipped += left_out
            yield EncodedBatch(
                rows,
                labels,
                left_out,
                file=str(self.files[index]),
                first_row=batch.first_row,
                lines=batch.lines,
                after=(index, *batch.after),
                done=index + batch.done,
                index=kept,
            )
        if not seen and start is None and not may_be_empty:
            raise self._no_rows(skipped, encoding)

    def _first(
        self, columns: Sequence[str], kinds: Mapping[str, str] | None = None
    ) -> tuple[int, Batch]:
        """Return the first rows, from which encoders are proposed, and their file."""
        skipped = 0
        for file, batch in self.batches(columns, kinds, most=SAMPLE_ROWS):
            skipped += batch.skipped
            if len(batch):
                return file, batch
        raise self._no_rows(skipped)

    def _no_rows(self, skipped: int, encoding: Encoding | None = None) -> InputError:
        frames = [e for e in (encoding.encoders if encoding else ()) if e.holds_frames]
        if skipped and encoding is not None and encoding.drop_missing:
            return InputError(f"{self.files[0]}: a value is missing in every one of its rows")
        if skipped and frames:
            return InputError(
                f"{self.files[0]}: no rows are left: the frames of all {skipped:,} of them are of "
                f"another length than {frames[0].column}={frames[0].text} says; choose another ",
                Parameter("encode"),
            )
        if skipped:
            return InputError(
                f"{self.files[0]}: no rows are left: all {skipped:,} of them are of another length "
                f"than {len(self.columns)} bits; choose another ",
                Parameter("length"),
            )
        return InputError(f"{self.files[0]}: holds no rows")

    def proposals(
        self,
        columns: Sequence[str],
        field: FieldLike = 2,
        *,
        missing: str = "refuse",
        floats: str = "decimal",
    ) -> list[Proposal]:
        """Propose an encoder for each column from the first rows of the table."""
        found, check = self._proposals(columns, as_field(field), missing, floats)
        if missing == "refuse":
            check(columns)
        return found

    def _proposals(
        self, columns: Sequence[str], F: Field, missing: str, floats: str
    ) -> tuple[list[Proposal], Callable[[Sequence[str]], None]]:
        """Return proposals, and what refuses missing values in those columns that are read."""
        if all(reader.only_bits for reader in self.readers):
            reason = "bits are elements of every field"
            return [Proposal(c, Element(c), reason) for c in columns], lambda names: None
        file, batch = self._first(columns)
        if are_elements(columns, batch.values[:SAMPLE_ROWS], F):
            reason = f"whole numbers, all in {F.name}"
            return [Proposal(c, Element(c), reason) for c in columns], lambda names: None
        seen = {c: batch.column(i)[:SAMPLE_ROWS] for i, c in enumerate(columns)}
        rows = FirstRows(seen, missing)

        def check(names: Sequence[str]) -> None:
            try:
                rows.check(names)
            except MissingEntry as gap:
                place = batch.place(self.files[file], gap.index)
                raise _missing_error(gap, f"{place}, column {gap.column!r}", rows, names) from None
            except InputError as error:
                raise InputError(f"{self.files[file]}: ", *error.args) from None

        try:
            return rows.proposals(F, floats=floats, parse=True), check
        except ValueError as error:
            said = error.args if isinstance(error, InputError) else (str(error),)
            raise InputError(f"{self.files[file]}: ", *said) from None

    def encoding(
        self,
        field: FieldLike = 2,
        *,
        columns: Sequence[str] | None = None,
        label: str | None = None,
        encode: Mapping[str, str] | str | None = None,
        missing: str = "refuse",
        floats: str = "decimal",
    ) -> Encoding:
        """Decide how the table becomes rows over a field, without coercing anything silently.

        Parameters
        ----------
        field : Field, int or str
        columns : list of str, optional
            The feature columns, by name, range (``"x13..x40"``), byte and bit of a frame
            (``"b3.5"``, see :mod:`flagstone.tables.naming`) or glob pattern (``"b*"``);
            ``"-name"`` leaves one out. Default: all but the label.
        label : str, optional
        encode : mapping of column (or glob pattern) to encoder text, or "auto"
            Columns without an encoder must hold elements of the field already; "auto" (or
            ``{"*": "auto"}``) accepts what :meth:`proposals` says; columns beside frames
            that are not named by the user are left out.
        missing : {"refuse", "drop", "level"}
            What to do with missing values: null, NaN, empty, and with "drop" and "level" also
            texts such as NA, unless an encoder lists them. "drop" leaves their rows out, "level"
            makes them a value of their column.
        floats : {"decimal", "refuse"}
            Over QQ, binary floats are read by their shortest decimal form, or refused.

        Raises
        ------
        InputError
            For unknown columns (with the closest names), and for columns that need an
            encoder (with a proposal and its reason).
        """
        F = as_field(field)
        chosen = self.chosen(columns, label)
        wanted = {"*": encode} if isinstance(encode, str) else dict(encode or {})
        every = [*chosen, *([label] if label is not None else [])]
        given = encoders_asked(wanted, every)
        encoders: dict[str, ColumnEncoder] = {}
        for name, text in given.items():
            if text == Hex.kind:
                encoders[name] = self._frames(name)
            elif text not in (None, "auto"):
                encoders[name] = ColumnEncoder.parse(name, str(text))
        if open_ones := [name for name in every if name not in encoders]:
            file = str(self.files[0])
            found, check = self._proposals(open_ones, F, missing, floats)
            automatic = {name for name in open_ones if given[name] is not None}
            left_out: list[Proposal] = []
            if all(name.startswith("-") for name in columns or ()):
                found, left_out = told_apart(found, encoders, F, label, automatic)
            judged = list(found)
            if F.order is not None and missing == "refuse":  # that a value is missing may say much
                judged += left_out
            check([p.column for p in judged if p.reason != ALL_MISSING])
            try:
                encoders = accepted(found, encoders, F, label, automatic)
            except InputError as error:
                raise InputError(f"{file}: ", *error.args) from None
            warn_left_out(left_out, file)
            warn_of(found, file, missing)
        features = tuple(encoders[name] for name in chosen if name in encoders)
        if not features:
            raise InputError("no feature column is left; choose them with ", Parameter("columns"))
        target = encoders[label] if label is not None else None
        if target is not None and target.width != 1:
            raise InputError(
                f"the label {label!r} must become one element of {F.name}, but {target.text} makes "
                f"{target.width} columns of it; choose another encoder: ",
                Parameter("encode", {target.column: "levels:no,yes"}),
            )
        return Encoding(F, features, target, drop_missing=missing == "drop")

    def _frames(self, name: str) -> ColumnEncoder:
        """Return the encoder of a column of frames; those looked at must have one length."""
        file, batch = self._first([name], {name: "text"})
        try:
            lengths = frame_lengths(batch.column(0)[:SAMPLE_ROWS])
        except BadEntry as bad:
            place = batch.place(self.files[file], bad.index)
            raise InputError(f"{place}, column {name!r}: {bad.problem}") from None
        usual = str(most_common(lengths))
        if len(lengths) > 1:
            raise InputError(
                f"{self.files[file]}, column {name!r}: its frames have several lengths "
                f"({length_text(lengths)}); choose one, and the others are counted: ",
                Parameter("encode", {name: f"hex:{usual}"}),
            )
        return ColumnEncoder.parse(name, f"hex:{usual}")

    def chosen(self, columns: Sequence[str] | None, label: str | None = None) -> list[str]:
        """Return the names of the feature columns that are meant, as for :meth:`encoding`."""
        if label is not None:
            self._check_columns([label], "label ")
        known = dict.fromkeys(self.columns)  # sets that keep their order
        unwanted = {c: c[1:] for c in columns or [] if c.startswith("-") and c not in known}
        patterns = [c for c in columns or [] if c not in unwanted]
        chosen: dict[str, None] = {} if patterns else dict(known)
        for pattern in patterns:
            chosen |= dict.fromkeys(self._matching(pattern, known))
        for pattern in unwanted.values():
            for name in self._matching(pattern, chosen):
                del chosen[name]
        return [name for name in chosen if name != label]

    def _matching(self, pattern: str, names: Mapping[str, None]) -> list[str]:
        if pattern in names:
            return [pattern]
        meant = (self.columns[i] for i in columns_meant(pattern, self.columns))
        found = [name for name in meant if name in names]
        found = found or [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            self._check_columns([pattern])
        return found

    def _check_columns(self, names: Sequence[str], role: str = "") -> None:
        known = set(self.columns)
        for name in names:
            if name not in known:
                others = [column for column in self.columns if column not in names]
                kind = "columns" if len(others) == len(self.columns) else "other columns"
                shown = ", ".join(others[:6]) + (", …" if len(others) > 6 else "")
                listed = f" ({kind}: {shown})" if others else ""
                raise InputError(
                    f"{self.files[0]}: there is no {role}column {name!r}"
                    f"{closest(name, others) or listed}"
                )

    def identity(self) -> str:
        """Return a strong id of the files: the hash of their names and of every byte.

        Resumed runs compare it, so that a checkpoint never continues on other data. Times do
        not count: a file that was copied or touched is still the same.
        """
        digest = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as stream:
                content = hashlib.file_digest(cast("Any", stream), "sha256").hexdigest()
            digest.update(json.dumps([str(path), content]).encode())
        return digest.hexdigest()


def _missing_error(
    gap: MissingEntry, where: str, rows: FirstRows, names: Sequence[str]
) -> InputError:
    """Return the error for missing values of columns that are read, with every way on."""
    told: list[str | Parameter] = [
        f"{where}: the value is missing ({gap.counted}, among the "
        f"{len(rows.columns[gap.column]):,} rows looked at); leave such rows out with ",
        Parameter("missing", "drop"),
        ", or give them a level of their own with ",
        Parameter("missing", "level"),
    ]
    if len(gap.counts) < len(names) and len(gap.counts) <= MOST_LEFT_OUT:
        left_out = Parameter("columns", [f"-{name}" for name in gap.counts])
        which = "column" if len(gap.counts) == 1 else "columns"
        told += [f", or leave the {which} out with ", left_out]
    return InputError(*told)


def encoders_asked(wanted: Mapping[str, str], names: Sequence[str]) -> dict[str, str | None]:
    """Return the encoder that is wanted for each column: by its name, else by a pattern.

    A name or pattern that stands for none of the columns is refused.
    """
    known = set(names)
    for pattern in [text for text in wanted if text not in known]:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
            raise InputError(
                Parameter("encode"),
                f" names the column {pattern!r}, which is not among the chosen ones"
                f"{closest(pattern, names)}",
            )
    return {name: _lookup(wanted, name) for name in names}


def _lookup(wanted: Mapping[str, str], name: str) -> str | None:
    """Return the encoder asked for: by the very name, else by the first pattern that fits."""
    if name in wanted:
        return wanted[name]
    return next((t for p, t in wanted.items() if fnmatch.fnmatchcase(name, p)), None)
