"""Models on disk: round trips, golden files, and damage of every kind."""

import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import (
    GF,
    Coins,
    Constraints,
    Flag,
    Histogram,
    LinearSystem,
    ParityRule,
    Subspace,
    select_span,
)
from flagstone.errors import FormatError, InputError
from flagstone.models import (
    VERSION,
    Layout,
    Model,
    SpanAnswer,
    SummaryFile,
    load,
    save,
)
from flagstone.models._container import pack_document, unpack_document
from flagstone.tables import ColumnEncoder, Encoding

GOLDEN = Path(__file__).parent / "golden"


def full_model() -> Model:
    """A model with every part filled in, deterministic to the last byte."""
    rows = np.random.RandomState(5).randint(0, 2, size=(300, 6)).astype(np.uint8)
    rows[:, 5] = rows[:, 0] ^ rows[:, 3] ^ 1
    layout = Layout(ones=True)
    flag = Flag(7).update(layout.rows(rows, GF(2)))
    result = select_span(flag, Coins("2026"), contamination=0.01)
    from flagstone import AffineSubspace

    names = ("a", "b", "c", "d", "é ⊕ <b>", "y")
    answer = Constraints.from_subspace(
        AffineSubspace.from_homogeneous(result.subspace), names=names
    )
    encoding = Encoding(GF(2), tuple(ColumnEncoder(name, "element") for name in names))
    return Model(
        "constraints",
        answer,
        layout,
        encoding,
        result.subspace,
        result.guarantee,
        tuple((v.dim, v.multiplicity, v.first_index) for v in flag.levels()),
        {"seed": "2026", "command": "flagstone constraints t.csv", "rows": {"read": 300}},
    )


def golden_things() -> dict[str, object]:
    """What the golden files hold: one of each kind, over several fields."""
    system = LinearSystem([[1, 2, 0], [0, 1, 4]], [3, 1], 5, ("u", "v", "w"))
    half = Fraction(1, 2)
    rational = ParityRule(np.array([half, Fraction(0)], dtype=object), Fraction(-3), "QQ")
    big = np.array([[255, 1, 0], [0, 0, 7]])
    return {
        "constraints.json": full_model(),
        "parity.json": ParityRule([0, 1, 1], 1, 2, ("p", "q", "r"), "fault"),
        "bottom.json": ParityRule.bottom(4),
        "system.json": system,
        "rational.json": rational,
        "span.json": Subspace.span(big, 256),
        "flag.flag": Flag(70).update(np.eye(70, dtype=np.uint8)[[0, 3, 3, 69]]),
        "histogram.flag": Histogram(3, 3).update([[0, 1, 2], [0, 1, 2], [2, 2, 2]]),
    }


@pytest.mark.parametrize("name", sorted(golden_things()))
def test_golden_files_of_every_version_load_and_say_the_same(name, tmp_path):
    """Today's writer writes the same bytes as ever."""
    thing = golden_things()[name]
    loaded = load(GOLDEN / f"v{VERSION}" / name)
    save(tmp_path / name, thing)
    assert (tmp_path / name).read_bytes() == (GOLDEN / f"v{VERSION}" / name).read_bytes()
    if isinstance(loaded, SummaryFile):
        assert loaded.summary == thing
    else:
        answer = thing.answer if isinstance(thing, Model) else thing
        expected = SpanAnswer(answer) if isinstance(answer, Subspace) else answer
        assert loaded.answer.fingerprint() == expected.fingerprint()
        assert loaded.answer.text == expected.text


def test_all_golden_versions_load():
    versions = [path for path in GOLDEN.iterdir() if path.is_dir()]
    assert {path.name for path in versions} == {f"v{v}" for v in range(2, VERSION + 1)}
    for path in versions:
        for file in path.iterdir():
            load(file)


def test_a_model_comes_back_whole(tmp_path):
    model = full_model()
    save(tmp_path / "m.json", model)
    again = load(tmp_path / "m.json")
    assert isinstance(again, Model)
    assert again == model
    assert again.guarantee == model.guarantee
    rows = np.random.RandomState(1).randint(0, 2, size=(50, 6))
    assert np.array_equal(again.fits(rows), model.fits(rows))


