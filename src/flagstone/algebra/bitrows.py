"""BitRows: rows over GF(2), packed into 64-bit words."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from flagstone.checks import checked_dim
from flagstone.errors import InputError

Words = np.ndarray[Any, np.dtype[np.uint64]]


class BitRows:
    """Rows over GF(2), packed: column i is bit ``i % 64`` of word ``i // 64``.

    Accepted wherever rows over GF(2) are. The words are held as they are given (read-only,
    not copied), so packed data from a file costs nothing to wrap.

    Parameters
    ----------
    words : array of uint64, shape (n_rows, ceil(dim / 64))
        Bits past ``dim`` must be zero.
    dim : int
        The number of columns.

    Examples
    --------
    >>> from flagstone import pack
    >>> rows = pack([[1, 0, 1], [0, 1, 1]])
    >>> rows
    BitRows(2 rows, dim=3)
    >>> rows.words.tolist()
    [[5], [6]]
    >>> rows[1:].unpack().tolist()
    [[0, 1, 1]]
    """

    __slots__ = ("dim", "words")

    words: Words
    dim: int

    def __init__(self, words: Any, dim: int) -> None:
        array = np.asarray(words)
        if array.dtype != np.uint64 or array.ndim != 2:
            raise InputError(
                "packed words must be a 2-D array of uint64, got "
                f"{array.ndim}-D {array.dtype}; use flagstone.pack(X) to pack 0/1 rows"
            )
        dim = checked_dim(dim)
        n_words = -(-dim // 64)
        if array.shape[1] != n_words:
            raise InputError(f"dim={dim} needs {n_words} word(s) per row, got {array.shape[1]}")
        array = np.require(array, requirements=("C", "A"))
        if dim % 64:
            stray = array[:, -1] >> np.uint64(dim % 64)
            if stray.any():
                row = int(np.argmax(stray != 0))
                raise InputError(
                    f"row {row} has a bit set past column {dim - 1}; bits past dim={dim} must be 0"
                )
        self._set(array, dim)

    @classmethod
    def trusted(cls, words: Words, dim: int) -> BitRows:
        """Wrap words that a kernel made, without looking at them again."""
        rows = cls.__new__(cls)
        rows._set(words, dim)
        return rows

    def _set(self, words: Words, dim: int) -> None:
        view = words.view()
        view.flags.writeable = False
        object.__setattr__(self, "words", view)
        object.__setattr__(self, "dim", dim)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("BitRows are immutable")

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rows, number of columns), as of the unpacked array."""
        return len(self.words), self.dim

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, index: int) -> np.ndarray[Any, Any]: ...
    @overload
    def __getitem__(self, index: slice | np.ndarray[Any, Any] | list[int]) -> BitRows: ...
    def __getitem__(self, index: Any) -> Any:
        """Rows by slice, mask or index array as BitRows; a single row as a 0/1 array."""
        if isinstance(index, (int, np.integer)):
            one = self.words[index][np.newaxis]
            return BitRows.trusted(np.ascontiguousarray(one), self.dim).unpack()[0]
        if isinstance(index, np.ndarray) and index.dtype == np.int64:
            return BitRows.trusted(self.words.take(index, axis=0), self.dim)  # the same, faster
        return BitRows.trusted(np.ascontiguousarray(self.words[index]), self.dim)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BitRows):
            return NotImplemented
        return self.dim == other.dim and np.array_equal(self.words, other.words)

    def __hash__(self) -> int:
        return hash((self.dim, self.words.tobytes()))

    def __reduce__(self) -> tuple[type[BitRows], tuple[Words, int]]:
        return BitRows, (self.words, self.dim)

    def __repr__(self) -> str:
        return f"BitRows({len(self)} rows, dim={self.dim})"

    def split_last(self) -> tuple[BitRows, np.ndarray[Any, np.dtype[np.uint8]]]:
        """Return all columns but the last one, packed, and the last one as 0 and 1.

        >>> from flagstone import pack
        >>> features, label = pack([[1, 0, 1], [0, 1, 0]]).split_last()
        >>> features.unpack().tolist(), label.tolist()
        ([[1, 0], [0, 1]], [1, 0])
        """
        word, bit = divmod(self.dim - 1, 64)
        last = self.words[:, word] >> np.uint64(bit)
        words = self.words[:, : max(1, -(-(self.dim - 1) // 64))].copy()
        if word < words.shape[1]:
            words[:, word] ^= last << np.uint64(bit)
        return BitRows.trusted(words, self.dim - 1), last.astype(np.uint8)

    def unpack(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return the rows as a plain 0/1 array, shape (n_rows, dim)."""
        octets = self.words.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.dim, bitorder="little")

    def columns_from(self, first: int) -> BitRows:
        """Return the columns from ``first`` on.

        >>> from flagstone import pack
        >>> pack([[1, 0, 1], [0, 1, 0]]).columns_from(1).unpack().tolist()
        [[0, 1], [1, 0]]
        """
        skipped, shift = divmod(first, 64)
        width = max(1, -(-(self.dim - first) // 64))
        words = np.zeros((len(self.words), width), np.uint64)
        low, high = self.words[:, skipped:], self.words[:, skipped + 1 :][:, :width]
        words[:, : low.shape[1]] = low[:, :width] >> np.uint64(shift)
        words[:, : high.shape[1]] |= high << np.uint64(1) << np.uint64(63 - shift)
        return BitRows.trusted(words, self.dim - first)

    def reaches(self, first: int) -> NDArray[np.bool_]:
        """Say of each row whether it has a 1 in column ``first`` or a later one.

        >>> from flagstone import pack
        >>> pack([[1, 0, 1], [0, 1, 0]]).reaches(2).tolist()
        [True, False]
        """
        skipped, shift = divmod(first, 64)
        found = np.zeros(len(self.words), np.uint64)
        for word in self.words.T[skipped + 1 :]:
            found |= word
        for word in self.words.T[skipped : skipped + 1]:
            found |= word >> np.uint64(shift)
        return np.asarray(found != 0)
