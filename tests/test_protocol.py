"""Protocols: what two labs agree on, and what is refused as one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from flagstone import QQ, AffineSpan, LinearSpan, ParityClassifier, SubspaceClassifier, load
from flagstone.algebra.fields import GF
from flagstone.encoding import Encoding
from flagstone.errors import FormatError, InputError
from flagstone.protocol import Protocol
from flagstone.question import ConstraintsQuestion, ParityQuestion, SpanQuestion, SubspaceQuestion

COLUMNS = Encoding.plain(GF(2), ["a", "b", "c"])
LABELLED = Encoding.plain(GF(2), ["a", "b", "c"], label="y")
PROTOCOL = Protocol(SpanQuestion(), COLUMNS, "2026", 0.012, 0.018, max_rows=10_000)


def test_the_fingerprint_is_that_of_the_documented_text():
    assert PROTOCOL.fingerprint.startswith("b3ea6637cc26147a")
    assert replace(PROTOCOL, reading={"format": "bits"}).fingerprint != PROTOCOL.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "2027"},
        {"t_min": 0.0121},
        {"t_max": 0.0181},
        {"max_rows": 10_001},
        {"max_rows": None},
        {"rule": "heavy"},
        {"confidence": 0.95},
        {"reading": {"length": 3}},
        {"partition": "files"},
        {"partition": "65536"},
        {"encoding": Encoding.plain(GF(2), ["a", "b", "d"])},
        {"encoding": Encoding.plain(GF(3), ["a", "b", "c"])},
        {"question": ConstraintsQuestion()},
    ],
)
def test_every_part_enters_the_fingerprint(change):
    other = replace(PROTOCOL, **change)
    assert other.fingerprint != PROTOCOL.fingerprint
    assert other != PROTOCOL
    assert Protocol.from_dict(json.loads(json.dumps(other.to_dict()))) == other


@pytest.mark.parametrize("partition", ["days", "0", "-1", "1e6", 65536, None])
def test_a_partition_is_none_files_or_a_number_of_bytes(partition):
    with pytest.raises(InputError, match="partition is"):
        replace(PROTOCOL, partition=partition)
    with pytest.raises(FormatError):
        Protocol.from_dict({**PROTOCOL.to_dict(), "partition": partition})


def test_what_a_protocol_lacks_is_named():
    data = PROTOCOL.to_dict()
    del data["max_rows"], data["partition"]
    with pytest.raises(FormatError, match=r"no valid protocol \(it lacks max_rows, partition\)"):
        Protocol.from_dict(data)


def test_it_is_saved_and_loaded(tmp_path):
    PROTOCOL.save(tmp_path / "p.json")
    assert load(tmp_path / "p.json") == PROTOCOL
    assert hash(load(tmp_path / "p.json")) == hash(PROTOCOL)
    PROTOCOL.save(tmp_path / "p.json")  # the same once more
    other = replace(PROTOCOL, seed="another")
    other.save(tmp_path / "p.json")  # a protocol may replace another one
    assert load(tmp_path / "p.json") == other


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "0" * 64},
        {"t_min": 0.013},  # the fingerprint no longer fits
        {"seed": 2026},
        {"t_min": "0.012"},
        {"t_max": 1.5},
        {"max_rows": 0},
        {"max_rows": True},
        {"max_rows": "10"},
        {"confidence": 1.0},
        {"confidence": "0.99"},
        {"rule": "best"},
        {"reading": {"length": "3"}},
        {"reading": {"colour": "red"}},
        {
            "question": {
                "kind": "parity",
                "intercept": True,
                "choice": "uniform",
                "row": "(x, 1, y)",
            }
        },
        {"question": {"kind": "riddle"}},
        {"encoding": None},
        {"more": 1},
    ],
)
def test_what_is_no_protocol_is_refused(change):
    with pytest.raises(FormatError, match="no valid protocol"):
        Protocol.from_dict(PROTOCOL.to_dict() | change, "mine.json")


@pytest.mark.parametrize("missing", PROTOCOL.to_dict())
def test_every_key_is_needed(missing):
    rest = {name: value for name, value in PROTOCOL.to_dict().items() if name != missing}
    with pytest.raises(FormatError, match="no valid protocol"):
        Protocol.from_dict(rest)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((SpanQuestion(), LABELLED, "1", 0.1, 0.2), "a label that is not asked for"),
        ((ParityQuestion(), COLUMNS, "1", 0.1, 0.2), "lack one that is"),
        ((SpanQuestion(), COLUMNS, 1, 0.1, 0.2), "a seed of text"),
        ((SpanQuestion(), COLUMNS, "1", True, 0.2), "t_min"),
        (
            (ParityQuestion(choice="uniform"), Encoding.plain(QQ, ["a"], label="y"), "1", 0.1, 0.2),
            "uniform",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(parts, said):
    with pytest.raises(InputError, match=said):
        Protocol(*parts)


@pytest.mark.parametrize(
    ("question", "estimator"),
    [
        (SpanQuestion(), LinearSpan),
        (ConstraintsQuestion(), AffineSpan),
        (ParityQuestion(True, "lexmin"), ParityClassifier),
        (SubspaceQuestion(affine=True), SubspaceClassifier),
    ],
)
def test_its_parameters_make_the_estimator_that_runs_it(question, estimator):
    encoding = LABELLED if question.labelled else COLUMNS
    protocol = Protocol(question, encoding, "5", 0.02, 0.05, max_rows=300, confidence=0.9)
    X = np.random.RandomState(1).randint(0, 2, size=(400, 3))
    X, y = X[: protocol.max_rows], (X[: protocol.max_rows, 0],) if question.labelled else ()
    fitted = estimator(**protocol.parameters).fit(
        X[: protocol.max_rows], *(column[:300] for column in y)
    )
    assert fitted.finding_.question == question
    g = fitted.guarantee_
    assert (g.setup.n_rows, g.certified.confidence, str(g.setup.window)) == (300, 0.9, "{7..15}")
    assert g.certified.certificate is not None
    assert fitted.random_state_ == "5"
