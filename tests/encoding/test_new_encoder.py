"""A new kind of encoder is one class and its entry in ENCODERS: everything else follows."""

import numpy as np
import pandas as pd
import pytest

from flagstone import GF, FieldEncoder
from flagstone.cli import main
from flagstone.encoding import ENCODERS, ColumnEncoder, Encoding, cells, constant_text, worded
from flagstone.encoding._column import Statement
from flagstone.encoding._entries import refuse
from flagstone.errors import InputError
from flagstone.tables import open_table


class Sign(ColumnEncoder):
    kind = "sign"
    usage = "sign - 1 where the number is negative"

    @property
    def names(self):
        return (f"{self.column}<0",)

    def reads(self, field):
        return "number"

    def encode(self, values, field):
        refuse(self.missing(values), values, "is missing")
        return (values < 0).astype(field.dtype)[:, np.newaxis]

    def cell(self, part, field):
        return "negative" if part[0] else "0 or more"

    def statement(self, part, field):
        return Statement(part[0], f"{self.column} < 0", f"{self.column} ≥ 0")

    @classmethod
    def proposal(cls, column, values, field):
        if values.dtype.kind == "f" and (values < 0).any():
            return cls(column), "some numbers are negative"
        return None


@pytest.fixture
def signs():
    known = dict(ENCODERS)
    ENCODERS.clear()
    ENCODERS.update({"sign": Sign, **known})  # proposed before all others
    yield
    ENCODERS.clear()
    ENCODERS.update(known)


@pytest.fixture
def table(tmp_path, signs):
    rng = np.random.default_rng(1)
    due = np.round(rng.normal(size=200), 2)
    lines = [f"{d},{'late' if d < 0 else 'fine'}" for d in due.tolist()]
    path = tmp_path / "t.csv"
    path.write_text("due,state\n" + "\n".join(lines))
    return open_table(path)


def test_it_is_proposed_read_and_stored(table):
    encoding = table.encoding(2, encode="auto")
    assert encoding.encoders[0] == ColumnEncoder.parse("due", "sign") == Sign("due")
    assert encoding.names == ("due<0", "state")
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    assert all((batch.matrix[:, 0] == batch.matrix[:, 1]).all() for batch in table.rows(encoding))


def test_findings_speak_its_words(table):
    encoding = table.encoding(2, encode="auto")
    assert worded(encoding, np.array([1, 1, 0])) == "due < 0 exactly when state = late"
    assert cells(encoding, [1, 0]) == {"due": "negative", "state": "fine"}
    assert constant_text(encoding, 0, 1) == "due<0 = 1"
    assert Encoding(GF(2), encoding.encoders, degree=2).names[-1] == "due<0·state"


def test_it_refuses_a_missing_value_itself(signs):
    encoder = FieldEncoder(encoders={"due": "sign"}).fit(pd.DataFrame({"due": [1.5, -2.0]}))
    with pytest.raises(InputError, match=r"row 1, column 'due' .* is missing"):
        encoder.transform(pd.DataFrame({"due": [1.5, np.nan]}))


def test_it_is_listed_where_encoders_are(signs):
    with pytest.raises(InputError, match=r"Encoders: sign - 1 where the number is negative; elem"):
        ColumnEncoder.parse("due", "signum")


def test_the_command_line_knows_it(table, capsys):
    """Its values may hold an equals sign, as may the names of columns."""
    with pytest.raises(SystemExit, match="2"):
        main(["constraints", str(table.files[0]), "--encode", "due=sign:a=b"])
    assert "encoder 'sign:a=b' of column 'due': it takes no values" in capsys.readouterr().err
