"""The report page of frames: digest first, the pattern and damaged frames under a ruler, code."""

from __future__ import annotations

from flagstone.finding import Finding
from flagstone.frames.study import Study
from flagstone.frames.text import digest_lines, headline, next_lines
from flagstone.markup import escape
from flagstone.report import AnswerView
from flagstone.report.parts import copied, folded, items, misfit_list, unfolding
from flagstone.wording import counted

#: The most damaged frames that are listed; those after the first few unfold.
_LISTED, _OPEN = 50, 12


class FrameView(AnswerView):
    """Show the digests of frames, their pattern, damaged frames and code.

    Parameters
    ----------
    study : Study
        Of the frames, or of a saved finding.

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import Coins, IndexRule
    >>> from flagstone.frames.study import study
    >>> from flagstone.tables import Place
    >>> from flagstone.report import html_report
    >>> data = np.random.RandomState(0).randint(0, 256, size=(500, 4), dtype=np.uint8)
    >>> check = np.bitwise_xor.reduce(data, axis=1, keepdims=True)
    >>> X = np.unpackbits(np.hstack([data, check]), axis=1)
    >>> found = study(X, [Place("f", i, i) for i in range(500)], IndexRule(), Coins(1))
    >>> page = html_report(found.finding, FrameView(found))
    >>> "<h1>XOR of bytes, in byte 4: fits 500 of 500 frames</h1>" in page
    True
    """

    lists_misfits = False

    def __init__(self, study: Study) -> None:
        self._study = study

    def headline(self, finding: Finding) -> str:
        """Return the digests by name, and how many frames fit them."""
        return headline(self._study)

    def answer(self, finding: Finding) -> str:
        """Return digests, pattern, what to capture next, code, damaged frames, and equations."""
        found = self._study
        groups: list[tuple[str, list[str]]] = []
        for label, text in digest_lines(found):
            if label and not label.startswith(" "):
                groups.append((label, []))
            what = label.strip() if label.startswith(" ") else ""
            groups[-1][1].append(f"{what}: {text}" if what else text)
        out = [_group(label, [escape(text) for text in texts]) for label, texts in groups]
        ruled = f'<span class="bits ruled">{ruled_bits(found.pattern)}</span>'
        out.append(_group("pattern", [ruled]))
        lines = next_lines(found)
        if lines:
            out.append(_group("capture next", [escape(text) for _, text in lines]))
        shown = f'<dl class="layers">{"".join(out)}</dl>{self._code()}{self._damaged()}'
        equations = list(finding.answer.lines)
        if not equations:
            return shown
        count = f"{counted(len(equations), 'equation')} that the fingerprint is of"
        return shown + folded(count, items(equations, "answer")) + self.notations(finding)

    def has_bits(self, finding: Finding) -> bool:
        """Frames are shown bit by bit, wherever they were read."""
        return True

    def _code(self) -> str:
        """Return the digests as functions of a frame."""
        if not self._study.checks:
            return ""
        parts = (("A C function that checks a frame", "c"), ("The same in Python", "python"))
        return "".join(
            folded(said, copied(self._study.source_code(language))) for said, language in parts
        )

    def _damaged(self) -> str:
        """Return the frames that break a digest, with marked bits."""
        frames, n = self._study.damaged(_LISTED), self._study.n_damaged
        if not frames:
            return ""
        listed = []
        for place, bits, marks, said in frames:
            listed.append(
                f'<li><p class="place">{escape(str(place))}</p>'
                f'<p class="bits ruled">{ruled_bits(bits, marks)}</p>'
                + (f'<p class="breaks">{said}</p></li>' if said else "</li>")
            )
        head = f"{counted(n, 'frame')} do{'es' * (n == 1)} not pass. Marked bits may be wrong."
        return f"<h2>Damaged frames</h2><p>{head}</p>{unfolding(listed, _OPEN, misfit_list)}"


def ruled_bits(text: str, marks: tuple[int, ...] = ()) -> str:
    """Return the bits of a frame by byte, each with its number for the style sheet, and marks.

    >>> ruled_bits("0000000011", (1,))
    '<span data-byte="0">0<mark>0</mark>000000</span> <span data-byte="1">11</span>'
    """
    cells = [f"<mark>{bit}</mark>" if i in marks else bit for i, bit in enumerate(text)]
    groups = ("".join(cells[i : i + 8]) for i in range(0, len(cells), 8))
    return " ".join(f'<span data-byte="{i}">{group}</span>' for i, group in enumerate(groups))


def _group(label: str, texts: list[str]) -> str:
    lines = "".join(f"<li>{text}</li>" for text in texts)
    name = label.replace(" ", "-")
    return f'<dt>{label}</dt><dd><ul class="{name}" data-copy>{lines}</ul></dd>'
