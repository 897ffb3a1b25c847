"""Finite fields of python-flint, an independent implementation to compare ours with.

An element of GF(p^k) is written as the integer whose digits in base p are its coefficients.
"""

import flint
import numpy as np


class FlintField:
    """GF(order) in python-flint, with our integers for its elements."""

    def __init__(self, order):
        ((p, k),) = flint.fmpz(order).factor()
        self.p, self.k = int(p), k
        self.context = flint.fq_default_ctx(self.p, k, "x")

    def element(self, value):
        digits = []
        for _ in range(self.k):
            value, digit = divmod(int(value), self.p)
            digits.append(digit)
        return self.context(digits)

    def integer(self, element):
        return sum(int(digit) * self.p**i for i, digit in enumerate(element.to_list()))

    def elements(self, values):
        """An array of python-flint's elements, which NumPy adds and multiplies one by one."""
        array = np.empty(np.shape(values), dtype=object)
        for i in np.ndindex(array.shape):
            array[i] = self.element(values[i])
        return array

    def integers(self, elements):
        return np.vectorize(self.integer, otypes=[np.int64])(elements)

    def row_reduce(self, X):
        """The nonzero rows of the reduced row echelon form, by Gauss and Jordan."""
        rows, rank = self.elements(X), 0
        zero = self.element(0)
        for j in range(rows.shape[1]):
            pivot = next((i for i in range(rank, len(rows)) if rows[i, j] != zero), None)
            if pivot is None:
                continue
            rows[[rank, pivot]] = rows[[pivot, rank]]
            rows[rank] = rows[rank] * rows[rank, j].inverse()
            for i in range(len(rows)):
                if i != rank and rows[i, j] != zero:
                    rows[i] = rows[i] - rows[i, j] * rows[rank]
            rank += 1
        return self.integers(rows[:rank]).reshape(rank, rows.shape[1])

    def annihilates(self, X, Y):
        """Is every product of a row of X with a row of Y zero?"""
        products = self.elements(X) @ self.elements(Y).T
        return not self.integers(products).any()
