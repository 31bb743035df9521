"""A pitfall's page: what goes wrong, how it comes about, how it shows, how to check it, where the papers have it.

The pages are Markdown files beside this one. A pitfall of a plugin has its docstring instead.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from mlmodelscope.replicate.pitfall.pitfall import PITFALLS

_PAGES = Path(__file__).parent / "pages"

PAPERS = {
    "first paper": (
        "Frustrated with Replicating Claims of a Shared Model? A Solution",
        "https://arxiv.org/abs/1811.09737",
    ),
    "second paper": (
        "Challenges and Pitfalls of Reproducing Machine Learning Artifacts",
        "https://arxiv.org/abs/1904.12437",
    ),
}
"""(title, address) of what pages and pitfalls call the first and the second paper."""


def explanation_of(name: str) -> str:
    """The page as Markdown, without its title; empty where nobody has written anything."""
    path = _PAGES / f"{name}.md"
    if path.parent == _PAGES and path.is_file():
        return path.read_text(encoding="utf-8").strip()
    return PITFALLS[name].explanation if name in PITFALLS else ""


def to_html(markdown: str) -> str:
    """Paragraphs, bold, code and links: all that the pages use. Everything else is shown as it was written."""
    parts = [part for part in re.split(r"\n\s*\n", markdown.strip()) if part]
    return "\n".join(f"<p>{_inline(' '.join(part.split()))}</p>" for part in parts)


def _inline(text: str) -> str:
    # Code is taken out first, so that nothing inside it is read as anything else.
    pieces = re.split(r"`([^`]+)`", text)
    return "".join(
        f"<code>{html.escape(piece)}</code>" if at % 2 else _marked(piece) for at, piece in enumerate(pieces)
    )


def _marked(text: str) -> str:
    """Bold and links, and the papers become links by their name."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", cite(text))
    link = r'<a href="\2" rel="noopener noreferrer">\1</a>'
    return re.sub(r"\[([^\]]+)\]\((https?://[^\s)\"]+)\)", link, bold)


def cite(text: str) -> str:
    """`first paper, Figure 3` with links to the papers, as HTML."""

    def link(found: re.Match[str]) -> str:
        title, url = PAPERS[found[0].lower()]
        return f'<a href="{url}" title="{html.escape(title)}" rel="noopener noreferrer">{found[0]}</a>'

    return re.sub("|".join(PAPERS), link, html.escape(text), flags=re.IGNORECASE)
