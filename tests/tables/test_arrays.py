"""Arrays: what is a table of rows, what is not, and columns by name from every kind of file."""

import zipfile

import numpy as np
import pytest

from flagstone.errors import FormatError, InputError
from flagstone.tables import arrays, open_table

X = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=np.uint8)
Y = np.array([1, 1, 0, 1, 0], dtype=np.uint8)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(arrays, "rows_per_batch", lambda *_: 2)


def rows(path, columns=None, start=None):
    table = open_table(path)
    found = table.rows(table.encoding(2, columns=columns), start)
    return [row for batch in found for row in batch.matrix.tolist()]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (Y, r"must be a matrix of rows, found 1 dimension\(s\)"),
        (np.zeros((2, 2, 2)), r"must be a matrix of rows, found 3 dimension\(s\)"),
        (np.array(1), r"must be a matrix of rows, found 0 dimension\(s\)"),
        (np.zeros((2, 2), dtype=[("a", "u1")]), "a structured array must have 1 dimension, not 2"),
    ],
)
def test_an_array_that_is_no_table_is_refused(tmp_path, array, message):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(InputError, match=rf"t\.npy: {message}"):
        open_table(tmp_path / "t.npy")


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_what_is_no_array_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"neither an array nor an archive of them")
    with pytest.raises(FormatError, match=rf"{name} is no NP[YZ] file, or it is cut short"):
        open_table(tmp_path / name)


def test_columns_of_a_matrix(tmp_path):
    for order in "CF":
        np.save(tmp_path / "t.npy", np.asarray(X, order=order))
        assert rows(tmp_path / "t.npy") == X.tolist()
        assert rows(tmp_path / "t.npy", ["x2", "x0"]) == X[:, [2, 0]].tolist()
        assert rows(tmp_path / "t.npy", ["x2", "x1", "x0"]) == X[:, ::-1].tolist()


def test_columns_of_a_structured_array(tmp_path):
    table = np.array([tuple(row) for row in X.tolist()], dtype=[(n, "u1") for n in "abc"])
    np.save(tmp_path / "t.npy", table)
    assert open_table(tmp_path / "t.npy").columns == ("a", "b", "c")
    assert rows(tmp_path / "t.npy") == X.tolist()
    assert rows(tmp_path / "t.npy", ["c", "a"]) == X[:, [2, 0]].tolist()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_columns_of_an_archive(tmp_path, save):
    path = tmp_path / "t.npz"
    save(path, X=X, y=Y)
    table = open_table(path)
    assert (table.columns, table.n_rows) == (("x0", "x1", "x2", "y"), 5)
    both = np.column_stack([X, Y])
    assert rows(path) == both.tolist()
    assert rows(path, ["y", "x1"]) == both[:, [3, 1]].tolist()
    assert rows(path, ["x1", "x0"]) == X[:, [1, 0]].tolist()
    assert rows(path, ["x0", "x1", "x2"]) == X.tolist()
    assert rows(path, ["y"]) == Y[:, np.newaxis].tolist()


@pytest.mark.parametrize("name", ["x0", "x2", "x1"])
def test_a_matrix_may_be_called_like_one_of_its_columns(tmp_path, name):
    path = tmp_path / "t.npz"
    np.savez(path, **{name: X, "y": Y})
    both = np.column_stack([X, Y])
    assert rows(path) == both.tolist()
    assert rows(path, ["y", "x1"]) == both[:, [3, 1]].tolist()
    assert rows(path, ["x0"]) == X[:, [0]].tolist()
    np.savez(path, **{name: X})
    assert rows(path) == X.tolist()


def test_columns_of_an_archive_of_vectors(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, a=X[:, 0], b=X[:, 1], c=X[:, 2])
    table = open_table(path)
    assert (table.columns, table.n_rows) == (("a", "b", "c"), 5)
    assert rows(path) == X.tolist()
    assert rows(path, ["c", "a"]) == X[:, [2, 0]].tolist()


def test_what_does_not_belong_to_the_matrix_is_left_out(tmp_path):
    """Vectors of another length, numbers and cubes: an archive often holds more than rows."""
    np.savez(
        tmp_path / "t.npz", X=X, y=Y, names=np.array(["a", "b"]), n=5, cube=np.zeros((2, 2, 2))
    )
    assert open_table(tmp_path / "t.npz").columns == ("x0", "x1", "x2", "y")
    np.savez(tmp_path / "u.npz", X=X, n=5)
    assert rows(tmp_path / "u.npz") == X.tolist()


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"A": X, "B": X}, r"exactly one matrix .* found 2 \(A, B\); save the one to read"),
        ({"a": Y, "b": Y[:2]}, r"1-D arrays of one length\), found 0 \(none\)"),
        ({"n": np.array(5)}, r"found 0 \(none\)"),
    ],
)
def test_archives_that_are_no_table_are_refused(tmp_path, members, message):
    np.savez(tmp_path / "t.npz", **members)
    with pytest.raises(InputError, match=rf"t\.npz: .*{message}"):
        open_table(tmp_path / "t.npz")


@pytest.mark.parametrize("matrix", [X, X[:, :1], X[:1], X[:1, :1]])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_fortran_order_is_read_like_any_other(tmp_path, matrix, save):
    save(tmp_path / "t.npz", X=np.asfortranarray(matrix), y=matrix[:, 0])
    expected = np.column_stack([matrix, matrix[:, 0]]).tolist()
    assert rows(tmp_path / "t.npz") == expected
    table = open_table(tmp_path / "t.npz")
    rest = [b.matrix for b in table.rows(table.encoding(2), start=[0, min(1, len(matrix) - 1)])]
    assert np.concatenate(rest).tolist() == expected[min(1, len(matrix) - 1) :]


def test_members_without_a_suffix_are_found(tmp_path):
    np.save(tmp_path / "X.npy", X)
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.write(tmp_path / "X.npy", "X")
    assert rows(tmp_path / "t.npz") == X.tolist()


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_a_run_resumes_inside_a_batch(tmp_path, name):
    """At any row, also where no batch of this length would begin."""
    if name == "t.npy":
        np.save(tmp_path / name, X)
    else:
        np.savez(tmp_path / name, X=X, y=X[:, 0])
    expected = [row[:3] for row in rows(tmp_path / name)]
    assert expected == X.tolist()
    table = open_table(tmp_path / name)
    encoding = table.encoding(2, columns=["x0", "x1", "x2"])
    for done in range(len(X) + 1):
        found = list(table.rows(encoding, start=(0, done)))
        assert [row for batch in found for row in batch.matrix.tolist()] == X[done:].tolist()
        numbers = [batch.place(i).row for batch in found for i in range(len(batch))]
        assert numbers == list(range(done + 1, len(X) + 1))


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_a_matrix_without_rows_holds_no_rows(tmp_path, name):
    (np.save if name == "t.npy" else np.savez)(tmp_path / name, X[:0])
    table = open_table(tmp_path / name)
    assert table.n_rows == 0
    with pytest.raises(InputError, match="holds no rows"):
        table.encoding(2)
