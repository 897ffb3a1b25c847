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
        "  not listed: 2 equations implied by the encoding; --as text lists all",
    ]
    place = next(i for i, line in enumerate(said) if line.startswith("do not fit"))
    assert said[place + 1].strip() == "break odor = m exactly when ring = n"
    assert said[place + 2].endswith(f"m.csv line 79: odor {odor[77]}, ring {ring[77]}")
    every = run("constraints", str(tmp_path / "m.csv"), "-e", "auto", "--contamination", ".01",
                "--seed", "1", "--as", "text")  # fmt: skip
    assert len(every.out.splitlines()) == 3
