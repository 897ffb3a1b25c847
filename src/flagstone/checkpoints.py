"""Finished shards on disk: a run that was stopped reads only the others again."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagstone.disk import Ledger, check_fields, open_ledger
from flagstone.errors import FormatError, InputError
from flagstone.shards import ShardSummary, ShardTask


@dataclass
class ShardCheckpoint:
    """What is known of a run: its seed, and the shards that are done, by number.

    Attributes
    ----------
    begun : ShardSummary or None
        Of an only shard, the summary of its first rows: the run goes on with it, in place.
    resumed : bool
        Whether an earlier run has left something of this.
    """

    seed: str
    finished: dict[int, ShardSummary] = field(default_factory=dict)
    ledger: Ledger | None = None
    begun: ShardSummary | None = None
    resumed: bool = False

    @property
    def held(self) -> str:
        """What it holds, in words."""
        return f"{len(self.finished):,} finished partitions"

    def keep(self, number: int, summary: ShardSummary) -> None:
        """Keep the summary of a shard that was just done."""
        if self.ledger is not None and number not in self.finished:
            self.ledger.append([{"partition": number, "leaf": summary.to_dict()}])
        self.finished[number] = summary

    def finish(self) -> None:
        """Remove the file: its results are written."""
        if self.ledger is not None:
            self.ledger.remove()


def digest_of(*known: Any) -> str:
    """Return an id of everything that a result depends on."""
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def check_run(path: str | Path, found: Mapping[str, Any], identity: str, seed: str | None) -> None:
    """Refuse the file of a run with another id, or with another seed (None: any)."""
    if found.get("id") != identity:
        raise InputError(
            f"{path} belongs to another run (other files, options or outputs); run that command "
            "again, or remove the checkpoint, or choose another one"
        )
    begun = found.get("seed", seed)
    if seed is not None and begun != seed:
        raise InputError(
            f"{path} was begun with seed {begun!r}, not with {seed!r}; give that seed, or remove "
            "the checkpoint, or choose another one"
        )


@contextlib.contextmanager
def open_checkpoint(
    path: str | Path | None,
    identity: str,
    seed: str,
    task: ShardTask,
    n_shards: int,
    *,
    seed_is_fresh: bool = False,
) -> Iterator[ShardCheckpoint]:
    """Open the finished shards of a run.

    A seed that was drawn afresh is kept for a run that is resumed. A file of another run (other
    files, options or outputs, another seed or number of partitions) is refused. Without a path
    nothing is kept.
    """
    found = ShardCheckpoint(seed)
    if path is None:
        yield found
        return

    records: list[Any] = []
    fields: dict[str, type] = {"id": str, "seed": str, "partitions": int}
    with open_ledger(path, "leaves", records.append, fields) as ledger:
        found.ledger = ledger
        if ledger.header is None:
            ledger.start(id=identity, seed=seed, partitions=n_shards)
        else:
            check_run(path, ledger.header, identity, None if seed_is_fresh else seed)
            if ledger.header["partitions"] != n_shards:
                raise InputError(
                    f"{path} is about {ledger.header['partitions']:,} partitions, but there are "
                    f"{n_shards:,}; remove the checkpoint, or choose another one"
                )
            found.seed = ledger.header["seed"]
        try:
            for record in records:
                check_fields(record, {"partition": int, "leaf": dict})
                leaf = ShardSummary.from_dict(record["leaf"], task)
                if leaf.sizes != (leaf.summary.n_rows,):
                    raise ValueError("it counts other rows than it sums up")
                number = record["partition"]
                if not 0 <= number < n_shards:
                    raise ValueError(f"there is no partition {number}")
                if number in found.finished:
                    raise ValueError(f"partition {number} comes twice")
                found.finished[number] = leaf
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path}: damaged ({error}); remove it") from error
        found.resumed = bool(found.finished)
        yield found
