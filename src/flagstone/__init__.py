"""flagstone: replicable learning of linear structure over finite fields and the rationals.

Two people who run it on fresh samples from the same source, with the same published seed,
get the same answer, bit for bit, with a probability that is proven and reported.

The pipeline of every answer: rows → :class:`Flag` → rule + coins → :class:`Subspace` → answer,
all of it in one :class:`Finding` (:func:`ask`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flagstone._version import __version__

if TYPE_CHECKING:
    from flagstone.audit import CallableModule

    audit: CallableModule  # for type checkers: a module that can be called

# Names load on first use, so that `import flagstone` costs next to nothing.
_HOMES = {
    "algebra": [
        "AffineSubspace",
        "BitRows",
        "Flag",
        "GF",
        "QQ",
        "Subspace",
        "pack",
        "stable_partition",
    ],
    "coins": ["Coins"],
    "rules": ["HeavyRule", "IndexRule"],
    "guarantees": ["plan"],
    "finding": ["Finding"],
    "pipeline": ["ask", "certify"],
    "second_pass": ["certify_equations"],
    "suggest": ["suggest_window"],
    "store": ["load"],
    "estimators": [
        "AffineSpan",
        "FieldEncoder",
        "LinearEquations",
        "LinearSpan",
        "ParityClassifier",
        "SubspaceClassifier",
    ],
    "errors": ["BottomError", "FlagstoneError", "InputError", "ReplicabilityWarning"],
}
# Everything else is in these modules and packages, each described on a page of docs/api.
_SUBMODULES = [
    "answers",
    "audit",
    "comparison",
    "distributed",
    "distributions",
    "encoding",
    "errors",
    "estimators",
    "guarantees",
    "measurement",
    "pipeline",
    "plots",
    "protocol",
    "question",
    "store",
    "suggest",
    "tables",
]
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", "audit", *sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(f"flagstone.{_HOME_OF[name]}"), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(f"flagstone.{name}")
    else:
        raise AttributeError(f"module 'flagstone' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES})
