"""The table of trial kinds: what each is called, its class, and its share of the time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from scripts.fuzz.cluster import WrongCluster
from scripts.fuzz.damage import DamagedFile, FlippedBits
from scripts.fuzz.ledgers import DamagedCheckpoint, DamagedLedger
from scripts.fuzz.memory import Expanding
from scripts.fuzz.names import HostileNames, OddNames
from scripts.fuzz.processes import ManyProcesses
from scripts.fuzz.stock import Stock
from scripts.fuzz.stops import Stopped, StoppedGroup
from scripts.fuzz.surroundings import PoorSurroundings
from scripts.fuzz.trial import Trial
from scripts.fuzz.valid import ValidTable

__all__ = ["KINDS", "Kind"]


class Kind(NamedTuple):
    """A kind of trial: its class, its share of the time, and what is tried, for the page."""

    make: Callable[[random.Random, Stock], Trial]
    share: int
    tried: str


KINDS = {
    "files": Kind(
        DamagedFile,
        18,
        "Good files of every format (CSV, TSV, Parquet, Arrow files and streams, NPY, NPZ, JSON "
        "lines, hex, bits, and these packed by gzip, bzip2 or xz; findings, flags) are "
        "damaged: bits, sizes and offsets changed, numbers replaced by huge ones, lines cut, "
        "doubled or shuffled, pipes and devices in place of files. Where a file carries a "
        "checksum, it is often computed again, so that only the contents are wrong.",
    ),
    "flipped bits": Kind(
        FlippedBits,
        6,
        "Parquet files with one bit of their footer flipped, and Arrow, NPY, NPZ and "
        "compressed files with any bit flipped: 60 copies to a case, all read by one process.",
    ),
    "memory": Kind(
        Expanding,
        8,
        "Compressed files of a few kilobytes that unpack to as much as 512 MiB of text, in one row "
        "or in many.",
    ),
    "valid": Kind(
        ValidTable,
        3,
        "Good tables over GF(2) to GF(1000003) and QQ, with numbers of any length. They must be "
        "answered, and rows and their summary must give the same answer.",
    ),
    "hostile names": Kind(
        HostileNames,
        4,
        "Columns, labels, levels, files, options and seeds made of terminal escapes, shell text, "
        "quotes, line ends, halves of characters, right-to-left marks and markup. Nothing raw may "
        "be printed, and a proposal must be one word to a shell.",
    ),
    "odd names": Kind(
        OddNames,
        5,
        "Good data whose columns, or arrays in an archive, have names such as `x0..x2`, `b3.5` or "
        "`../a`. The answer must be that of plain names.",
    ),
    "ledgers": Kind(
        DamagedLedger,
        4,
        "Audit ledgers with a changed bit, digit, word or line. The audit that goes on from them "
        "must refuse them, or report as if they were whole.",
    ),
    "checkpoints": Kind(
        DamagedCheckpoint,
        8,
        "The same with the checkpoints of one process and of `--workers`.",
    ),
    "stops": Kind(
        Stopped,
        8,
        "SIGKILL, SIGTERM and Ctrl-C at random moments of runs that keep a checkpoint or a ledger, "
        "up to five times each; then the same command runs to its end. Its outputs must be those "
        "of an undisturbed run, byte for byte. A signal must end in one line and exit code 130 or "
        "143, and leave no file behind.",
    ),
    "stopped groups": Kind(
        StoppedGroup,
        12,
        "The same with `--workers` and `-j`, where Ctrl-C reaches all processes at once.",
    ),
    "processes": Kind(
        ManyProcesses,
        8,
        "`--workers 2` and `-j 2` on good partitions, which must answer as one process does, and "
        "on partitions of which one is damaged.",
    ),
    "clusters": Kind(
        WrongCluster,
        10,
        "`--cluster` with the address of an SSH, web or mail server, of random bytes, of a silent "
        "listener, of a scheduler without workers, of nothing. It must fail within 20 seconds, "
        "with one sentence that names the address.",
    ),
    "surroundings": Kind(
        PoorSurroundings,
        8,
        "Closed standard streams, a full device, little address space, few open files, files that "
        "may not grow, no shared memory, no folder for temporary files, an ASCII terminal.",
    ),
}
