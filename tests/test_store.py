"""Findings on disk: round trips, golden files, and damage of every kind."""

import copy
import json
import os
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstone import (
    GF,
    AffineSpan,
    Coins,
    Finding,
    Flag,
    HeavyRule,
    IndexRule,
    LinearEquations,
    LinearSpan,
    ParityClassifier,
    Subspace,
    SubspaceClassifier,
    ask,
)
from flagstone import text as sentences
from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.encoding import ColumnEncoder, Encoding
from flagstone.errors import FormatError, InputError
from flagstone.estimators import EliminationClassifier
from flagstone.measurement import Measurement, measure
from flagstone.pipeline import rep_linear_span
from flagstone.question import ConstraintsQuestion, EquationsQuestion, SubspaceQuestion
from flagstone.report import html_report
from flagstone.store import (
    VERSION,
    SummaryFile,
    is_saved,
    load,
    pack_document,
    save,
    unpack_document,
)

GOLDEN = Path(__file__).parent / "golden"
FIRST = 2  #: the first version that is still read
FINDING_SCHEMA = files("flagstone") / "schema" / "finding-3.json"
HERE = GOLDEN / f"v{VERSION}"


def rows_and_labels() -> tuple[np.ndarray, np.ndarray]:
    """Rows of six columns, and labels x0 ⊕ x3 with a few mistakes."""
    X = np.random.RandomState(5).randint(0, 2, size=(300, 6)).astype(np.uint8)
    X[:, 5] = X[:, 0] ^ X[:, 3] ^ 1
    y = X[:, 0] ^ X[:, 3]
    y[:3] ^= 1
    return X, y


def full_finding() -> Finding:
    """A finding with every part filled in, deterministic to the last byte."""
    X, _ = rows_and_labels()
    X[:2, 5] ^= 1
    question, names = ConstraintsQuestion(), ("a", "b", "c", "d", "é ⊕ <b>", "y")
    places, values = (("t.csv", 1, 2), ("t.csv", 2, None)), GF(2).texts(X[:2])
    return ask(
        Flag(7).update(question.lift(GF(2), GF(2).rows(X))),
        question,
        IndexRule(contamination=0.01),
        Coins("2026"),
        encoding=Encoding(GF(2), tuple(ColumnEncoder.parse(name, "element") for name in names)),
        rows=Measurement(300, 2, 2, 1, places, tuple(values)),
        provenance={
            "command": "flagstone constraints t.csv",
            "sources": ["t.csv"],
            "reading": {"format": "csv"},
            "summary": "flag",
        },
    )


def labelled_finding() -> Finding:
    """A finding about positive examples by the heavy rule, over GF(3), with named labels."""
    X = np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]] * 40)
    question = SubspaceQuestion(affine=True)
    flag = Flag(4, 3).update(question.lift(GF(3), GF(3).rows(X), GF(3).elements([1, 1, 0] * 40)))
    encoding = Encoding.plain(GF(3), "pqr", label="good", labels=np.array(["no", "yes"]))
    return ask(flag, question, HeavyRule(t_max=20), Coins("é"), encoding=encoding)


def drawn(rule: ParityRule, choice: str) -> Finding:
    """Return the finding of a rule that was chosen in another way than the usual one."""
    found = Finding.of(rule)
    return replace(found, question=replace(found.question, choice=choice))


def golden_things() -> dict[str, object]:
    """What the golden files hold: one of each kind, over several fields."""
    system = LinearSystem([[1, 2, 0], [0, 1, 4]], [3, 1], 5, ("u", "v", "w"))
    half = Fraction(1, 2)
    rational = ParityRule(np.array([half, Fraction(0)], dtype=object), Fraction(-3), "QQ")
    big = Subspace.span(np.array([[255, 1, 0], [0, 0, 7]]), 256)
    return {
        "constraints.json": full_finding(),
        "subspace.json": labelled_finding(),
        "parity.json": drawn(ParityRule([0, 1, 1], 1, 2, ("p", "q", "r"), "fault"), "uniform"),
        "bottom.json": drawn(ParityRule.bottom(4), "uniform"),
        "system.json": system,
        "rational.json": drawn(rational, "lexmin"),
        "span.json": Constraints.from_subspace(big),
        "flag.flag": Flag(70).update(np.eye(70, dtype=np.uint8)[[0, 3, 3, 69]]),
    }


