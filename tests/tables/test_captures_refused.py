"""Lines that hold more than frames: refused, with the verb that reads them; nothing is cut off."""

import pytest

from flagstone.errors import InputError
from flagstone.tables import open_table

#: Two lines of a capture each, whose frames are 0d55 and 0d56.
CAPTURES = {
    "seconds": "1675413347 0d55\n1675413347 0d56\n",
    "milliseconds": "1675413347123 0d55\n1675413348123 0d56\n",
    "fractions": "1675413347.25 0d55\n0.5, 0d56\n",
    "dates": "2023-02-03 10:22:27 0d55\n2023-02-03T10:22:27.5Z 0d56\n",
    "times": "10:22:27 0d55\n10:22:28 0d56\n",
    "brackets": "[10:22:27] 0d55\n(1675413347) 0d:56\n",
    "candump -L": "(1436509052.249713) can0 123#0d55\n(1.5) can0 123#0D56\n",
    "candump": "  can0  123   [2]  0D 55\n  can0  7FF  [2]  0D 56   '.V'\n",
    "identifiers": "123#0d55\ncan1 18FF1234##10d56\n",
    "receiver": "[00] {16} 0d 55 : 00001101 01010101\n[ 1] {16} 0d 56\n",
    "codes": "codes     : {16}0d55\ncodes     : {16}0d56\n",
    "names": "node7 RX 0d55\nnode7 RX 0d56\n",
}


@pytest.mark.parametrize("kind", CAPTURES)
def test_lines_of_captures_are_refused(tmp_path, kind):
    path = tmp_path / "a.hex"
    path.write_text(f"; a comment\n{CAPTURES[kind]}")
    with pytest.raises(InputError) as caught:
        open_table(path)
    first = CAPTURES[kind].split("\n")[0].strip()
    text = str(caught.value)
    assert text.startswith(f"{path} line 2: ")
    assert first[:40] in text
    assert text.endswith("is read by: flagstone frames FILE")


def test_a_line_of_a_capture_among_plain_rows_is_refused(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("0d55\n" * 30_000 + "can0 123#0d56\n")
    table = open_table(path)
    message = r"line 30001: column 3: 'n' is not .* in 'can0 123#0d56'; .*: flagstone frames "
    with pytest.raises(InputError, match=message):
        list(table.rows(table.encoding(2)))


def test_numbers_of_lines_are_refused(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("8 0d55\n9 0d56\n10 0d57\n")
    message = "line 1: '8' counts the lines, in '8 0d55'; if it is part of the row, take out the"
    with pytest.raises(InputError, match=message):
        open_table(path)


def test_what_looks_like_a_time_may_be_digits(tmp_path):
    path = tmp_path / "a.hex"
    for text in (
        "1675413347 0d55\n1675413340 0d56\n",
        "9675413347 0d55\n",
        "0d55 1675413347\n",
        "16754133470d55\n16754133470d56\n",
        "1675413347 ; 0d55\n1675413348 ; 0d56\n",
    ):
        path.write_text(text)
        assert len(open_table(path).columns) in (40, 56)


def test_a_wrong_digit_alone_is_no_capture(tmp_path):
    path = tmp_path / "a.hex"
    path.write_text("0d55\nzd56\n")
    table = open_table(path)
    with pytest.raises(InputError, match=r"line 2: column 1: 'z' is not a hexadecimal digit .*\)$"):
        list(table.rows(table.encoding(2)))
