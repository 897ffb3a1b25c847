"""One pass over the rows: places among the spaces, pieces, merging, plain values."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra.fields import as_field
from flagstone.algebra.flag import Flag
from flagstone.certificates import Certifier
from flagstone.certificates.pieces import Cut, Cutter
from flagstone.certificates.plan import CertificatePlan
from flagstone.certificates.spaces import NestedSpaces
from flagstone.errors import InputError
from flagstone.guarantees import Window
from tests.strategies import ORDERS, samples, table


def planned(flag, n_rows=1000):
    """A plan that looks at every space of a flag, in short pieces."""
    dims = sorted({level.dim for level in flag.levels()})
    return CertificatePlan(
        n_rows,
        flag.n_rows,
        Window("index", 1, 10),
        NestedSpaces.of_flag(flag, dims),
        weights=(1 / len(dims),) * len(dims) if dims else (),
        inside=tuple(Cut(True, r, 2 * r + 1, 1.5 * r, 2, (0.3, 0.1)) for r in dims),
        outside=tuple(
            Cut(False, flag.dim - r, 1, 2.0, 5, (0.3, 0.1)) if r < flag.dim else None for r in dims
        ),
    )


@st.composite
def plans_and_rows(draw, order, **sizes):
    """The plan of a flag, and rows of the same space."""
    pilot = draw(samples(order, max_rows=8).filter(lambda s: any(any(row) for row in s.rows)))
    flag = Flag(pilot.dim, order).update(pilot.X)
    rows = draw(samples(order, dim=pilot.dim, **sizes)).rows + pilot.rows
    return planned(flag), draw(st.permutations(rows))


def everything(certifier):
    cuts = [*certifier.plan.inside, *filter(None, certifier.plan.outside)]
    pieces = [certifier.outcomes(cut) for cut in cuts]
    return certifier.n_rows, certifier.counts.tolist(), pieces


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
def test_rows_are_placed_among_the_spaces(order, data):
    """Coordinates, memberships and images, against `Subspace`."""
    plan, rows = data.draw(plans_and_rows(order))
    spaces, field = plan.spaces, as_field(order)
    X = field.rows(table(order, spaces.dim, rows))
    coordinates = spaces.coordinates(X)
    first = spaces.first_space(coordinates)
    expected = field.nonzero(X).astype(int)
    for i in range(len(spaces.dims)):
        outside = ~spaces.subspace(i).contains(X)
        expected = expected + outside
        assert np.array_equal(first > i + 1, outside)
        ticks = np.flatnonzero(~outside)
        inner = spaces.inside(coordinates[ticks], i)
        within = field.array(field.wrap(inner, spaces.dims[i]))
        basis = field.array(spaces.basis[: spaces.dims[i]])
        if spaces.dims != (spaces.dim,):
            rebuilt = field.dot(field.rows(within, dim=spaces.dims[i]), basis.T)
            assert np.array_equal(rebuilt, field.array(X)[ticks])
        if spaces.dims[i] < spaces.dim:
            images = spaces.outside(coordinates, i)
            nonzero = field.nonzero(field.wrap(images, spaces.dim - spaces.dims[i]))
            assert np.array_equal(nonzero, outside)
    assert np.array_equal(first, expected)


@pytest.mark.parametrize("most", [9, 99])
@pytest.mark.parametrize("dim", [40, 64, 65, 130])
def test_wide_rows_are_placed_among_the_spaces(dim, most):
    random = np.random.RandomState(dim)
    counts = np.sort(random.randint(1, most, size=dim - 3))[::-1]
    flag = Flag(dim).update(random.randint(0, 2, size=(dim - 3, dim)), counts)
    spaces = NestedSpaces.of_flag(flag, sorted({level.dim for level in flag.levels()}))
    basis = flag.adapted_basis()[0].unpack()
    picks = [random.randint(0, 2, size=(60, r)) @ basis[:r] % 2 for r in spaces.dims]
    rows = flag.field.rows(np.concatenate([*picks, random.randint(0, 2, size=(60, dim))]))
    coordinates = spaces.coordinates(rows)
    first = spaces.first_space(coordinates)
    for i in range(len(spaces.dims)):
        outside = ~spaces.subspace(i).contains(rows)
        assert np.array_equal(first > i + 1, outside)
        images = flag.field.wrap(spaces.outside(coordinates, i), dim - spaces.dims[i])
        assert np.array_equal(flag.field.nonzero(images), outside)


@pytest.mark.parametrize("order", [2, 7])
def test_plans_compare_by_their_spaces(order):
    rows = np.triu(np.random.RandomState(3).randint(0, 2, size=(5, 9)), 1) + np.eye(5, 9, dtype=int)
    rows = rows.repeat([9, 7, 7, 4, 2], axis=0)
    other = rows.copy()
    other[-2:, 8] += 1
    plans = [
        CertificatePlan.of_pilot(Flag(9, order).update(X % 2), 400, Window("index", 1, 90))
        for X in (rows, rows[::-1], other)  # two bases at hand of one flag; another flag
    ]
    assert plans[0] == plans[1] == pickle.loads(pickle.dumps(plans[0]))
    assert hash(plans[0]) == hash(plans[1])
    assert plans[0] != plans[2]
    assert plans[0] != dataclasses.replace(plans[0], n_rows=500)
    assert plans[0] != dataclasses.replace(plans[0], spaces=None)


@pytest.mark.parametrize("order", [2, 3, 251, "QQ"])
@given(data=st.data())
def test_counts_and_pieces_are_those_of_each_space_alone(order, data):
    plan, rows = data.draw(plans_and_rows(order, max_rows=30))
    X, field = table(order, plan.spaces.dim, rows), as_field(order)
    certifier = Certifier(plan).update(X)
    coordinates = plan.spaces.coordinates(field.rows(X))
    first = plan.spaces.first_space(coordinates)
    assert certifier.counts.tolist() == np.bincount(first, minlength=len(plan.weights) + 2).tolist()
    for i, (inside, outside) in enumerate(zip(plan.inside, plan.outside, strict=True)):
        ticks = np.flatnonzero(first <= i + 1)
        inner = Cutter(field, inside)
        inner.update(plan.spaces.inside(coordinates[ticks], i), ticks, len(rows))
        assert certifier.outcomes(inside) == inner.outcomes
        if outside is not None:
            ticks = np.flatnonzero(first > i + 1)
            outer = Cutter(field, outside)
            outer.update(plan.spaces.outside(coordinates[ticks], i), ticks, len(rows))
            assert certifier.outcomes(outside) == outer.outcomes


@pytest.mark.parametrize("order", [2, 3, "QQ"])
@given(data=st.data())
def test_batches_do_not_matter(order, data):
    plan, rows = data.draw(plans_and_rows(order, max_rows=30))
    X = table(order, plan.spaces.dim, rows)
    size = data.draw(st.integers(1, 7))
    whole, parts = Certifier(plan).update(X), Certifier(plan)
    for start in range(0, len(X), size):
        parts.update(X[start : start + size])
    assert everything(whole) == everything(parts)
    assert whole.n_runs == parts.n_runs == (len(X) > 0)


def test_long_streams_in_batches():
    """More rows than are taken at a time, through every kind of kernel."""
    random = np.random.RandomState(3)
    for dim in (20, 100):
        X = random.randint(0, 2, size=(40_000, dim))
        X[random.random_sample(len(X)) > 0.05, dim - 5 :] = 0
        plan = CertificatePlan.of_pilot(
            Flag(dim).update(X[:4000]), 40_000, Window("index", 300, 900)
        )
        whole = Certifier(plan).update(X[4000:])
        parts = Certifier(plan)
        for start in range(4000, len(X), 7001):
            parts.update(X[start : start + 7001])
        assert everything(whole) == everything(parts)
        assert sum(whole.outcomes(plan.inside[0]).values()) > 10


def test_rows_are_passed_over_where_there_are_more_than_enough():
    """Every other stretch, counted from the beginning of the run, however the rows come."""
    random = np.random.RandomState(4)
    X = random.randint(0, 2, size=(100_000, 5))
    plan = CertificatePlan.of_pilot(Flag(5).update(X[:10_000]), 100_000, Window("index", 1, 900))
    assert plan.stride == 3
    whole = Certifier(plan).update(X[10_000:])
    parts = Certifier(plan)
    for start in range(10_000, len(X), 7001):
        parts.update(X[start : start + 7001])
    assert everything(whole) == everything(parts)
    looked = [X[10_000 + s : 10_000 + s + 2**14] for s in range(0, 90_000, 3 * 2**14)]
    assert (whole.n_rows, whole.n_cut) == (90_000, sum(map(len, looked)))
    assert whole.certificate().n_certifying == whole.n_cut == parts.n_cut
    assert whole.merge(parts).n_cut == 2 * whole.n_cut
    every = dataclasses.replace(plan, stride=1)
    cut = Certifier(every).update(np.concatenate(looked))
    assert everything(cut)[-1] == everything(whole)[-1]
    # every row is counted, whether or not it is cut into pieces
    assert everything(Certifier(every).update(X[10_000:]))[:-1] == everything(whole)[:-1]


def test_rows_outside_are_counted_where_no_pieces_are_cut():
    """All the damage stands in a stretch that is passed over."""
    random = np.random.RandomState(1)
    X = random.randint(0, 2, size=(50_000, 3))
    X[:, 2] = X[:, 0]
    plan = CertificatePlan.of_pilot(Flag(3).update(X[:5000]), 50_000, Window("index", 250, 300))
    hit = 5000 + 2**14 + random.choice(2**14, 200, replace=False)
    X[hit, 2] ^= 1
    assert plan.stride > 1
    certificate = Certifier(plan).update(X[5000:]).certificate(plan.spaces.subspace(0))
    assert 200 / 45_000 < certificate.eps < 0.006


@pytest.mark.parametrize("order", [2, 4, "QQ"])
@given(data=st.data())
def test_merging_adds_up_and_survives_pickling(order, data):
    plan, rows = data.draw(plans_and_rows(order, max_rows=30))
    X = table(order, plan.spaces.dim, rows)
    half = len(X) // 2
    first, second = Certifier(plan).update(X[:half]), Certifier(plan).update(X[half:])
    both = first.merge(second)
    assert both.n_rows == len(X)
    assert both.n_runs == first.n_runs + second.n_runs
    assert both.counts.tolist() == (first.counts + second.counts).tolist()
    for cut in (*plan.inside, *filter(None, plan.outside)):
        assert both.outcomes(cut) == first.outcomes(cut) + second.outcomes(cut)
    assert everything(second.merge(first)) == everything(both)
    read = pickle.loads(pickle.dumps(both))
    assert everything(read) == everything(both)
    assert everything(read.merge(first)) == everything(both.merge(first))  # plans compare by value
    later = read.update(X[:half])
    assert later.n_runs == both.n_runs + first.n_runs
    assert everything(later) == everything(both.merge(first))


def test_what_is_refused_leaves_everything_as_it_was():
    plan = planned(Flag(2).update([[1, 1], [1, 0]]))
    certifier = Certifier(plan).update([[1, 1]] * 9)
    before = everything(certifier)
    with pytest.raises(InputError, match="not in GF"):
        certifier.update([[1, 1], [1, 2]])
    with pytest.raises(InputError, match="one plan"):
        certifier.merge(Certifier(planned(Flag(2).update([[0, 1]]))))
    with pytest.raises(TypeError, match="a certifier merges"):
        certifier.merge(3)
    assert everything(certifier) == before
    assert everything(certifier.update(np.zeros((0, 2), dtype=int))) == before
