"""The table of Conway polynomials: complete, equal to python-flint's, and reproducible."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import flint
import pytest

from flagstone import GF
from flagstone.algebra.fields._conway import CONWAY

GENERATOR = Path(__file__).parents[3] / "scripts" / "generate_conway.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_conway", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_covers_every_order_up_to_2_16() -> None:
    primes = [p for p in range(2, 257) if flint.fmpz(p).is_prime()]
    assert set(CONWAY) == {(p, k) for p in primes for k in range(2, 17) if p**k <= 2**16}


def test_agrees_with_flint() -> None:
    for (p, k), coefficients in CONWAY.items():
        theirs = flint.fq_default_ctx(p, k, "x").modulus()
        assert coefficients == tuple(int(theirs[i]) for i in range(k + 1)), (p, k)


def test_generator_reproduces_the_table(generator: ModuleType) -> None:
    assert generator.conway_polynomials(2**16) == CONWAY


@pytest.mark.parametrize(
    ("f", "p"), [((1, 1, 1, 1, 1), 2), ((1, 0, 1), 2), ((1, 0, 1), 3), ((1, 2, 1), 3), ((5, 1), 7)]
)
def test_generator_refuses_polynomials_that_are_not_primitive(
    generator: ModuleType, f: tuple[int, ...], p: int
) -> None:
    assert not generator.is_primitive(f, p)


@pytest.mark.parametrize(("p", "k"), [(2, 2), (2, 16), (3, 10), (13, 4), (251, 2)])
def test_x_generates_the_multiplicative_group(p: int, k: int) -> None:
    F, q = GF(p**k), p**k
    powers, x = [1], 1
    while (x := int(F.mul(x, p))) != 1:  # p stands for the class of x
        powers.append(x)
    assert sorted(powers) == list(range(1, q))
