"""Numbers and their nouns."""

import pytest

from flagstone.wording import closest, counted


@pytest.mark.parametrize(
    ("number", "verb", "said"),
    [
        (1, "", "1 row"),
        (0, "", "0 rows"),
        (12345, "", "12,345 rows"),
        (1, "is left", "1 row is left"),
        (2, "is left", "2 rows are left"),
        (2, "was read", "2 rows were read"),
        (3, "does not fit", "3 rows do not fit"),
        (3, "breaks it", "3 rows break it"),
    ],
)
def test_one_row_is_no_rows(number, verb, said):
    assert counted(number, "row", verb) == said


def test_case_alone_is_the_closest():
    assert closest("VAT", ["gate", "vat", "vast"]) == "; did you mean 'vat'?"
    assert closest("Net", ["net", "NET"]) == "; did you mean 'net' or 'NET'?"
