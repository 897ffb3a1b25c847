"""Tests over fields that share compiled kernels run in one worker, so that only one compiles."""

import pytest

from flagstone import GF

BY_FIELD = ("test_families.py", "test_finite.py")


def pytest_collection_modifyitems(items):
    """Group by what the compiler tells apart: the kind of arithmetic, and its lanes."""
    for item in items:
        if item.path.name in BY_FIELD and hasattr(item, "callspec"):
            values = item.callspec.params
            order = next((values[name] for name in ("F", "q", "p") if name in values), "QQ")
            ar = GF(order)._ar if order != "QQ" else None
            kind = "rational" if ar is None else f"{type(ar).__name__} {ar.lane.dtype}"
            item.add_marker(pytest.mark.xdist_group(kind))
