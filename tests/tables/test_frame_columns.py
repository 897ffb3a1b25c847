"""Frames in a column of a table: encoders, proposals, messages that were sent several times."""

import json

import numpy as np
import pytest

from flagstone import GF
from flagstone.encoding import BadEntry, ColumnEncoder, Encoding
from flagstone.errors import InputError, InputWarning
from flagstone.tables import open_table
from flagstone.tables.naming import columns_meant

HEX = ["0d5502c24108", "0d5603c24109", "0D5704C2410A", "0d5805c2410b"]


def bits(text: str, n_bits: int) -> list[int]:
    return [int(b) for b in f"{int(text, 16):0{4 * len(text)}b}"[:n_bits]]


def csv_of(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text("id,data\n" + "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells)))
    return path


def test_a_column_of_frames_becomes_bits(tmp_path):
    table = open_table(csv_of(tmp_path, HEX))
    encoding = table.encoding(2, columns=["data"], encode={"data": "hex"})
    assert encoding.encoders == (ColumnEncoder.parse("data", "hex:48"),)
    assert encoding.names[:2] == ("data[0]", "data[1]")
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    (batch,) = table.rows(encoding)
    assert batch.matrix.tolist() == [bits(text, 48) for text in HEX]


def test_every_way_to_write_a_frame_counts_in_a_cell():
    encoder = ColumnEncoder.parse("data", "hex:16")
    cells = np.array(["0d55", "0D:55", "{16}0d55", "0x0d 0x55"], dtype=object)
    assert encoder.encode(cells, GF(2)).tolist() == [bits("0d55", 16)] * 4
    assert encoder.encode(cells, GF(7)).tolist() == [bits("0d55", 16)] * 4
    for cell, problem in (
        ("0d5", "is no frame of 16 bits"),
        ("0d5g", "is no frame: column 4: 'g'"),
        ("0d55/0d55", "holds 2 frames"),
        (1234, "is a number, where a frame is written as text"),
        ("", "missing"),
        (None, "missing"),
    ):
        with pytest.raises(BadEntry, match=problem):
            encoder.encode(np.array(["0d55", cell], dtype=object), GF(2))


@pytest.mark.parametrize("text", ["hex", "hex:0", "hex:x", "hex:1,2", "hex:131073"])
def test_the_number_of_bits_must_be_one(text):
    with pytest.raises(InputError, match="the number of bits must be given, between 1 and 131,072"):
        ColumnEncoder.parse("data", text)


def test_rows_of_another_length_are_left_out_and_keep_their_numbers(tmp_path):
    path = csv_of(tmp_path, ["0d55", HEX[0], "ab", HEX[1], HEX[2]])
    table = open_table(path)
    with pytest.raises(InputError, match=r"several lengths \(3 rows of 48 bits, 1 of 8, 1 of 16\)"):
        table.encoding(2, columns=["data"], encode={"data": "hex"})
    encoding = table.encoding(2, columns=["data"], encode={"data": "hex:48"})
    (batch,) = table.rows(encoding)
    assert batch.matrix.tolist() == [bits(text, 48) for text in HEX[:3]]
    assert batch.skipped == 2
    assert [batch.place(i).line for i in range(3)] == [3, 5, 6]
    with pytest.raises(InputError, match=r"no rows are left: the frames of all 5 .* data=hex:40"):
        list(table.rows(table.encoding(2, columns=["data"], encode={"data": "hex:40"})))
    path.write_text("id,data\n0,0d55\n1,abcd\n2,0dzz\n")
    table = open_table(path)
    with pytest.raises(InputError, match="line 4, column 'data': '0dzz' is no frame: column 3"):
        list(table.rows(table.encoding(2, columns=["data"], encode={"data": "hex:16"})))
    with pytest.raises(InputError, match="line 4, column 'data': '0dzz' is no frame: column 3"):
        table.encoding(2, columns=["data"], encode={"data": "hex"})


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (HEX, "hex:48"),
        ([*HEX, "0d55"], "hex:48"),
        (["{41}cfb9f00d648", "{41}cfb9f00d650"], "hex:41"),
        (["2023-02-03", "2023-02-04", "2024-01-01"], "onehot:2023-02-03,2023-02-04,2024-01-01"),
        (["dead", "beef", "cafe"], "onehot:beef,cafe,dead"),
        (["no", "yes"], "levels:no,yes"),
        (["a1", "b2", "c3"], "onehot:a1,b2,c3"),
    ],
)
def test_frames_are_proposed_and_words_and_dates_are_not(tmp_path, cells, expected):
    table = open_table(csv_of(tmp_path, cells))
    (proposal,) = table.proposals(["data"])
    assert proposal.encoder is not None
    assert proposal.encoder.text == expected
    if expected == "hex:48":
        with pytest.raises(InputError, match=r"column 'data' holds frames.*columns=\['data'\]"):
            table.encoding(2)
        encoding = table.encoding(2, columns=["data"], encode="auto")
        assert sum(map(len, table.rows(encoding))) == 4


