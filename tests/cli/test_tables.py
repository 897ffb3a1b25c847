"""What the command line says of tables."""

import json

import numpy as np
import pandas as pd


def test_the_shell_says_what_is_new_and_shows_cells(run, tmp_path):
    random = np.random.RandomState(3)
    odor = random.choice(list("acm"), size=900)
    ring = np.where(odor == "m", "n", random.choice(list("ot"), size=900))
    ring[77] = "n" if odor[77] != "m" else "o"
    pd.DataFrame({"odor": odor, "ring": ring}).to_csv(tmp_path / "m.csv", index=False)
    done = run(
        "constraints",
        str(tmp_path / "m.csv"),
        "-e",
        "auto",
        "--contamination",
        ".01",
        "--seed",
        "1",
    )
    said = done.out.splitlines()
    assert said[0].startswith("1 check equation holds; at most")
    assert said[1:3] == [
        "  odor = m exactly when ring = n",
        "  not listed: 2 equations implied by the encoding; --as canonical lists all",
    ]
    place = next(i for i, line in enumerate(said) if line.startswith("do not fit"))
    assert said[place + 1].strip() == "break odor = m exactly when ring = n"
    assert said[place + 2].endswith(f"m.csv line 79: odor {odor[77]}, ring {ring[77]}")
    every = run("constraints", str(tmp_path / "m.csv"), "-e", "auto", "--contamination", ".01",
                "--seed", "1", "--as", "text")  # fmt: skip
    assert len(every.out.splitlines()) == 3


def test_check_counts_what_is_shown(run, tmp_path):
    rows = [("m", "n") if i % 3 == 2 else ("ac"[i % 3], "ot"[i // 3 % 2]) for i in range(120)]
    table = "odor,ring\n" + "".join(f"{odor},{ring}\n" for odor, ring in rows)
    (tmp_path / "good.csv").write_text(table)
    (tmp_path / "bad.csv").write_text(table + "m,o\nm,t\na,n\n")
    made = str(tmp_path / "f.json")
    words = ["-e", "odor=onehot:a,c,m", "-e", "ring=onehot:n,o,t", "--seed", "1"]
    assert run("constraints", str(tmp_path / "good.csv"), *words, "-o", made).code == 0
    done = run("check", made, str(tmp_path / "bad.csv"))
    assert done.code == 4
    said = done.out.splitlines()
    assert said[1] == "3 rows (2.4 %) break the rule"
    assert "           3  odor = m exactly when ring = n" in said
    assert [line.partition("bad.csv ")[2] for line in said if "bad.csv" in line] == [
        "line 122: odor m, ring o",
        "line 123: odor m, ring t",
        "line 124: odor a, ring n",
    ]


LEFT_OUT = (
    "another sample leaves out the same columns, here status (the rows themselves decided that; "
    "name the columns to read, and it is fixed)"
)
COMPLETE = "samples, shares and future rows are of rows without a missing value"


def conditions(done):
    return [
        line.split(maxsplit=1)[1] for line in done.out.splitlines() if "condition " in line[:10]
    ]


def with_status(path, value, gaps=0, rows=600):
    X = np.random.RandomState(4).randint(0, 2, size=(rows, 4))
    X[:, 3] = X[:, 0] ^ X[:, 2]
    table = pd.DataFrame(X, columns=list("abcd")).astype(object)
    table.iloc[:gaps, 1] = None
    table.assign(status=value).to_csv(path, index=False)
    return str(path)


def test_columns_that_the_rows_left_out_are_a_condition(run, tmp_path):
    """Another sample may hold another value of such a column, and then another answer."""
    file, seed = with_status(tmp_path / "t.csv", "ok"), ("--seed", "1")
    for words in ((), ("--field", "QQ"), ("-e", "auto")):
        done = run("constraints", file, *seed, *words)
        assert LEFT_OUT in conditions(done), words
    for words in (("-c", "a,b,c,d"), ("-c", "-status")):
        assert LEFT_OUT not in conditions(run("constraints", file, *seed, *words))
    found = json.loads(run("constraints", file, *seed, "--json").out)
    assert found["promises"]["conditions"] == [LEFT_OUT]
    # the columns of a protocol are fixed
    protocol = str(tmp_path / "p.json")
    assert run("plan", "--pilot", file, *seed, "-o", protocol).code == 0
    fresh = run(
        "constraints", with_status(tmp_path / "f.csv", "fail", rows=1300), "--protocol", protocol
    )
    assert fresh.code == 0
    assert LEFT_OUT not in conditions(fresh)
    # a flag remembers it, also if it is merged
    flags = [str(tmp_path / name) for name in ("a.flag", "b.flag", "c.flag")]
    for flag in flags[:2]:
        assert run("summarize", file, "-o", flag, *seed).code == 0
    assert run("merge", *flags[:2], "-o", flags[2]).code == 0
    for flag in flags[1:]:
        assert LEFT_OUT in conditions(run("constraints", flag))


def test_future_rows_are_complete_ones_where_others_are_dropped(run, tmp_path):
    file, seed = with_status(tmp_path / "t.csv", "ok", gaps=9), ("--seed", "1")
    words = ("-c", "a,b,c,d", "--missing", "drop")
    assert COMPLETE in conditions(run("constraints", file, *seed, *words))
    whole = with_status(tmp_path / "w.csv", "ok")
    assert COMPLETE not in conditions(run("constraints", whole, *seed, "-c", "a,b,c,d"))
    protocol = str(tmp_path / "p.json")
    assert run("plan", "--pilot", file, *seed, *words, "-o", protocol).code == 0
    fresh = with_status(tmp_path / "f.csv", "ok", gaps=9, rows=1300)
    assert COMPLETE in conditions(run("constraints", fresh, "--protocol", protocol))
