"""Two pictures that lie over each other with a line between them that can be moved: for answers that are pictures.

The only script of a report: it moves the line. Without it both halves are seen, each of one picture.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.task.shape import PictureShape, Shape
from mlmodelscope_worker.pipeline import header, library

_SIDE = 640
_MOST_BYTES = 400_000
SCRIPT = (
    "for(const each of document.querySelectorAll('.pair input'))"
    "each.addEventListener('input',()=>each.parentElement.style.setProperty('--share',each.value+'%'))"
)
SCRIPT_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode("ascii")


@dataclass(frozen=True)
class BeforeAfter:
    before: str
    """A `data:` address."""
    before_title: str
    after: str
    after_title: str = "Answer"


def before_after(shapes: Sequence[Shape], own: str | None) -> BeforeAfter | None:
    """The truth and the answer, or the sample's own picture where the truth is not available; None without both."""
    pictures = {each.side: each for each in shapes if isinstance(each, PictureShape)}
    if "answer" not in pictures:
        return None
    after = small(pictures["answer"])
    before, title = (small(pictures["truth"]), "Truth") if "truth" in pictures else (own, "Input")
    return BeforeAfter(before or after, title if before else "Answer", after) if after is not None else None


def small(shape: PictureShape) -> str | None:
    """A `data:` address of it, no larger than a page can carry."""
    content = base64.b64decode(shape.png)
    size = header.size(content)
    if size is not None and max(size) <= _SIDE and len(content) <= _MOST_BYTES:
        return f"data:image/png;base64,{shape.png}"
    try:
        made = library.load("pillow").jpeg_thumbnail(content, _SIDE)
    except (header.ImageError, library.MissingLibrary):
        return f"data:image/png;base64,{shape.png}" if len(content) <= _MOST_BYTES else None
    return f"data:image/jpeg;base64,{base64.b64encode(made).decode('ascii')}"
