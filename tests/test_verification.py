"""Findings are read by computing them again: a file cannot claim what its rows do not say."""

import copy
import json

import pytest

from flagstone import GF, IndexRule, LinearSpan, ParityClassifier
from flagstone.errors import FormatError
from flagstone.finding import Finding
from flagstone.pipeline import certify, rep_linear_span
from flagstone.report import html_report
from flagstone.store import unpack_document
from tests.test_second_pass import checked, streamed
from tests.test_store import (
    HERE,
    edited,
    full_finding,
    labelled_finding,
    others,
    places_of,
    rows_and_labels,
)

#: What nothing else in a finding repeats: where it came from, what was asked for without any effect
#: on the window, and what only the rows could certify again. Possible edits there are taken.
FREE = (
    ("seed_is_fresh",),
    ("provenance",),
    ("encoding", "label", 0),  # of a rule the answer repeats it
    ("rows", "skipped"),
    ("rows", "places"),
    ("rows", "values"),
    ("rows", "levels"),  # may be left out
    ("rule", "eps"),  # where t_max is given
    ("promises", "shards"),
    ("promises", "sorted_rows"),  # where the span of all rows was kept
    ("promises", "labels"),
    ("promises", "certified", "levels"),
    ("promises", "certified", "certificate"),
    ("promises", "withheld"),
    ("promises", "conditions"),
)


def hostile(kind):
    """The finding whose file is edited."""
    X, _ = rows_and_labels()
    if kind == "parity":
        # many thresholds, so that hardly another seed draws the same one
        learner = ParityClassifier(rule=IndexRule(t_max=60), random_state=9, fit_intercept=True)
        return learner.fit(X[:, :2], X[:, 1] ^ 1).finding_
    if kind == "rho":
        return LinearSpan(random_state=3, rho=0.3, eps=0.2, field=3).fit(X[:, :3]).finding_
    if kind == "certified":
        learner = LinearSpan(rule=IndexRule(t_min=9, t_max=60), random_state=3, certify=0.99)
        return learner.fit(X[:, [0, 3, 5]]).finding_
    return {"constraints": full_finding, "subspace": labelled_finding}[kind]()


#: What these findings have of their own; the others are edited everywhere.
EDITED = {
    "rho": ("rule", "window", "threshold", "promises"),
    "certified": ("promises", "rows", "levels"),
    "parity": ("question", "answer", "subspace", "seed", "encoding", "directions"),
}


@pytest.mark.parametrize("kind", ["constraints", "subspace", "parity", "rho", "certified"])
@pytest.mark.filterwarnings("ignore::flagstone.ReplicabilityWarning")
def test_no_single_edit_changes_what_a_finding_says(kind):
    """An edit sealed with a right checksum can change FREE values only."""
    finding = hostile(kind)
    content = json.loads(json.dumps(finding.to_dict()))
    edits = taken = 0
    for at in places_of(content):
        if at[0] not in EDITED.get(kind, at):
            continue
        shown, value = None, content
        for key in at:
            value = value[key]
        for other in others(value):
            edits += 1
            try:
                found = Finding.from_dict(edited(content, at, other))
            except FormatError:
                continue
            if found == finding:
                continue
            taken += 1
            assert any(at[: len(free)] == free for free in FREE), (at, other)
            assert found.fingerprint == finding.fingerprint
            assert found.answer.to_dict() == finding.answer.to_dict()
            assert (found.subspace, found.seed) == (finding.subspace, finding.seed)
            assert (found.threshold, found.margin) == (finding.threshold, finding.margin)
            assert (found.rows.read, found.rows.misfits) == (
                finding.rows.read,
                finding.rows.misfits,
            )
            assert str(found.promises)
            shown = found
        if shown is not None:
            assert html_report(shown)
    assert edits > 300
    assert taken < edits / 10


@pytest.mark.parametrize("name", ["parity.json", "bottom.json", "system.json", "rational.json"])
def test_no_single_edit_changes_what_a_bare_answer_says(name):
    _, content = unpack_document((HERE / name).read_bytes())
    finding = Finding.from_dict(content)
    for at in places_of(content):
        value = content
        for key in at:
            value = value[key]
        for other in others(value):
            try:
                found = Finding.from_dict(edited(content, at, other))
            except FormatError:
                continue
            if found != finding:
                free = ("seed_is_fresh", "provenance", "rows")
                label = name == "system.json" and at[:2] == ("encoding", "label")
                assert at[0] in free or label, (at, other)
            assert found.answer.to_dict() == finding.answer.to_dict()


def test_counts_of_a_stream_that_cannot_be_are_refused():
    data = streamed(checked(1500, damage=0.01), 60).to_dict()
    for first, outside in ((256, 3), (8, 3), (128, 900)):
        bad = copy.deepcopy(data)
        bad["promises"]["certified"]["levels"][0] |= {"first": first, "outside": outside}
        with pytest.raises(FormatError):
            Finding.from_dict(bad)


def test_counts_outside_of_spaces_that_are_none_of_the_flag_are_refused():
    """A level of fewer dimensions would claim more equations than the answer has."""
    rows = GF(2).rows(checked(1500, damage=0.01))
    kept = certify(rep_linear_span(rows, t_min=60, t_max=120, random_state=7), rows)
    for data in (kept.to_dict(), streamed(checked(1500, damage=0.01), 60).to_dict()):
        assert Finding.from_dict(data).promises.contains.equations == 8
        for number, level in enumerate(data["promises"]["certified"]["levels"]):
            for edit in ({"dim": 9}, {"dim": 19}, {"runs": level["outside"] + 1}, {"runs": -1}):
                bad = copy.deepcopy(data)
                bad["promises"]["certified"]["levels"][number] |= edit
                with pytest.raises(FormatError):
                    Finding.from_dict(bad)


@pytest.mark.parametrize("text", ["ab", "12", "0101010", "01", "0 1 0 1 0", "01010１", "<b>101"])
def test_rows_that_are_no_rows_are_refused(text):
    data = full_finding().to_dict()
    data["rows"]["values"][0] = text
    with pytest.raises(FormatError):
        Finding.from_dict(data)
