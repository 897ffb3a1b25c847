"""The solutions of a linear system, read off an echelon form."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from flagstone.algebra.fields import Array, Field
from flagstone.algebra.subspace import Subspace
from flagstone.answers._sparse import sparsest
from flagstone.errors import InputError, Parameter


class VectorCoins(Protocol):
    """Whoever draws a uniform vector by name: published coins, or a secret source."""

    def vector(self, name: str, field: Any, length: int, /) -> Array: ...


CHOICES = ("uniform", "lexmin", "sparsest")


def check_choice(choice: str, field: Field) -> None:
    """Refuse an unknown choice, and the uniform one where there is none."""
    if choice not in CHOICES:
        raise InputError(
            Parameter("choice"), f" must be 'uniform', 'lexmin' or 'sparsest', got {choice!r}"
        )
    if choice == "uniform" and field.order is None:
        raise InputError(
            Parameter("choice", "uniform"),
            " needs a finite field: there is no uniform distribution over QQ; use ",
            Parameter("choice", "lexmin"),
            ", which sets the free coordinates to 0, or ",
            Parameter("choice", "sparsest"),
        )


def pick_solution(
    system: Subspace,
    *,
    choice: str,
    coins: VectorCoins | None,
    name: str,
    counted: int | None = None,
) -> Array:
    """Return one w with ⟨w, a⟩ = b for all (a, b) in the system.

    Parameters
    ----------
    system : Subspace of F^(n+1)
        Must be solvable: e_{n+1} not in it, that is, the last column no pivot.
    choice : {"uniform", "lexmin", "sparsest"}
        ``"uniform"``: all coordinates are drawn as one vector r from the coins, under
        ``name``; the free ones are kept and the pivots solved for. Whatever the free
        coordinates are, w is uniform on the solutions, and one r serves every system.
        ``"lexmin"``: the lexicographically smallest solution. A coordinate is bound when an
        equation ends in it, so the pivots are taken from the right and the rest is 0.
        ``"sparsest"``: one with as few terms as :func:`sparsest` finds.
    counted : int, optional
        Among how many first coordinates terms are counted; all, otherwise.
    """
    F, n = system.field, system.ambient_dim - 1
    check_choice(choice, F)
    if choice == "uniform":
        if coins is None:
            raise InputError("choice='uniform' needs coins: pass coins=Coins(seed)")
        A, b, pivots = system.basis[:, :n], system.basis[:, n], list(system.pivots)
        w = np.array(coins.vector(name, F, n))
        w[pivots] = F.zero
        if pivots:
            w[pivots] = F.sub(b, F.dot(F.rows(A), w[np.newaxis, :])[:, 0])
        return w
    if choice == "sparsest":
        return sparsest(system, n if counted is None else counted).solution.copy()
    flipped = np.concatenate([system.basis[:, :n][:, ::-1], system.basis[:, n:]], axis=1)
    echelon = Subspace.span(flipped, F, dim=n + 1)
    w = np.array(F.array(F.empty(1, n))[0])
    w[[n - 1 - p for p in echelon.pivots]] = echelon.basis[:, n]
    return w
