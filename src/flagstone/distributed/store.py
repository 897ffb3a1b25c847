"""Finished leaves on disk: a run that lost its cluster reads only the others again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagstone.disk import Ledger, check_fields, open_ledger
from flagstone.distributed.tasks import Job, Leaf
from flagstone.errors import FormatError, InputError


@dataclass
class LeafStore:
    """What is known of a run: its seed, and the leaves that are done, by partition number."""

    seed: str
    leaves: dict[int, Leaf] = field(default_factory=dict)
    ledger: Ledger | None = None

    def keep(self, number: int, leaf: Leaf) -> None:
        """Note a leaf that was just done."""
        if self.ledger is not None and number not in self.leaves:
            self.ledger.append([{"partition": number, "leaf": leaf.to_dict()}])
        self.leaves[number] = leaf

    def finish(self) -> None:
        """Remove the file: everything it stood for is written."""
        if self.ledger is not None:
            self.ledger.remove()


@contextlib.contextmanager
def open_store(path: str | Path | None, identity: str, seed: str, job: Job) -> Iterator[LeafStore]:
    """Open the leaves of a run; ``seed`` is kept for a run that is resumed.

    A file of another run (other files, options or outputs) is refused. Without a path nothing is
    kept.
    """
    store = LeafStore(seed)
    if path is None:
        yield store
        return

    records: list[Any] = []
    with open_ledger(path, "leaves", records.append, {"id": str, "seed": str}) as ledger:
        store.ledger = ledger
        if ledger.header is None:
            ledger.start(id=identity, seed=seed)
        elif ledger.header["id"] != identity:
            raise InputError(
                f"{path} belongs to another run (other files, options or outputs); run that "
                "command again, or remove the checkpoint, or choose another one"
            )
        else:
            store.seed = ledger.header["seed"]
        try:
            for record in records:
                check_fields(record, {"partition": int, "leaf": dict})
                leaf = Leaf.from_dict(record["leaf"], job)
                if leaf.sizes != (leaf.summary.n_rows,):
                    raise ValueError("it counts other rows than it sums up")
                store.leaves[record["partition"]] = leaf
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path}: damaged ({error}); remove it") from error
        yield store
