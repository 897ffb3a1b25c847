"""Files: the ones that are meant, in a fixed order, with a format that the name says."""

from pathlib import Path

import pytest

from flagstone.errors import InputError
from flagstone.tables.files import expand
from flagstone.tables.opening import FORMATS, ReadingError, check_reading, format_of
from flagstone.wording import closest


@pytest.fixture
def folder(tmp_path):
    """Some files with content; those that begin with a dot or an underscore are not meant."""
    for name in ("b.csv", "a.csv", "deep/c.csv", "deep/er/d.csv", ".hidden.csv", "_SUCCESS",
                 ".git/e.csv", "deep/_temporary/f.csv", "deep/.g.csv"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n1\n")
    (tmp_path / "void").mkdir()
    return tmp_path


def names(folder, *sources):
    return [path.relative_to(folder).as_posix() for path in expand(sources)]


def test_a_directory_is_its_visible_files_at_any_depth(folder):
    assert names(folder, folder) == ["a.csv", "b.csv", "deep/c.csv", "deep/er/d.csv"]
    assert names(folder, folder / "deep") == ["deep/c.csv", "deep/er/d.csv"]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("link.csv", "its symbolic links lead in a circle"),
        ("gone", "a symbolic link to gone, whic"),
    ],
)
def test_a_link_that_leads_to_no_file_is_told(folder, target, problem):
    (folder / "link.csv").symlink_to(target)
    with pytest.raises(InputError, match=problem) as error:
        expand([folder / "link.csv"])
    assert "did you mean" not in str(error.value)


def test_a_pattern_is_sorted_and_sources_are_not(folder):
    assert names(folder, str(folder / "*.csv")) == ["a.csv", "b.csv"]
    assert names(folder, str(folder / "deep" / "**" / "[cd].csv")) == names(folder, folder / "deep")
    assert names(folder, folder / "b.csv", str(folder / "a*"), folder / "deep") == [
        "b.csv", "a.csv", "deep/c.csv", "deep/er/d.csv",
    ]  # fmt: skip
    assert names(folder, str(folder / "dee*" / "c.csv")) == ["deep/c.csv"]


def test_a_file_may_be_called_like_a_pattern(folder):
    (folder / "a[1].csv").write_text("x\n1\n")
    assert names(folder, folder / "a[1].csv") == ["a[1].csv"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("void", "void: the directory holds no files"),
        ("v*", "no file matches this pattern"),  # a directory is no file
        ("*.tsv", "no file matches this pattern"),
        ("b.csw", r"no such file or directory; did you mean 'b\.csv'"),
        ("nowhere/b.csv", r"nowhere/b\.csv: no such file or directory$"),
        ("zzzzz", "no such file or directory$"),
    ],
)
def test_what_is_not_there_is_said(folder, source, message):
    with pytest.raises(InputError, match=message):
        expand([str(folder / source)])


def test_nothing_is_no_source(folder):
    with pytest.raises(InputError, match="no file was given"):
        expand([])
    (folder / "deep" / "empty.csv").touch()
    with pytest.raises(InputError, match=r"empty\.csv: the file is empty"):
        expand([folder])


def test_devices_and_a_dash_are_pipes(folder, monkeypatch):
    with pytest.raises(InputError, match="/dev/null: rows cannot be read from a pipe"):
        expand(["/dev/null"])
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="-: rows cannot be read from a pipe"):
        expand(["-"])
    Path("-").write_text("x\n1\n")
    assert expand(["-"]) == [Path("-")]


@pytest.mark.parametrize("format", FORMATS)
def test_the_name_says_the_format(format):
    for suffix in FORMATS[format]:
        assert format_of(Path(f"t{suffix}")) == format
        assert format_of(Path(f"T{suffix.upper()}")) == format
        for compressed in (".gz", ".bz2", ".xz"):
            assert format_of(Path(f"t{suffix}{compressed}")) == format
        assert format_of(Path(f"t.other{suffix}")) == format


@pytest.mark.parametrize("name", ["t", "t.gz", "t.txt", "t.csv.zip", "csv", ".csv"])
def test_other_names_say_nothing(name):
    with pytest.raises(InputError, match=r"does not say the format; give format .* csv, tsv,"):
        format_of(Path(name))


NOTHING = dict.fromkeys(("delimiter", "header", "bit_order", "length"))


@pytest.mark.parametrize(
    ("options", "formats", "message"),
    [
        ({"delimiter": ";"}, ["hex"], r"^delimiter is for csv and tsv, but"),
        ({"header": False}, ["npy"], r"^header is for csv and tsv.* is npy; leave"),
        ({"bit_order": "msb"}, ["csv"], r"^bit_order is for hex and bits"),
        ({"length": 0}, ["parquet", "csv"], r"is for hex and bits, but .* is csv and parquet"),
        ({"delimiter": ";;"}, ["csv"], "must be one ASCII character"),
        ({"delimiter": "é"}, ["csv"], "must be one ASCII character"),
        ({"delimiter": '"'}, ["csv"], "neither a quote nor a line end"),
        ({"delimiter": "\r"}, ["csv"], "neither a quote nor a line end"),
        ({"delimiter": "\0"}, ["csv"], "neither a quote nor a line end"),
        ({"delimiter": 3}, ["csv"], "must be one ASCII character"),
        ({"bit_order": "up"}, ["hex"], "must be one of msb, lsb, nibble, reversed, got 'up'"),
    ],
)
def test_options_that_no_file_obeys_are_refused(options, formats, message):
    with pytest.raises(ReadingError, match=message):
        check_reading(NOTHING | options, formats)


@pytest.mark.parametrize(
    ("options", "formats"),
    [
        ({}, ["npy"]),
        ({"delimiter": ";", "header": False}, ["csv"]),
        ({"delimiter": "\t"}, ["tsv", "npy"]),
        ({"bit_order": "lsb", "length": 8}, ["bits"]),
        ({"delimiter": ";", "length": 8}, ["hex", "csv"]),
    ],
)
def test_an_option_for_one_of_the_files_is_enough(options, formats):
    check_reading(NOTHING | options, formats)


def test_at_most_three_close_names_are_offered():
    assert (
        closest("fault", ["default", "faults", "fluent"]) == "; did you mean 'faults' or 'default'?"
    )
    assert closest("fault", ["zebra"]) == ""
    offered = closest("name1", [f"name{i}" for i in range(2, 9)])
    assert offered.count(" or ") == 2