def receiver(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(
        "".join(
            json.dumps({"time": 1675413347 + i, "model": "X", "snr": 3 + i, "ok": 1, "data": text})
            + "\n"
            for i, text in enumerate(HEX)
        )
    )
    return open_table(path)


def test_what_stands_beside_frames_is_left_out(tmp_path):
    table = receiver(tmp_path)
    alone = table.encoding(2, encode="auto")
    assert alone.columns == ("data",)
    assert table.encoding(2, columns=["-snr"], encode="auto") == alone
    assert table.encoding(2, encode={"data": "hex:48", "*": "auto"}) == alone
    with pytest.warns(InputWarning, match=r"left out time, snr, ok \(it stands beside frames"):
        assert table.encoding(2, encode={"data": "hex:48"}) == alone
    with pytest.raises(InputError, match=r"column 'data' holds frames.*columns=\['data'\]"):
        table.encoding(2)
    # unless it is asked for, or may decide a label
    assert table.encoding(2, columns=["snr", "data"], encode="auto").columns == ("snr", "data")
    assert "snr" in table.encoding(2, label="ok", encode="auto").columns


def test_frames_of_a_message_are_rows_each(tmp_path):
    path = tmp_path / "r.jsonl"
    records = [
        {"model": "X", "codes": [f"{{48}}{text}"] * 3, "rows": [{"len": 48, "data": text}] * 3}
        for text in HEX
    ]
    records.insert(1, {"model": "X", "codes": [], "rows": []})
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    table = open_table(path)
    for name in ("codes", "rows"):
        encoding = table.encoding(2, columns=[name], encode={name: "hex"})
        (batch,) = table.rows(encoding)
        assert batch.matrix.tolist() == [bits(text, 48) for text in HEX for _ in range(3)]
        assert [batch.place(i).line for i in (0, 2, 3, 11)] == [1, 1, 3, 5]
    both = table.encoding(2, columns=["codes", "rows"], encode="auto")
    assert sum(map(len, table.rows(both))) == 12
    path.write_text('{"codes": ["ab"], "rows": ["ab", "cd"]}\n')
    with pytest.raises(InputError, match="line 1: 'codes' and 'rows' hold different numbers"):
        open_table(path).proposals(["codes", "rows"])
    for odd in ("[1]", '[{"len": "8", "data": "ab"}]', '{"a": 1}', "[null]"):
        path.write_text(f'{{"codes": {odd}}}\n')
        with pytest.raises(InputError, match="line 1, column 'codes': an array or object inside"):
            open_table(path).proposals(["codes"])


def test_columns_by_range_and_by_byte_and_bit(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("{41}cfb9f00d648\n")
    table = open_table(path)

    def chosen(*texts):
        return table.encoding(2, columns=list(texts)).names

    assert chosen("x13..x15") == ("x13", "x14", "x15")
    assert chosen("b3.5") == ("x26",)
    assert chosen("b3.0", "b3.7") == ("x31", "x24")
    assert chosen("b5") == ("x40",)
    assert chosen("b4.7..b4.5", "-b4.6") == ("x32", "x34")
    assert chosen("-x1..b4.0", "-b5") == ("x0",)
    for wrong in ("b6.0", "b3.8", "x3..x99", "x99..x3", "b3.5..", "..x3"):
        with pytest.raises(InputError, match="there is no column"):
            chosen(wrong)
    with pytest.raises(InputError, match=r"range x5\.\.x3 runs backwards: write x3\.\.x5"):
        chosen("x5..x3")
    names = [f"data[{i}]" for i in range(16)]
    assert columns_meant("b1.0", names) == [15]
    assert columns_meant("data[3]..b0.3", names) == [3, 4]
    assert columns_meant("b1", ["b1", "x8"]) == [0]  # a name that is there means itself
