"""The report: one HTML page that holds everything and asks the network for nothing.

Every text that came from data (column names, file names, labels, the command) is escaped; the
page has no script, and a policy that forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from flagstone.disk import atomic_write
from flagstone.finding import Finding
from flagstone.guarantees.rows import promise_rows
from flagstone.markup import escape
from flagstone.plots import ScreeDisplay
from flagstone.reports.scree import STYLE, scree_svg

__all__ = ["html_report", "write_report"]

_MANY = 200


def html_report(finding: Finding) -> str:
    """Return the page of a finding.

    Examples
    --------
    >>> from flagstone import Finding, ParityRule
    >>> page = html_report(Finding.of(ParityRule([1, 0, 1], names=["<script>", "b", "c"])))
    >>> "<script" in page, "&lt;script&gt; ⊕ c" in page
    (False, True)
    """
    css = files("flagstone.reports").joinpath("page.css").read_text(encoding="utf-8")
    sections = [
        _head(finding),
        _answer(finding),
        _fingerprint(finding),
        _promises(finding),
        _plot(finding),
        _coverage(finding),
        _directions(finding),
        _columns(finding),
        _repeat(finding),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(finding.title)}</title>\n<style>{css}{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + "\n<footer>Made by flagstone: two samples, one published seed, the same answer."
        "</footer>\n</main>\n</body>\n</html>\n"
    )


def write_report(path: str | PathLike[str], finding: Finding, *, overwrite: bool = False) -> None:
    """Write the page of a finding to a file, atomically."""
    atomic_write(Path(path), html_report(finding).encode(), overwrite=overwrite)


def _head(finding: Finding) -> str:
    encoding, rows = finding.encoding, finding.rows
    parts = [
        _listed(finding.provenance.get("sources") or [], 3),
        f"{rows.read:,} rows" if rows.read else "",
        finding.partitions or "",
        f"{len(encoding.names)} columns over {encoding.field.name}",
    ]
    kicker = " · ".join(escape(part) for part in parts if part)
    notes = "".join(
        f'<p class="note">{escape(note[0].upper() + note[1:])}.</p>' for note in finding.notes
    )
    title = escape(finding.headline)
    return f'<header><p class="kicker">{kicker}</p><h1>{title}</h1>{notes}</header>'


def _answer(finding: Finding) -> str:
    answer = finding.answer
    lines = list(answer.lines) or [answer.text]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines[:_MANY])
    if len(lines) > _MANY:
        items += f"<li>… and {len(lines) - _MANY} more, in the saved file</li>"
    other = ""
    if finding.field.order == 2 and answer.augmented is not None:
        shown = "\n".join(answer.mask_lines[:_MANY])
        other += (
            "<details><summary>As bit masks (bit i, from the lowest, is column i)</summary>"
            f"<pre>{escape(shown)}</pre></details>"
        )
    if len(answer.expression) < 20_000:
        other += (
            "<details><summary>As a Python expression in a row <code>x</code></summary>"
            f"<pre>{escape(answer.expression)}</pre></details>"
        )
    return f'<ul class="answer">{items}</ul>{other}'


def _fingerprint(finding: Finding) -> str:
    digits = finding.fingerprint
    return (
        f'<h2>Fingerprint</h2><p class="print">{digits[:16]}</p>'
        "<p>Another sample with the same seed gives the same answer exactly when these digits are "
        f'equal.</p><p class="full"><code>{digits}</code></p>'
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


def _plot(finding: Finding) -> str:
    if not finding.stairs.steps:
        return ""
    scree = ScreeDisplay.of(finding)
    keys = ""
    if scree.sets is not None:
        keys = (
            '<br><span><span class="key window"></span>window of the threshold</span> '
            '<span><span class="key margin"></span>margin: so many altered rows cannot change '
            "the answer</span>"
        )
    caption = (
        "Each set of the partition spans a space; long flat steps are spaces that many rows "
        f"agree on. {escape(scree.describe())}{keys}"
    )
    return (
        f"<h2>How the data fill the spaces</h2><figure>{scree_svg(scree)}"
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _coverage(finding: Finding) -> str:
    rows, total = finding.rows, finding.rows.read
    misfits = rows.misfits
    if misfits is None or not total:
        return ""
    fit = 100 * (total - misfits) / total
    out = [
        "<h2>Rows that do not fit</h2>",
        f"<p>{misfits:,} of {total:,} rows ({100 * misfits / total:.3g} %) do not fit; "
        f"{total - misfits:,} do.",
    ]
    if rows.skipped:
        out.append(f" {rows.skipped:,} rows of another length were skipped.")
    out.append(
        f'</p><div class="bar" role="img" aria-label="{fit:.3g} % of the rows fit">'
        f'<span style="width:{fit:.4f}%"></span></div>'
    )
    places = rows.places
    if places:
        body = "".join(
            f"<tr><td>{escape(str(file))}</td><td class='number'>{row:,}</td>"
            f"<td class='number'>{'–' if line is None else f'{line:,}'}</td></tr>"
            for file, row, line in places[:_MANY]
        )
        more = f"<p>The first {len(places):,} are listed.</p>" if misfits > len(places) else ""
        out.append(
            '<div class="scroll"><table><thead><tr><th>File</th><th class="number">Row</th>'
            f'<th class="number">Line</th></tr></thead><tbody>{body}</tbody></table></div>{more}'
        )
    return "".join(out)


def _directions(finding: Finding) -> str:
    directions = finding.directions
    if not directions:
        return ""
    body = "".join(
        f"<tr><td class='number'>{d['count']:,}</td><td>{'kept' if d['kept'] else 'left out'}</td>"
        f"<td><code>{escape(str(d['vector']))}</code></td></tr>"
        for d in directions[:_MANY]
    )
    kept = sum(bool(d["kept"]) for d in directions)
    more = "" if len(directions) <= _MANY else f"<p>The first {_MANY} are listed.</p>"
    return (
        f"<h2>How often each direction was seen</h2><p>{kept} directions kept, "
        f"{len(directions) - kept} left out.</p><details><summary>All directions</summary>"
        '<div class="scroll"><table><thead><tr><th class="number">Times</th><th>Fate</th>'
        f"<th>Direction</th></tr></thead><tbody>{body}</tbody></table></div>{more}</details>"
    )


def _columns(finding: Finding) -> str:
    encoding = finding.encoding
    pairs = [*encoding.encoders, *([encoding.label] if encoding.label else [])]
    body = "".join(
        f"<tr><td>{escape(e.column)}{' (label)' if e is encoding.label else ''}</td>"
        f"<td><code>{escape(e.text)}</code></td></tr>"
        for e in pairs[:_MANY]
    )
    more = "" if len(pairs) <= _MANY else f"<p>The first {_MANY} are listed.</p>"
    return (
        f"<h2>Columns</h2><details><summary>{len(pairs)} columns and how they were encoded"
        '</summary><div class="scroll"><table><thead><tr><th>Column</th><th>Encoder</th></tr>'
        f"</thead><tbody>{body}</tbody></table></div>{more}</details>"
    )


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
        f"(<code>{escape(str(finding.seed))}</code>) and the same number of rows:</p>"
        f"<pre>{words}</pre>"
    )


def _listed(names: Sequence[Any], most: int) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more files" if len(names) > most else "")
