"""Lines, letters and colours of every plot."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

WIDTH = 960
SMALL, TEXT, TITLE = 12, 13, 17
FONTS = "Inter,ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif"
REST = "rest"
"""The colour of what has none of its own: what was lumped together, or is only context."""

# Okabe and Ito's colours, which people who see red and green alike can still tell apart; a little lighter in the dark.
LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b5ea7", "#8c6d46")
DARK = ("#4aa8e0", "#f08243", "#2fc29a", "#e39cc4", "#f2bc4a", "#8fd0f7", "#ab92d4", "#bfa17c")
# From nearly nothing to a lot, even in grey.
HEAT_LIGHT = ("#eef6f5", "#d3e9e8", "#b3d9da", "#8fc6ca", "#69b0b8", "#4698a3", "#287f8c", "#126572", "#064a57")
HEAT_DARK = ("#182326", "#1b3236", "#1d4347", "#20565c", "#276b72", "#348389", "#4b9ca1", "#72b9bb", "#a6d8d6")
STEPS = len(HEAT_LIGHT)


def _style() -> str:
    # Every rule begins with `.plot`: a style sheet inside an SVG counts for the whole page that the SVG stands in.
    rules = [
        f"text{{font-family:{FONTS};font-size:{TEXT}px;fill:#1a1d21;stroke:none}}",
        f".title{{font-size:{TITLE}px;font-weight:600}}",
        f".faint{{fill:#5b626b;font-size:{SMALL}px}}",
        ".name{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}",
        ".ground{fill:#fff}.grid{stroke:#e6e6e2;stroke-width:1}.axis{stroke:#8b9198;stroke-width:1}",
        ".gap{stroke:#fff}.guide{fill:none;stroke:#5b626b;stroke-width:1.5;stroke-dasharray:5 4}",
        ".curve{fill:none;stroke-width:2;stroke-linejoin:round}.bubble{fill-opacity:.72;stroke-width:1.25}",
        ".bubble.hollow{fill-opacity:.08;stroke-width:1.5;stroke-dasharray:3 2}",
        f".cell{{font-size:{SMALL}px}}",
        ".mark:hover{fill-opacity:.6}.none{fill:#f4f4f1}",
    ]
    dark = [
        "text{fill:#e9ebed}.faint{fill:#9ca5ad}.name{stroke:#15191c}.ground{fill:#15191c}.grid{stroke:#2a3035}",
        ".axis{stroke:#6c757d}.gap{stroke:#15191c}.guide{stroke:#9ca5ad}.none{fill:#1b2024}",
    ]
    for found, colours, heat, rest in ((rules, LIGHT, HEAT_LIGHT, "#a9aeb4"), (dark, DARK, HEAT_DARK, "#616a72")):
        for index, colour in enumerate(colours):
            found.append(f".c{index}{{fill:{colour};stroke:{colour}}}")
        found.append(f".{REST}{{fill:{rest};stroke:{rest}}}")
        for index, colour in enumerate(heat):
            found.append(f".h{index}{{fill:{colour}}}")
    rules.append(".over{fill:#fff}.curve{fill:none}")
    dark.append(".over{fill:#0e1113}.curve{fill:none}")
    return f"{_scoped(rules)}@media (prefers-color-scheme:dark){{{_scoped(dark)}}}"


def _scoped(rules: Sequence[str]) -> str:
    """`.a{…}.b{…}` as `.plot .a{…}.plot .b{…}`."""
    return "".join(f".plot {rule.strip()}}}" for rule in "".join(rules).split("}") if rule and not rule.endswith("{"))


def page(title: str, height: float, parts: Sequence[str]) -> str:
    """The drawing with its ground, title and style."""
    head = text(20, 30, title, "title") if title else ""
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" style="max-width:100%;height:auto" role="img" aria-label={quoteattr(title)}>'
        f"<style>{_STYLE}</style>"
        f'<rect class="ground" width="{WIDTH}" height="{height:.0f}" rx="8"/>{head}{"".join(parts)}</svg>\n'
    )


def nothing(title: str, why: str = "nothing to show") -> str:
    return page(title, 80, [text(20, 60, why, "faint")])


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start", turn: float = 0) -> str:
    turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, tip: str = "", round: float = 0) -> str:
    corner = f' rx="{round:g}"' if round else ""
    told = f"<title>{escape(tip)}</title>" if tip else ""
    return (
        f'<rect class="{kind}" x="{x:.2f}" y="{y:.2f}" width="{max(width, 0):.2f}" height="{max(height, 0):.2f}"'
        f'{corner} stroke-width="0">{told}</rect>'
    )


def colour(index: int) -> str:
    return f"c{index % len(LIGHT)}"


def wide(content: str, size: float = TEXT) -> float:
    """About how many pixels a text takes. The reader's fonts are not known, so it is as in DejaVu Sans, a wide one."""
    return size * sum(0.34 if letter in _NARROW else 0.9 if letter in _BROAD else _LETTER for letter in content)


def cut(content: str, pixels: float, size: float = TEXT) -> str:
    """A text that fits; its middle is missed least, as names differ where they begin and end."""
    if wide(content, size) <= pixels:
        return content
    letters = max(3, int(pixels / (_LETTER * size)) - 1)
    head = -(-letters * 3 // 5)
    return f"{content[:head]}…{content[len(content) - (letters - head) :]}"


def legend(names: Sequence[tuple[str, str]], x: float, y: float, right: float) -> tuple[list[str], float]:
    """(its parts, how high it is): names with the colours they have, in as many rows as it takes."""
    parts, at, row = [], x, 0
    for name, kind in names:
        short = cut(name, 260, SMALL)
        need = 20 + wide(short, SMALL) + 18
        if at > x and at + need > right:
            at, row = x, row + 1
        parts.append(box(at, y + 20 * row - 9, 10, 10, kind, name, 2))
        parts.append(text(at + 16, y + 20 * row, short, "faint"))
        at += need
    return parts, 20.0 * (row + 1) if names else 0.0


_LETTER = 0.62
_NARROW, _BROAD = set("iljtfrI.,:;|'!()[] "), set("mwMWQO@%")
_STYLE = _style()
