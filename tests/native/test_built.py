"""Where there is a compiler, the module is built: a build that fails is not passed over."""

import importlib.util
import shutil

import pytest

COMPILERS = ("c++", "g++", "clang++")


@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="no C++ compiler on PATH")
def test_the_module_is_built_where_a_compiler_is():
    assert importlib.util.find_spec("flagstone._native") is not None, (
        "the C++ module was not built: pip install --verbose . shows why"
    )
