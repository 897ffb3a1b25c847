"""The report: one HTML page that holds everything and asks the network for nothing.

Every text that came from data (column names, file names, labels, the command) is escaped; the
page has no script, and a policy that forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as escape_html
from importlib.resources import files
from typing import Any

from flagstone.answers import ParityRule
from flagstone.models import Model, SpanAnswer, mask_lines
from flagstone.reports.promises import promise_rows
from flagstone.reports.scree import STYLE, Scree, scree_svg

__all__ = ["html_report"]

_MANY = 200


def escape(text: str) -> str:
    """Return text from data for a page: markup stays text, control characters are shown."""
    shown = (
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )
    return escape_html("".join(shown))


def html_report(model: Model) -> str:
    """Return the page of a model.

    Examples
    --------
    >>> from flagstone import ParityRule
    >>> from flagstone.models import Model
    >>> page = html_report(Model.of(ParityRule([1, 0, 1], names=["<script>", "b", "c"])))
    >>> "<script" in page, "&lt;script&gt; ⊕ c" in page
    (False, True)
    """
    css = files("flagstone.reports").joinpath("page.css").read_text(encoding="utf-8")
    title = _title(model)
    sections = [
        _head(model, title),
        _answer(model),
        _fingerprint(model),
        _promises(model),
        _plot(model),
        _coverage(model),
        _directions(model),
        _columns(model),
        _repeat(model),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{css}{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + "\n<footer>Made by flagstone: two samples, one published seed, the same answer."
        "</footer>\n</main>\n</body>\n</html>\n"
    )


def _title(model: Model) -> str:
    answer = model.answer
    if model.is_nothing_kept:
        return (
            "No direction was kept: this rule is only a draw of the coins"
            if isinstance(answer, ParityRule)
            else "No direction was kept: the rows say nothing"
        )
    if isinstance(answer, ParityRule):
        return "No linear rule fits (⊥)" if answer.is_bottom else "A linear rule for the label"
    if isinstance(answer, SpanAnswer):
        return f"A span of dimension {answer.subspace.dim} of {answer.dim}"
    if model.is_bottom:
        return "The kept equations contradict each other"
    count = len(answer)
    noun = "equation" if count == 1 else "equations"
    if model.verb == "equations":
        return f"A system of {count} {noun}"
    if count == 0:
        return "No check equation holds"
    return f"{count} check {noun} {'holds' if count == 1 else 'hold'}"


def _head(model: Model, title: str) -> str:
    details = model.details
    parts = [_listed(details.get("sources") or [], 3)]
    rows = details.get("rows") or {}
    if rows.get("read") is not None:
        parts.append(f"{rows['read']:,} rows")
    if model.encoding is not None:
        parts.append(f"{len(model.encoding.names)} columns over {model.encoding.field.name}")
    kicker = " · ".join(escape(part) for part in parts if part)
    return f'<header><p class="kicker">{kicker}</p><h1>{escape(title)}</h1></header>'


def _answer(model: Model) -> str:
    answer = model.answer
    lines = [answer.text] if isinstance(answer, ParityRule) else list(answer.lines)
    lines = lines or ["(none: every row obeys)" if not isinstance(answer, SpanAnswer) else "{0}"]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines[:_MANY])
    if len(lines) > _MANY:
        items += f"<li>… and {len(lines) - _MANY} more, in the model file</li>"
    other = ""
    field = answer.subspace.field if isinstance(answer, SpanAnswer) else answer.field
    if field.order == 2 and not (isinstance(answer, ParityRule) and answer.is_bottom):
        shown = "\n".join(mask_lines(answer)[:_MANY])
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


def _fingerprint(model: Model) -> str:
    digits = model.fingerprint
    return (
        f'<h2>Fingerprint</h2><p class="print">{digits[:16]}</p>'
        "<p>Another sample with the same seed gives the same answer exactly when these digits are "
        f'equal.</p><p class="full"><code>{digits}</code></p>'
    )


def _promises(model: Model) -> str:
    if model.guarantee is None:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(what)}</th><td>{escape(text)}</td>'
        f'<td><span class="badge {kind}">{escape(badge)}</span></td></tr>'
        for what, text, badge, kind in promise_rows(model)
    )
    hypotheses = "".join(f"<li>{escape(h)}</li>" for h in model.guarantee.hypotheses)
    return (
        '<h2>Promises</h2><table class="promises"><thead><tr><th>Promise</th><th>What is known'
        f"</th><th>How</th></tr></thead><tbody>{rows}</tbody></table>"
        f"<details><summary>What replicability rests on</summary><ul>{hypotheses}</ul></details>"
    )


def _plot(model: Model) -> str:
    if not model.levels:
        return ""
    scree = Scree.of(model)
    keys = ""
    if scree.window is not None:
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


def _coverage(model: Model) -> str:
    rows: dict[str, Any] = dict(model.details.get("rows") or {})
    misfits, total = rows.get("misfits"), rows.get("read")
    if misfits is None or not total:
        return ""
    fit = 100 * (total - misfits) / total
    out = [
        "<h2>Rows that do not fit</h2>",
        f"<p>{misfits:,} of {total:,} rows ({100 * misfits / total:.3g} %) do not fit; "
        f"{total - misfits:,} do.",
    ]
    if rows.get("skipped"):
        out.append(f" {rows['skipped']:,} rows of another length were skipped.")
    out.append(
        f'</p><div class="bar" role="img" aria-label="{fit:.3g} % of the rows fit">'
        f'<span style="width:{fit:.4f}%"></span></div>'
    )
    places = rows.get("places") or []
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


def _directions(model: Model) -> str:
    directions = model.details.get("directions") or []
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


def _columns(model: Model) -> str:
    encoding = model.encoding
    if encoding is None:
        return ""
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


def _repeat(model: Model) -> str:
    details = model.details
    if not details.get("command"):
        return ""
    # words stay whole where a line breaks, so that no option is torn apart
    words = " ".join(
        f'<span class="word">{escape(word)}</span>' for word in str(details["command"]).split(" ")
    )
    return (
        "<h2>Repeat it</h2><p>The same command on a fresh sample, with the same seed "
        f"(<code>{escape(str(details.get('seed')))}</code>) and the same number of rows:</p>"
        f"<pre>{words}</pre>"
    )


def _listed(names: Sequence[Any], most: int) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more files" if len(names) > most else "")
