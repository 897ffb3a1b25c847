"""The report: one HTML page that holds everything and asks the network for nothing.

Every text that came from data (column names, file names, labels, the command) is escaped. The page
says everything without a script; the one that it has, a slider and buttons that copy, is admitted
by its hash under a policy that forbids everything else.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from importlib.resources import files
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

from flagstone._version import __version__
from flagstone.disk import atomic_write
from flagstone.errors import InputError
from flagstone.finding import Finding
from flagstone.markup import escape
from flagstone.plots import ScreeDisplay
from flagstone.plots.svg import STYLE, scree_svg
from flagstone.report.levels import level_list
from flagstone.report.misfits import misfit_section
from flagstone.report.parts import MANY, folded, table
from flagstone.report.view import AnswerView
from flagstone.text import promise_rows
from flagstone.wording import counted

#: Columns that are named of a direction.
_SHOWN = 12


def html_report(
    finding: Finding,
    view: AnswerView | None = None,
    *,
    made: date | None = None,
    notes: Sequence[str] | None = None,
) -> str:
    """Return the page of a finding.

    Parameters
    ----------
    finding : Finding
    view : AnswerView, optional
        How the answer and the rows that break it are shown; as plain lines by default.
    made : date, optional
        The date of the page; by default today, or the day of SOURCE_DATE_EPOCH.
    notes : sequence of str, optional
        Shown under the headline; by default those of the finding.

    Examples
    --------
    >>> from flagstone import Finding
    >>> from flagstone.answers import ParityRule
    >>> page = html_report(Finding.of(ParityRule([1, 0, 1], names=["<script>", "b", "c"])))
    >>> page.count("<script"), "&lt;script&gt; ⊕ c" in page
    (1, True)
    """
    view = AnswerView() if view is None else view
    css, script = (_part("page.css") + STYLE), _part("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    day = report_date() if made is None else made
    sections = [
        _head(finding, view.headline(finding), day, finding.notes if notes is None else notes),
        view.answer(finding),
        misfit_section(finding) if view.lists_misfits else "",
        _fingerprint(finding),
        _promises(finding),
        _plot(finding, view.has_bits(finding)),
        _directions(finding, view.has_bits(finding)),
        _columns(finding),
        _repeat(finding),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(finding.title)}</title>\n<style>{css}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + f"\n<footer>Made by flagstone {__version__}: two samples, one published seed, the same "
        f"answer.</footer>\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def write_report(
    path: str | PathLike[str],
    finding: Finding,
    view: AnswerView | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write the page of a finding to a file, atomically; another such page may be replaced."""
    page = html_report(finding, view).encode()
    overwrite = overwrite or _is_report(Path(path))
    atomic_write(Path(path), page, overwrite=overwrite, keep_equal=True)


def _is_report(path: Path) -> bool:
    """Say whether a file is a page that was written here."""
    try:
        return path.is_file() and b"<footer>Made by flagstone " in path.read_bytes()
    except OSError:
        return False


def date_of(path: str | PathLike[str]) -> date | None:
    """Return the date of a page that was written before; None for a new page."""
    try:
        found = re.search(rb'<time datetime="([\d-]{10})">', Path(path).read_bytes())
        return None if found is None else date.fromisoformat(found[1].decode())
    except (OSError, ValueError):
        return None


