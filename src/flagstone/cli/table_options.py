"""The options of reading: which files, in which format, which columns of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

TABLE = "Reading the table"


@dataclass(frozen=True)
class ReadOptions:
    """How files are read."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="csv, tsv, parquet, arrow, npy, npz, jsonl, hex or bits; by default what the "
            "file name says.",
            rich_help_panel=TABLE,
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a csv or tsv file names the columns.",
            rich_help_panel=TABLE,
            show_default=False,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            help="What separates cells of a csv; \\t is a tab.",
            rich_help_panel=TABLE,
        ),
    ] = None
    bit_order: Annotated[
        str | None,
        typer.Option(
            "--bit-order",
            help="Order of the bits of frames: msb (as written, the default), lsb (every byte "
            "turned around), nibble (every digit), reversed (the whole row).",
            rich_help_panel=TABLE,
        ),
    ] = None
    length: Annotated[
        int | None,
        typer.Option(
            "--length",
            min=1,
            help="Keep the frames of this many bits and count the others.",
            rich_help_panel=TABLE,
        ),
    ] = None
    skip_fields: Annotated[
        int | None,
        typer.Option(
            "--skip-fields",
            min=0,
            help="So many fields before each frame are none of it (0: nothing is, not even what "
            "looks like a timestamp). By default well-known ones are recognised, and named.",
            rich_help_panel=TABLE,
        ),
    ] = None
    max_columns: Annotated[
        int | None,
        typer.Option(
            "--max-columns",
            min=1,
            help="Read files of up to this many columns (131,072 unless told): memory grows with "
            "their square.",
            rich_help_panel=TABLE,
        ),
    ] = None


@dataclass(frozen=True)
class ColumnOptions(ReadOptions):
    """How files are read, and how their columns become rows over a field."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            help="Feature columns by name, range (x13..x40), byte and bit (b3.5) or pattern, "
            "repeatable or separated by commas; '-NAME' leaves one out. Default: all.",
            rich_help_panel=TABLE,
        ),
    ] = None
    encode: Annotated[
        list[str] | None,
        typer.Option(
            "--encode",
            "-e",
            metavar="COLUMN=ENCODER",
            help="How a column becomes field elements: element, levels:no,yes, onehot:a,b,c, "
            "bits:8, above:3.5, mod, hex:48 (hex: whatever length the frames have); repeatable, "
            "COLUMN may be a pattern. 'auto' accepts every proposal.",
            rich_help_panel=TABLE,
        ),
    ] = None
    field: Annotated[
        str,
        typer.Option("--field", help="2, 7, 2^8, … or QQ.", rich_help_panel=TABLE),
    ] = "2"


@dataclass(frozen=True)
class TableOptions(ColumnOptions):
    """The same for verbs that know a label."""

    label: Annotated[
        str | None,
        typer.Option("--label", "-l", help="The label column.", rich_help_panel=TABLE),
    ] = None