def test_newer_files_are_refused_with_a_reason(tmp_path):
    path = tmp_path / "m.json"
    save(path, ParityRule([1]))
    document = json.loads(path.read_text())
    document["version"] = VERSION + 1
    path.write_text(json.dumps(document))
    with pytest.raises(FormatError, match=r"newer than 2; update flagstone"):
        load(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[1, 2]", "does not say so"),
        ('{"format": "other"}', "does not say so"),
        ('{"format": "flagstone"}', "no format version"),
        ('{"format": "flagstone", "version": 1}', "written by a development version"),
        ('{"format": "flagstone", "version": 2}', "checksum"),
        ('{"format": "flagstone", "version": true}', "no format version"),
        ('{"format": "flagstone", "format": "flagstone", "version": 2}', "'format' comes twice"),
        ('{"format": "flagstone", "version": 2, "content": NaN}', "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        (
            '{"format": "flagstone", "version": 2, "content": ' + '{"a":' * 990 + "1" + "}" * 991,
            "damaged|deeply",
        ),
    ],
)
def test_foreign_files_are_refused(tmp_path, text, reason):
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=reason):
        load(path)


def test_every_damaged_byte_is_noticed_or_harmless(tmp_path):
    """Any single changed byte is refused, unless the document still says exactly the same."""
    data = (GOLDEN / f"v{VERSION}" / "constraints.json").read_bytes()
    original = unpack_document(data)
    random = np.random.RandomState(0)
    refused = 0
    for position in random.choice(len(data), 400, replace=False):
        damaged = bytearray(data)
        damaged[position] ^= 1 << random.randint(8)
        try:
            found = unpack_document(bytes(damaged))
        except FormatError:
            refused += 1
        else:
            assert found == original
    assert refused > 250


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_every_cut_is_refused(cut):
    data = (GOLDEN / f"v{VERSION}" / "flag.flag").read_bytes()
    with pytest.raises(FormatError):
        unpack_document(data[: cut % (len(data) - 1)])


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["answer"].update(kind="os.system"),
        lambda c: c["answer"].update(matrix=[[1]]),
        lambda c: c.update(layout={"ones": 1, "label": 0}),
        lambda c: c.update(fingerprint="0" * 64),
        lambda c: c.update(levels=[[1, 2]]),
        lambda c: c["subspace"].update(basis=["1111111", "0111111"]),
        lambda c: c["encoding"].update(columns=[["a", "nonsense"]]),
        lambda c: c.pop("guarantee"),
    ],
)
def test_well_sealed_nonsense_is_refused(tmp_path, change):
    """A correct checksum does not make a wrong content loadable."""
    _, content = unpack_document((GOLDEN / f"v{VERSION}" / "constraints.json").read_bytes())
    change(content)
    path = tmp_path / "m.json"
    path.write_bytes(pack_document("model", content))
    with pytest.raises(FormatError):
        load(path)


def test_files_are_not_overwritten_unless_asked(tmp_path):
    path = tmp_path / "m.json"
    save(path, ParityRule([1]))
    with pytest.raises(InputError, match="exists already; give --force"):
        save(path, ParityRule([0]))
    assert load(path).answer == ParityRule([1])
    save(path, ParityRule([0]), overwrite=True)
    assert load(path).answer == ParityRule([0])
    with pytest.raises(InputError, match="does not exist"):
        save(tmp_path / "nowhere" / "m.json", ParityRule([0]))
    with pytest.raises(InputError, match="got dict"):
        save(tmp_path / "n.json", {})


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link", "."):
        with pytest.raises(InputError, match="no regular file"):
            load(tmp_path / name)
    with (tmp_path / "huge.json").open("wb") as stream:
        stream.truncate((1 << 30) + 1)  # a hole: it takes no room
    with pytest.raises(FormatError, match="larger than 1 GB"):
        load(tmp_path / "huge.json")


def test_names_that_no_encoding_holds_come_back(tmp_path):
    rule = ParityRule([1, 1], 0, 2, ("half \ud800", "\x9b31m"), "y")
    save(tmp_path / "m.json", rule)
    assert load(tmp_path / "m.json").answer == rule
    assert "\\u009b31m" in (tmp_path / "m.json").read_text()


if __name__ == "__main__":  # write the golden files of the current version
    folder = GOLDEN / f"v{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    for file, thing in golden_things().items():
        save(folder / file, thing, overwrite=True)