@pytest.mark.parametrize("name", sorted(golden_things()))
def test_golden_files_of_this_version_load_and_say_the_same(name, tmp_path):
    """Files written long ago load, and today's writer writes the same bytes."""
    thing = golden_things()[name]
    loaded = load(HERE / name)
    save(tmp_path / name, thing)
    assert (tmp_path / name).read_bytes() == (HERE / name).read_bytes()
    if isinstance(loaded, SummaryFile):
        assert loaded.summary == thing
    else:
        expected = thing if isinstance(thing, Finding) else Finding.of(thing)
        assert loaded == expected
        assert loaded.fingerprint == expected.fingerprint
        assert loaded.answer.text == expected.answer.text


def test_all_golden_versions_load():
    versions = [path for path in GOLDEN.iterdir() if path.is_dir()]
    assert {path.name for path in versions} == {f"v{v}" for v in range(FIRST, VERSION + 1)}
    for path in versions:
        for file in path.iterdir():
            load(file)


def test_a_finding_comes_back_whole(tmp_path):
    finding = full_finding()
    save(tmp_path / "m.json", finding)
    again = load(tmp_path / "m.json")
    assert isinstance(again, Finding)
    assert again == finding
    assert again.promises == finding.with_counts(finding.rows).promises
    assert (again.question, again.encoding) == (finding.question, finding.encoding)
    assert (again.flag, again.subspace, again.stairs) == (
        finding.flag,
        finding.subspace,
        finding.stairs,
    )
    assert (again.rows, again.provenance) == (finding.rows, finding.provenance)
    rows = GF(2).rows(np.random.RandomState(1).randint(0, 2, size=(50, 6)))
    assert measure(again, rows) == measure(finding, rows)


ESTIMATORS = {
    "parity": lambda X, y: ParityClassifier(
        fit_intercept=False, random_state=1, contamination=0.01
    ).fit(X, y),
    "parity with words": lambda X, y: ParityClassifier(
        random_state="é\n", fit_intercept=True, contamination=0.01
    ).fit(X, np.where(y, "yes, <b>", "")),
    "parity of one label": lambda X, y: ParityClassifier(fit_intercept=False, random_state=1).fit(
        X, [""] * len(X)
    ),
    "parity over GF(5)": lambda X, y: ParityClassifier(
        fit_intercept=False, random_state=1, field=5
    ).fit(X, y),
    "parity over QQ": lambda X, y: ParityClassifier(
        rule=IndexRule(t_max=3), fit_intercept=False, random_state=1, field="QQ", choice="lexmin"
    ).fit(X, X[:, 0] * Fraction(1, 3)),
    "elimination": lambda X, y: EliminationClassifier(fit_intercept=False, random_state=1).fit(
        X, y
    ),
    "span": lambda X, y: LinearSpan(random_state=1, rho=0.3).fit(X),
    "span by the heavy rule": lambda X, y: LinearSpan(random_state=1, rule="heavy").fit(X),
    "span of names": lambda X, y: LinearSpan(random_state=1).fit(named(X)),
    "span without a measurement": lambda X, y: LinearSpan(random_state=1, certify=False).fit(X),
    "span over GF(256)": lambda X, y: LinearSpan(random_state=1, field=256).fit(200 * X),
    "affine": lambda X, y: AffineSpan(random_state=1).fit(X),
    "equations": lambda X, y: LinearEquations(random_state=1).fit(X, y),
    "subspace": lambda X, y: SubspaceClassifier(random_state=1).fit(X, y),
    "affine subspace": lambda X, y: SubspaceClassifier(random_state=1, affine=True).fit(X, y),
    "in parts": lambda X, y: (
        AffineSpan(random_state=1)
        .partial_fit(X[:100])
        .partial_fit(X[100:], sample_weight=np.arange(200))
    ),
    "afresh": lambda X, y: AffineSpan().fit(X),
    "zeros": lambda X, y: LinearSpan(random_state=1).fit(0 * X),
}


