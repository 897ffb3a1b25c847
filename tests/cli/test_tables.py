"""What the command line says of tables."""

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
