"""Labels as field elements, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from flagstone.algebra.fields import Array, Field
from flagstone.errors import InputError
from flagstone.estimators.labels import refuse_label, some_of


@dataclass(frozen=True, eq=False)
class LabelCoder:
    """Which label is which field element.

    Whole numbers that are elements of the field are used as they are, even if only some of
    them occur: over GF(3) the labels {0, 2} are 0 and 2. True and False are 1 and 0. All other
    labels, such as {-1, 1} or {"no", "yes"}, are numbered 0, 1, … in sorted order. ``closed``
    labels were named by the caller: no other may come, and their code owes nothing to the
    sample.
    """

    classes: Array
    field: Field
    by_value: bool
    closed: bool = False
    first: int = 0  #: The number of the first label.

    @classmethod
    def of(cls, classes: Array, field: Field, *, closed: bool = False) -> LabelCoder:
        """Return the coder of sorted distinct labels, or raise an error."""
        if field.order is None:
            return cls(classes, field, True, closed)
        check_classification_targets(classes)
        if _are_elements(classes, field.order):
            return cls(classes, field, True, closed)
        if len(classes) > field.order:
            binary = "Only binary classification is supported. " if field.order == 2 else ""
            raise InputError(
                f"{binary}y has {len(classes)} distinct labels ({some_of(classes.tolist())}), but "
                f"{field} has {field.order} elements; use a field of order {len(classes)} or more, "
                "or merge labels"
            )
        return cls(classes, field, False, closed)

    @property
    def is_settled(self) -> bool:
        """Whether a label has the same code in every sample.

        A sample that shows 1 alone reads it by value; one that shows 1 and 10 numbers both. So
        values are settled only where no further label can come: all elements are there.
        """
        if self.closed or not self.by_value:
            return self.closed
        return self.classes.dtype.kind == "b" or self.field.order in (None, len(self.classes))

    def encode(self, labels: Array) -> Array:
        """Return the elements of labels; raise for the first unknown one."""
        if self.by_value:
            return self._elements(labels)
        place = np.clip(np.searchsorted(self.classes, labels), 0, len(self.classes) - 1)
        known = self.classes[place] == labels
        if not np.all(known):
            refuse_label(labels[int(np.argmin(known))], self.classes)
        return (place + self.first).astype(self.field.dtype)

    def decode(self, elements: Array) -> tuple[Array, Array]:
        """Return the labels of elements, and which of these have one."""
        if self.by_value:
            return self._values(elements), np.ones(len(elements), dtype=bool)
        place = elements.astype(np.int64) - self.first
        known = (place >= 0) & (place < len(self.classes))
        return self.classes[np.where(known, place, 0)], known

    def including(self, found: Array) -> LabelCoder:
        """Return the coder with the labels found in more rows."""
        if not self.by_value:
            return self
        fresh = np.setdiff1d(found, self.classes)
        if not len(fresh):
            return self
        if self.closed:
            refuse_label(fresh[0], self.classes)
        self._elements(fresh)
        return LabelCoder(np.union1d(self.classes, fresh), self.field, True)

    def _elements(self, labels: Array) -> Array:
        order = self.field.order
        if order is not None and labels.dtype.kind in "bui" and len(labels):
            if labels.dtype.kind == "b" or (labels.min() >= 0 and int(labels.max()) < order):
                return labels.astype(self.field.dtype, copy=False)
        elif order is not None and labels.dtype.kind in "US":
            refuse_label(labels[0], self.classes)
        try:
            return self.field.array(self.field.rows(labels[:, np.newaxis], name="y"))[:, 0]
        except InputError as error:
            if order is None:
                raise
            raise InputError(
                f"{error}; labels that are no elements of {self.field} must all be named with "
                "classes=[...]"
            ) from None

    def _values(self, elements: Array) -> Array:
        dtype = self.classes.dtype
        if self.field.order is not None:
            if dtype.kind == "b":
                return elements.astype(bool) if self.field.order == 2 else elements
            if dtype.kind in "uif" and np.can_cast(elements.dtype, dtype):
                return elements.astype(dtype)
            return _cast(elements.astype(np.int64), dtype)
        if dtype.kind in "US" or any(isinstance(v, str) for v in self.classes[:1]):
            texts = dict(zip(self._elements(self.classes), self.classes.tolist(), strict=True))
            return np.array([texts.get(v, self.field.format(v)) for v in elements], dtype=str)
        if dtype.kind == "O" or any(v.denominator != 1 for v in elements):
            return elements
        try:
            return _cast(np.array([int(v) for v in elements], dtype=np.int64), dtype)
        except OverflowError:
            return elements


class SignCoder(LabelCoder):
    """Two labels, of which the larger is positive (1) and the other negative (0).

    A single 1 or True is positive and a single 0, -1 or False negative, as in {0, 1} and
    {-1, 1}; of any other single label nothing says which it is.
    """

    @classmethod
    def of(cls, classes: Array, field: Field, *, closed: bool = False) -> SignCoder:
        """Return the coder of one or two labels, or raise an error."""
        check_classification_targets(classes)
        if len(classes) > 2:
            raise InputError(
                f"Only binary classification is supported. y has {len(classes)} distinct labels; "
                "an example lies in the subspace or it does not"
            )
        if len(classes) == 2:
            return cls(classes, field, False, closed)
        if classes.dtype.kind not in "buif" or classes[0] not in (-1, 0, 1):
            raise InputError(
                f"y has only one class, {classes.tolist()[0]!r}, and nothing says whether it is "
                "the positive one; use 0 and 1, or name both: classes=[...], the larger is positive"
            )
        return cls(classes, field, False, closed, first=int(classes[0] > 0))

    @property
    def is_settled(self) -> bool:
        """Whether a label has the same sign in every sample."""
        return self.closed or self.classes.tolist() in ([0, 1], [-1, 1])

    def including(self, found: Array) -> SignCoder:
        """Return the coder with the labels found in more rows."""
        fresh = np.setdiff1d(found, self.classes)
        if not len(fresh):
            return self
        wider = np.union1d(self.classes, fresh)
        # What was counted as negative or positive so far must stay so.
        if self.closed or len(wider) > 2 or wider[self.first] != self.classes[0]:
            refuse_label(fresh[0], self.classes)
        return SignCoder(wider, self.field, False)


def _are_elements(classes: Array, order: int) -> bool:
    if classes.dtype.kind == "b":
        return True
    if classes.dtype.kind not in "uif":
        return False
    whole = classes.dtype.kind != "f" or bool((classes == np.floor(classes)).all())
    return whole and classes[0] >= 0 and bool(classes[-1] < order)


def _cast(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return whole numbers in the dtype of the labels, or as they are where it is too small."""
    if dtype.kind not in "uif":
        return values
    with np.errstate(over="ignore"):
        out = values.astype(dtype)
        back = out.astype(np.int64)
    return out if bool((back == values).all() and ((out < 0) == (values < 0)).all()) else values