def named(X):
    """The rows as a frame with odd names."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=["a", "b=c", 'd"', "é", "", "x0"])


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::flagstone.ReplicabilityWarning")
def test_the_finding_of_every_estimator_is_saved_and_loaded(name, tmp_path):
    estimator = ESTIMATORS[name](*rows_and_labels())
    finding = estimator.finding_
    save(tmp_path / "a.json", estimator)
    save(tmp_path / "b.json", finding)
    finding.save(tmp_path / "c.json")
    assert len({(tmp_path / f"{letter}.json").read_bytes() for letter in "abc"}) == 1
    again = load(tmp_path / "a.json")
    assert again == finding
    jsonschema.validate(finding.to_dict(), json.loads(FINDING_SCHEMA.read_text()))
    assert hash(again) == hash(finding)
    assert again.fingerprint == estimator.fingerprint_
    assert again.promises == estimator.guarantee_
    assert again.flag == estimator.flag_
    assert again.answer.names == finding.answer.names
    again.save(tmp_path / "d.json")
    assert (tmp_path / "d.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_other_doors_are_saved_and_loaded_too(tmp_path):
    X, y = rows_and_labels()
    span = rep_linear_span(X, random_state=4)
    merged = Flag(7).update(np.column_stack([X, y])).merge(Flag(7).update(np.column_stack([X, y])))
    shards = ask(merged, EquationsQuestion(), IndexRule(), Coins(1))
    for number, thing in enumerate([ParityRule([1, 0, 1], 1), span, shards]):
        save(tmp_path / f"{number}.json", thing)
        expected = thing if isinstance(thing, Finding) else Finding.of(thing)
        assert load(tmp_path / f"{number}.json") == expected
    assert load(tmp_path / "2.json").promises.setup.n_shards == 2


WORDED = ("title", "headline", "caution", "hint", "alternatives")


@pytest.mark.filterwarnings("ignore::flagstone.ReplicabilityWarning")
def test_no_sentence_is_stored_and_none_can_be_reworded_into_a_broken_file(monkeypatch, tmp_path):
    X, y = rows_and_labels()
    learner = ParityClassifier(random_state=1, contamination=0.01, certify=0.99)
    findings = [full_finding(), labelled_finding(), learner.fit(X[:, :5], y).finding_]
    said = [finding.headline for finding in findings]
    for number, finding in enumerate(findings):
        finding.save(tmp_path / f"{number}.json")
        stored = (tmp_path / f"{number}.json").read_text()
        values = sentences.summary(finding)
        shown = [values[key] for key in WORDED]
        shown += [*values["promises"], values["next_step"], *values["lines"]]
        for sentence in filter(None, shown):
            assert json.dumps(sentence)[1:-1] not in stored
    for name in (*WORDED, "margin", "coverage"):
        monkeypatch.setattr(sentences, name, lambda *_: "Reworded")
    for number, finding in enumerate(findings):
        again = load(tmp_path / f"{number}.json")
        assert again == finding
        assert sentences.summary(again)["headline"] == "Reworded" != said[number]
        assert "Reworded" in str(again.promises)


@pytest.mark.parametrize("name", sorted(name for name in golden_things() if name.endswith("json")))
def test_golden_findings_keep_to_the_published_schema(name):
    validator = jsonschema.Draft202012Validator(json.loads(FINDING_SCHEMA.read_text()))
    validator.check_schema(validator.schema)
    _, content = unpack_document((HERE / name).read_bytes())
    validator.validate(content)
    validator.validate(content | {"text": sentences.summary(Finding.from_dict(content))})
    assert set(content) == set(validator.schema["required"])
    wrong = [content | {"schema": 2}, content | {"seed": 7}, content | {"text": {}}]
    assert not any(map(validator.is_valid, wrong))


def test_a_finding_saves_reports_and_draws_itself(tmp_path):
    finding = full_finding()
    for write, name in ((finding.save, "m.json"), (finding.report, "r.html")):
        write(tmp_path / name)
        before = (tmp_path / name).read_bytes()
        write(tmp_path / name)  # a notebook that is run twice
        (tmp_path / name).write_text("something else")
        with pytest.raises(InputError, match="exists already"):
            write(tmp_path / name)
        write(str(tmp_path / name), overwrite=True)
        assert (tmp_path / name).read_bytes() == before
    assert load(tmp_path / "m.json") == finding
    assert (tmp_path / "r.html").read_text() == html_report(finding)
    pytest.importorskip("matplotlib")
    display = finding.plot()
    assert display.threshold == finding.threshold
    assert display.figure_.axes[0].get_xlabel()
    axis = display.figure_.axes[0]
    assert load(tmp_path / "m.json").plot(axis).figure_ is display.figure_


def test_newer_and_older_files_are_refused_with_a_reason(tmp_path):
    path = tmp_path / "m.json"
    save(path, ParityRule([1]))
    document = json.loads(path.read_text())
    for version, reason in (
        (VERSION + 1, rf"newer than {VERSION}; update flagstone"),
        (1, "written by a development version, in format 1"),
    ):
        document["version"] = version
        path.write_text(json.dumps(document))
        with pytest.raises(FormatError, match=reason):
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


def test_every_damaged_byte_is_noticed_or_harmless():
    """Any single changed byte is refused, unless the document still says exactly the same."""
    data = (HERE / "constraints.json").read_bytes()
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
    data = (HERE / "flag.flag").read_bytes()
    with pytest.raises(FormatError):
        unpack_document(data[: cut % (len(data) - 1)])


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(schema=1),
        lambda c: c.update(kind="span"),
        lambda c: c["question"].update(kind="os.system"),
        lambda c: c["question"].update(intercept=True),
        lambda c: c["answer"].update(matrix=[[1]]),
        lambda c: c["answer"].update(dim=10**12),
        lambda c: c.update(fingerprint="0" * 64),
        lambda c: c.update(levels=[[1, 2]]),
        lambda c: c["subspace"].update(basis=["1111111", "0111111"]),
        lambda c: c["directions"][0].update(count=10**30),
        lambda c: c["directions"][0].update(vector="0000000"),
        lambda c: c["encoding"].update(columns=[["a", "nonsense"]]),
        lambda c: c.pop("promises"),
        lambda c: c.update(promises=None),
        lambda c: c["promises"].update(shards=10**12),
        lambda c: c["promises"]["proven"].update(rho=0.001),
        lambda c: c["promises"]["certified"].update(eps=0.0),
        lambda c: c["promises"]["measured"].update(margin=100),
        lambda c: c["rule"].update(contamination=0.2),
        lambda c: c.update(headline="3 check equations hold"),
        lambda c: c.update(seed="2027"),
        lambda c: c.update(seed=2026),
        lambda c: c.update(threshold=c["threshold"] + 1),
        lambda c: c["window"].update(t_min=0),
        lambda c: c["provenance"].update(reading="hex"),
    ],
)
def test_well_sealed_nonsense_is_refused(tmp_path, change):
    """A correct checksum does not make a wrong content loadable."""
    _, content = unpack_document((HERE / "constraints.json").read_bytes())
    change(content)
    path = tmp_path / "m.json"
    path.write_bytes(pack_document("finding", content))
    with pytest.raises(FormatError, match=r"m\.json: no valid finding \("):
        load(path)
    path.write_bytes(pack_document("model", content))
    with pytest.raises(FormatError, match="a flagstone model, neither a finding"):
        load(path)


def places_of(value, at=()):
    """Every place inside a JSON value."""
    if at:
        yield at
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places_of(part, (*at, key))


def others(value):
    """Values that could stand where this one does: of other types, and close to it."""
    yield from (None, True, -1, 10**30, 0.25, "x", [])
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, value - 1, str(value), value * 1.001)
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], "0" + value, value.upper())
    elif isinstance(value, list):
        yield from (value[:-1], value + value[:1], value[::-1])
    elif isinstance(value, dict):
        yield from ({k: v for k, v in value.items() if k != gone} for gone in value)
        yield value | {"more": 1}


def edited(content, at, value):
    """The content with another value at one place."""
    content = copy.deepcopy(content)
    part = content
    for key in at[:-1]:
        part = part[key]
    part[at[-1]] = value
    return content


def test_no_single_edit_of_a_summary_ends_in_another_error():
    _, content = unpack_document((HERE / "flag.flag").read_bytes())
    for at in places_of(content):
        value = content
        for key in at:
            value = value[key]
        for other in others(value):
            try:
                found = SummaryFile.from_dict(edited(content, at, other))
            except FormatError:
                continue
            assert found.summary == SummaryFile.from_dict(content).summary


@pytest.mark.parametrize("name", sorted(golden_things()))
def test_what_was_saved_is_recognized_however_it_is_indented(name, tmp_path):
    path = tmp_path / "file"
    data = (HERE / name).read_bytes()
    document = json.loads(data)
    turned = dict(reversed(document.items()))
    for text in (
        data.decode(),
        json.dumps(document, indent=4),
        json.dumps(document, separators=(",", ":")),
        json.dumps(document, indent=2, ensure_ascii=False),
        json.dumps(document, indent="\t", sort_keys=True),
        json.dumps(turned),
        "\n  " + json.dumps(turned, indent=4) + "\n\n",
    ):
        path.write_text(text)
        assert is_saved(path)
        first, again = load(HERE / name), load(path)
        assert first.to_dict() == again.to_dict() if name.endswith("json") else first == again


def test_a_damaged_document_is_told_apart_whatever_it_is_called(tmp_path):
    path = tmp_path / "no flagstone file.json"
    save(path, ParityRule([0, 1, 1], 1))
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"kind": "summary"}))
    assert is_saved(path)
    with pytest.raises(FormatError, match="its checksum does not match"):
        load(path)


def test_tables_and_foreign_files_are_not_taken_for_saved_ones(tmp_path):
    path = tmp_path / "t.jsonl"
    for text in (
        "",
        "a,b\n1,0\n",
        '{"a": 1, "format": 0}\n{"a": 0, "format": 1}\n',
        '{"format": "csv"}\n',
        '{"format": "flagstones", "version": 1}\n',
        "{41}cfb9f00d648\n",
    ):
        path.write_text(text)
        assert not is_saved(path)
    assert not is_saved(tmp_path)
    assert not is_saved(tmp_path / "nothing")
    # of a damaged file of ours the reader says what is wrong with it
    path.write_text((HERE / "parity.json").read_text().replace("fault", "vault"))
    assert is_saved(path)


def test_files_are_not_overwritten_unless_asked(tmp_path):
    path = tmp_path / "m.json"
    save(path, ParityRule([1]))
    path.write_text("mine")
    with pytest.raises(InputError, match="exists already; replace it with overwrite=True"):
        save(path, ParityRule([0]))
    assert path.read_text() == "mine"
    save(path, ParityRule([0]), overwrite=True)
    assert load(path).answer == ParityRule([0])
    with pytest.raises(InputError, match="does not exist"):
        save(tmp_path / "nowhere" / "m.json", ParityRule([0]))
    with pytest.raises(InputError, match="got dict"):
        save(tmp_path / "n.json", {})
    with pytest.raises(InputError, match="got Subspace"):
        save(tmp_path / "n.json", Subspace.zero(3))


@pytest.mark.parametrize(
    "details",
    [
        {"skipped": []},
        {"skipped": -1},
        {"skipped": True},
        {"sources": "t.csv"},
        {"sources": [1]},
        {"seed": ["1"]},
        {"reading": None},
        [],
        [["skipped"]],
    ],
)
def test_details_of_a_summary_are_checked(details):
    _, content = unpack_document((HERE / "flag.flag").read_bytes())
    with pytest.raises(FormatError, match="no valid flag"):
        SummaryFile.from_dict(content | {"details": details})


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link", "."):
        assert not is_saved(tmp_path / name)
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
    HERE.mkdir(parents=True, exist_ok=True)
    for file, thing in golden_things().items():
        save(HERE / file, thing, overwrite=True)
