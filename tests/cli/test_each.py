"""``constraints --each``: an answer for each table, and what they share."""

import json

import numpy as np


def tables(place) -> list[str]:
    """Two tables over GF(7) with a + b + c = 3; in the second one a is constant, too."""
    random = np.random.RandomState(3)
    names = ["one.csv", "two.csv"]
    for name in names:
        a, b = random.randint(0, 7, size=(2, 400))
        a = a if name == "one.csv" else np.full(400, 5)
        lines = [f"{x},{y},{(3 - x - y) % 7}" for x, y in zip(a, b, strict=True)]
        (place / name).write_text("a,b,c\n" + "\n".join(lines) + "\n")
    return names


def test_each_says_what_tables_share(run, place):
    names = tables(place)
    done = run("constraints", *names, "--each", "--field", "7", "--seed", "1")
    assert done.code == 0
    head, *lines = done.out.split("\n\n")[0].split("\n")
    assert head == "1 check equation holds in all 2 captures:"
    assert lines == ["  a + b + c = 3 (mod 7)"]
    assert "beyond what they share:\n    a = 5 (mod 7)\n" in done.out
    assert done.out.endswith("\nseed          1\n")


def test_each_in_json_is_what_single_runs_say(run, place):
    names = tables(place)
    words = ["--field", "7", "--seed", "1", "--json"]
    found = json.loads(run("constraints", *names, "--each", *words).out)
    assert (found["seed"], found["seed_is_fresh"]) == ("1", False)
    for name, one in zip(names, found["captures"], strict=True):
        alone = json.loads(run("constraints", name, *words).out)
        assert one["name"] == name
        assert one["finding"]["fingerprint"] == alone["fingerprint"]
        assert one["finding"].keys() == alone.keys() - {"outputs"}
    assert found["common"]["fingerprint"] == found["captures"][0]["finding"]["fingerprint"]
    assert [one["beyond"] for one in found["captures"]] == [[], ["a = 5 (mod 7)"]]
