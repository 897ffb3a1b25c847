"""FieldEncoder: real tables to field elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from flagstone.algebra.fields import Array, Field, as_field
from flagstone.encoding import BadEntry, ColumnEncoder, Encoding, Mod
from flagstone.errors import InputError, Parameter
from flagstone.estimators.atomic import all_or_nothing
from flagstone.estimators.contracts import check_parameters, one_of
from flagstone.estimators.input_rows import feature_names, named_columns
from flagstone.exact import exact_column, exact_floor, exact_integers, missing_entries
from flagstone.tables.memory import are_numbers, plain_table, typed_column
from flagstone.tables.proposals import MissingEntry, Proposal, propose_columns, warn_of

_CONTRACTS = {
    "encoders": lambda name, value: None,
    "handle_unknown": one_of("error", "ignore"),
    "missing": one_of("refuse", "level"),
}


@dataclass(kw_only=True, eq=False, repr=False)
class FieldEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table into elements of a field.

    Each column gets an encoder, proposed from its values or named by the caller:

    - true and false, and whole numbers in the field, stay as they are;
    - text with two values becomes 0 and 1, in sorted order, and over GF(2) two numbers that repeat
      do, such as -1 and 1;
    - text with more values becomes one column per value;
    - whole numbers beyond the field become their bits, least significant first.

    Anything that would lose information (fractions, negative numbers, identifiers) is refused
    until an encoder is named for it.

    Parameters
    ----------
    field : Field, int or str, default=2
    encoders : dict of str to str, optional
        Encoders by column name, in the form of the command line: ``"element"``,
        ``"levels:no,yes"``, ``"onehot:red,green,blue"``, ``"bits:8"``, ``"above:3.5"``,
        ``"mod"``, ``"hex:48"``. Columns without a name are x0, x1, ….
    out_of_field : {"raise", "reduce"}, default="raise"
        With ``"reduce"`` numbers are mapped into the field: floor, then modulo q.
    handle_unknown : {"error", "ignore"}, default="error"
        What ``transform`` does with a category that the fit did not see, as a rare one in a fold:
        refuse it with its row, or write zeros for it in all columns of its encoder.
    missing : {"refuse", "level"}, default="refuse"
        What to do with missing values (None, NaN, and with ``"level"`` texts such as NA): refuse
        them with their count and the first row, or list them as the value ``(missing)`` of their
        column. A transformer keeps all rows, so to drop rows call ``X.dropna()`` before.

    Attributes
    ----------
    encoders_ : dict of str to str
        The encoder of every column. Publish it: a second run must encode alike, and a
        proposal depends on the values seen.
    left_out_ : dict of str to str
        Columns that were dropped (text that never varies), and why.
    encoding_ : Encoding
        The same as a value.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X had names.

    Notes
    -----
    **Guarantees**

    ``transform`` is a function of ``encoders_`` and of the row alone. A value that has no code
    is refused with its row and column, never guessed; unless ``handle_unknown`` says otherwise.

    Examples
    --------
    >>> import pandas as pd
    >>> from flagstone import FieldEncoder
    >>> table = pd.DataFrame({"on": [True, False, True], "mode": ["a", "b", "a"], "n": [0, 3, 2]})
    >>> encoder = FieldEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['on', 'mode', 'n[0]', 'n[1]']
    >>> encoder.transform(table).tolist()
    [[1, 0, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1]]
    >>> encoder.encoders_
    {'on': 'element', 'mode': 'levels:a,b', 'n': 'bits:2'}
    """

    field: Any = 2
    encoders: dict[str, str] | None = None
    out_of_field: str = "raise"
    handle_unknown: str = "error"
    missing: str = "refuse"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose an encoder for every column.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._choose(X)
        return self

    def _choose(self, X: Any) -> None:
        field = as_field(self.field)
        check_parameters(self, _CONTRACTS)
        columns = self._columns(X, reset=True)
        named = dict(self.encoders or {})
        if unknown := [name for name in named if name not in columns]:
            raise InputError(
                f"encoders names column {unknown[0]!r}, but X has {', '.join(map(repr, columns))}"
            )
        chosen: list[ColumnEncoder] = []
        self.left_out_: dict[str, str] = {}
        proposals = self._proposals(columns, field)
        for name, values in columns.items():
            if name in named:
                encoder: ColumnEncoder | None = ColumnEncoder.parse(name, named[name])
            else:
                encoder = self._accept(proposals[name], values, field)
            if encoder is not None:
                chosen.append(encoder)
        if not chosen:
            raise InputError(f"no column of X carries information: {self.left_out_}")
        self.encoding_ = Encoding(field, tuple(chosen))
        self._encode(columns)

    def transform(self, X: Any) -> Array:
        """Return the encoded table, an array of field elements."""
        check_is_fitted(self)
        return self._encode(self._columns(X, reset=False))

    @property
    def encoders_(self) -> dict[str, str]:
        """The encoder of every column that is kept, as text."""
        check_is_fitted(self)
        return {encoder.column: encoder.text for encoder in self.encoding_.encoders}

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the encoded columns, such as ``n[0]`` or ``colour=red``."""
        feature_names(self, input_features)
        return np.array(self.encoding_.names, dtype=object)

    def _proposals(self, columns: dict[str, Array], field: Field) -> dict[str, Proposal]:
        """Propose an encoder for every column that has none, or refuse missing values."""
        try:
            asked = {n: v for n, v in columns.items() if n not in (self.encoders or {})}
            found = propose_columns(asked, field, missing=self.missing)
        except MissingEntry as gap:
            raise InputError(
                f"X: row {gap.index}, column {gap.column!r} is missing ({gap.counted}), None or "
                "NaN; fill it in, drop the rows (X.dropna()), or make it a value of its own with ",
                Parameter("missing", "level"),
            ) from None
        warn_of(found, "X", self.missing, ways=["level"])
        return {proposal.column: proposal for proposal in found}

    def _accept(self, proposal: Proposal, values: Array, field: Field) -> ColumnEncoder | None:
        name = proposal.column
        if self.out_of_field == "reduce" and are_numbers(values) and field.order is not None:
            return Mod(name)
        if proposal.encoder is None and len(set(values.tolist())) == 1:
            self.left_out_[name] = proposal.reason
            return None
        encoder = proposal.encoder
        if encoder is not None and encoder.loses_nothing:
            return encoder
        below = are_numbers(values) and min(values.tolist()) < 0
        problem = f"{'Negative values in data: ' * below}column {name!r} holds {proposal.reason}"
        if encoder is None:
            remedy = f"FieldEncoder(encoders={{{name!r}: ...}})"
            raise InputError(f"{problem}; drop it, or name its encoder: {remedy}")
        raise InputError(
            f"{problem}. ",
            *encoder.advice,
            f"To encode it ({encoder.usage.partition(' - ')[2]}): "
            f"FieldEncoder(encoders={{{name!r}: {encoder.text!r}}}); or drop the column",
        )

    def _encode(self, columns: dict[str, Array]) -> Array:
        values = []
        for encoder in self.encoding_.encoders:
            column = columns[encoder.column]
            values.append(_floored(column) if isinstance(encoder, Mod) else column)
        try:
            found = self.encoding_.matrix(values, ignore_unknown=self.handle_unknown == "ignore")
        except BadEntry as bad:
            entry = " (NaN)" * bool(missing_entries(columns[bad.column])[bad.index])
            raise InputError(
                f"X: row {bad.index}, column {bad.column!r}{entry}: {bad.problem}"
            ) from None
        return np.ascontiguousarray(found)

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Array]:
        """Return the columns by name, each with its own type."""
        table = plain_table(X)
        known = named_columns(table)
        if known is not None:
            validate_data(self, known, reset=reset, skip_check_array=True)
            frame = nw.from_native(table, eager_only=True)
            if not frame.shape[0]:
                raise InputError("Found array with 0 sample(s) while a minimum of 1 is required.")
            series = [frame[:, i] for i in range(frame.shape[1])]
            arrays = [exact_column(one.to_native()) for one in series]
        else:
            array = validate_data(self, table, reset=reset, dtype=None, ensure_all_finite=False)
            arrays = [exact_column(array[:, j]) for j in range(array.shape[1])]
        named = zip(feature_names(self), arrays, strict=True)
        return {name: typed_column(values, name) for name, values in named}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        finite = as_field(self.field).order is not None
        tags.input_tags.positive_only = finite and self.out_of_field == "raise"
        return tags


def _floored(values: Array) -> Array:
    if values.dtype.kind == "f":
        return np.floor(values)
    if values.dtype != object or not are_numbers(values):
        return values
    return exact_integers([int(exact_floor(v) or 0) for v in values.tolist()])
