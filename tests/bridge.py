"""From flagstone's values to the oracle's, so that tests compare like with like."""

from fractions import Fraction

from flagstone.algebra.flag import Flag
from flagstone.algebra.subspace import Subspace
from flagstone.rules import rule_named, select_span


def plain(order, array):
    """Return a 2-D array as tuples of Python integers or fractions."""
    convert = Fraction if order == "QQ" else int
    return [tuple(convert(value) for value in row) for row in array]


def space_of(space, V):
    """Return a Subspace in the oracle's form."""
    return space.span(plain(space.order, V.basis))


def chain_of(space, flag):
    """Return V_1, V_2, … of a Flag in the oracle's form, from its levels."""
    chain = []
    for level in flag.levels():
        assert level.first == len(chain) + 1
        chain += [space_of(space, flag.span_at(level.first))] * level.multiplicity
    return chain


def flag_of(sample):
    """Return the flag of a sample."""
    return Flag(sample.dim, sample.order).update(sample.X)


def subspace_of(sample):
    """Return the span of a sample."""
    return Subspace.span(sample.X, sample.order, dim=sample.dim)


def span_of(flag, coins, *, rule="index", **parameters):
    """The span that a rule with these parameters chooses from a flag."""
    return select_span(flag, rule_named(rule, **parameters), coins)
