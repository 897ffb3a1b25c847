"""Reading ahead: the same items in the same order, errors at their place, no thread left."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.tables.encoded import prefetch


def numbers(n, error=None):
    yield from range(n)
    if error is not None:
        raise error


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "flagstone-prefetch"]


@given(st.integers(0, 20), st.integers(1, 5))
def test_all_items_in_their_order(n, most):
    assert list(prefetch(numbers(n), most)) == list(range(n))
    assert not threads()


@given(st.integers(0, 20), st.integers(1, 5))
def test_an_error_comes_after_all_items_before_it(n, most):
    read = prefetch(numbers(n, ZeroDivisionError("at the end")), most)
    assert [next(read) for _ in range(n)] == list(range(n))
    with pytest.raises(ZeroDivisionError, match="at the end"):
        next(read)
    assert not threads()


@given(st.integers(1, 9), st.integers(1, 4))
def test_who_stops_early_leaves_neither_thread_nor_file_open(taken, most):
    made, closed = [], []

    def items():
        try:
            for n in range(1000):
                made.append(n)
                yield n
        finally:
            closed.append(True)

    read = prefetch(items(), most)
    assert [next(read) for _ in range(taken)] == list(range(taken))
    read.close()
    assert closed == [True]
    assert not threads()
    assert len(made) <= taken + most


def test_the_next_items_are_made_while_one_is_looked_at():
    """Both sides meet at a barrier, which neither would pass alone."""
    meeting = threading.Barrier(2, timeout=240)

    def items():
        yield 1
        meeting.wait()
        yield 2

    read = prefetch(items())
    assert next(read) == 1
    meeting.wait()
    assert next(read) == 2
    read.close()


def test_a_read_that_hangs_does_not_hold_up_the_end(monkeypatch):
    monkeypatch.setattr("flagstone.tables.encoded._PATIENCE", 0.05)
    go_on = threading.Event()

    def items():
        yield 1
        go_on.wait(240)

    read = prefetch(items())
    assert next(read) == 1
    read.close()
    (reading,) = threads()  # it was not waited for
    go_on.set()
    reading.join(240)
    assert not threads()
