"""flagstone: replicable learning of linear structure over finite fields and the rationals.

Two people who run it on fresh samples from the same source, with the same published seed,
get the same answer, bit for bit, with a probability that is proven and reported.

The road every answer takes: rows → :class:`Flag` → rule + coins → :class:`Subspace` → answer,
all of it in one :class:`Finding` (:func:`ask`).
"""

from __future__ import annotations

import importlib
from typing import Any

from flagstone._version import __version__

# Names load on first use, so that `import flagstone` costs next to nothing.
_HOMES = {
    "algebra.fields": ["GF", "QQ", "Field"],
    "algebra.bitrows": ["BitRows", "pack"],
    "algebra.subspace": ["AffineSubspace", "Subspace"],
    "algebra.partition": ["stable_partition"],
    "algebra.flag": ["Flag", "merge_flags"],
    "coins": ["Coins"],
    "guarantees": ["Certificate", "Guarantee", "Window", "plan"],
    "rules": ["HeavyRule", "IndexRule"],
    "algebra.staircase": ["Staircase"],
    "answers": ["Answer", "Constraints", "Contradiction", "LinearSystem", "ParityRule"],
    "encoding": ["ColumnEncoder", "Encoding"],
    "question": [
        "ConstraintsQuestion",
        "EquationsQuestion",
        "ParityQuestion",
        "Question",
        "SpanQuestion",
        "SubspaceQuestion",
    ],
    "measurement": ["Measurement"],
    "finding": ["Finding"],
    "pipeline": ["ask", "certify", "measure"],
    "comparison": ["common", "compare"],
    "protocol": ["Protocol"],
    "suggest": ["Suggestion", "suggest_window"],
    "linear_span": ["rep_linear_span"],
    "store": ["load"],
    "estimators": [
        "AffineSpan",
        "EliminationClassifier",
        "FieldEncoder",
        "LinearEquations",
        "LinearSpan",
        "ParityClassifier",
        "SubspaceClassifier",
    ],
    "errors": [
        "BottomError",
        "FlagstoneError",
        "FormatError",
        "InputError",
        "MissingDependencyError",
        "ReplicabilityWarning",
        "WindowError",
    ],
}
_SUBMODULES = [
    "audit",
    "distributed",
    "distributions",
    "estimators",
    "guarantees",
    "plots",
    "store",
    "tables",
]
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF), *_SUBMODULES]


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
    return sorted(__all__)