def _part(name: str) -> str:
    return files("flagstone.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def report_date() -> date:
    """Return the day, or the one that builds which must be repeated bit for bit are told."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.fromtimestamp(time.time() if given is None else int(given), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"SOURCE_DATE_EPOCH must be a number of seconds since 1970, got {given!r}"
        ) from None


def _head(finding: Finding, headline: str, day: date, notes: Sequence[str]) -> str:
    encoding, rows = finding.encoding, finding.rows
    sources = list(map(str, finding.provenance.get("sources") or []))
    parts = [
        ", ".join(sources[:3]) + (f" and {len(sources) - 3} more files" if sources[3:] else ""),
        counted(rows.read, "row") if rows.read else "",
        finding.partitions or "",
        f"{counted(len(encoding.names), 'column')} over {encoding.field.name}",
    ]
    kicker = " · ".join(escape(part) for part in parts if part)
    made = f'flagstone {__version__} · <time datetime="{day}">{day}</time>'
    said = "".join(f'<p class="note">{escape(note[0].upper() + note[1:])}.</p>' for note in notes)
    return (
        f'<header><p class="kicker"><span>{kicker}</span><span>{made}</span></p>'
        f"<h1>{escape(headline)}</h1>{said}</header>"
    )


def _fingerprint(finding: Finding) -> str:
    digits = finding.fingerprint
    return (
        f'<h2>Fingerprint</h2><p class="print">{digits[:16]}</p>'
        "<p>Another sample with the same seed gives the same answer exactly when these digits are "
        f'equal.</p><p class="full" data-copy><code>{digits}</code></p>'
    )


def _promises(finding: Finding) -> str:
    if finding.promises is None:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(what)}</th><td>{escape(text)}</td>'
        f'<td><span class="badge {kind}">{escape(badge)}</span></td></tr>'
        for what, text, badge, kind in promise_rows(finding.promises, finding.rows.uncovered)
    )
    hypotheses = "".join(f"<li>{escape(h)}</li>" for h in finding.promises.hypotheses)
    return (
        '<h2>Promises</h2><table class="promises"><thead><tr><th>Promise</th><th>What is known'
        f"</th><th>How</th></tr></thead><tbody>{rows}</tbody></table>"
        f"<details><summary>What replicability rests on</summary><ul>{hypotheses}</ul></details>"
    )


def _plot(finding: Finding, has_bits: bool) -> str:
    if not finding.stairs.levels:
        return ""
    scree = ScreeDisplay.of(finding)
    keys = ""
    if scree.sets is not None:
        keys = (
            '<br><span><span class="key window"></span>window of the threshold</span> '
            '<span><span class="key margin"></span>margin: the answer does not change if this '
            "many rows are altered</span>"
        )
    caption = (
        "Each set of the partition spans a space; long flat steps are spaces that many rows "
        f"agree on. {escape(scree.describe())}{keys}"
    )
    levels, remark = level_list(finding, has_bits=has_bits)
    return (
        f"<h2>How the data fill the spaces</h2><figure>{scree_svg(scree)}{levels}"
        f"<figcaption>{caption}{remark}</figcaption></figure>"
    )


def _directions(finding: Finding, has_bits: bool) -> str:
    directions = finding.directions
    if not directions:
        return ""
    kept = sum(bool(d["kept"]) for d in directions)
    shown = _code if has_bits or finding.field.order != 2 else _names_of(finding)
    rows = (
        (f"{d['count']:,}", "kept" if d["kept"] else "left out", shown(d["vector"]))
        for d in directions[:MANY]
    )
    body = table(("Times", "Fate", "Direction"), rows, numbers=(0,)) + _first(directions)
    return (
        f"<h2>How often each direction was seen</h2><p>{counted(kept, 'direction')} kept, "
        f"{len(directions) - kept} left out.</p>{folded('All directions', body)}"
    )


def _names_of(finding: Finding) -> Callable[[str], str]:
    """Return how a direction of 0/1 columns is shown: by the columns that are 1 in it."""
    label = finding.encoding.label
    rest = ["the constant 1", label.column if label else ""]
    if finding.question.kind in ("parity", "equations"):
        rest = rest[1 - (finding.question.dim(0) - 1) :]
    names = [*finding.encoding.names, *rest]

    def shown(vector: str) -> str:
        ones = [name for name, bit in zip(names, vector, strict=False) if bit == "1"]
        more = f" and {len(ones) - _SHOWN} more" if len(ones) > _SHOWN else ""
        return escape(", ".join(ones[:_SHOWN])) + more

    return shown


def _columns(finding: Finding) -> str:
    encoding = finding.encoding
    pairs = [*encoding.encoders, *([encoding.label] if encoding.label else [])]
    # Neighbours with one encoder are one line.
    runs = [list(run) for _, run in groupby(pairs, lambda e: (e.text, e is encoding.label))]
    rows = []
    for run in runs[:MANY]:
        names = [escape(e.column) for e in (run if len(run) < 4 else (run[0], run[-1]))]
        label = " (label)" if run[0] is encoding.label else ""
        rows.append(((", " if len(run) < 4 else " … ").join(names) + label, _code(run[0].text)))
    body = table(("Column", "Encoder"), rows) + _first(runs)
    count = counted(len(pairs), "column")
    return f"<h2>Columns</h2>{folded(f'{count} and how they were encoded', body)}"


def _repeat(finding: Finding) -> str:
    command = finding.provenance.get("command")
    if not command:
        return ""
    # words stay whole where a line breaks, so that no option is torn apart
    words = " ".join(
        f'<span class="word">{escape(word)}</span>' for word in str(command).split(" ")
    )
    return (
        "<h2>Repeat it</h2><p>The same command on a fresh sample, with the same seed "
        f"({_code(finding.seed)}) and the same number of rows:</p><pre data-copy>{words}</pre>"
    )


def _code(text: Any) -> str:
    return f"<code>{escape(str(text))}</code>"


def _first(listed: Sequence[Any]) -> str:
    return "" if len(listed) <= MANY else f"<p>The first {MANY} are listed.</p>"
