"""Reports draw entities and changed words, and nothing that a text says is anything but text."""

from pathlib import Path

from mako.template import Template

from mlmodelscope.report import html
from mlmodelscope.report.marked_text import marked_texts
from mlmodelscope.task.shape import DifferenceShape, SpansShape

TEMPLATE = Path(html.__file__).parent / "templates" / "worst.mako"


def drawn(shape: SpansShape | DifferenceShape) -> str:
    text = TEMPLATE.read_text(encoding="utf-8")
    own = text[: text.index("</%def>") + len("</%def>")]
    return str(
        Template(own, default_filters=["h"]).get_def("marked").render(marked_texts([shape], shape.side), "nothing")
    )


def test_entities_are_marked_and_named() -> None:
    shape = SpansShape("truth", "Anna & Rome", ((0, 4, "<b>", None),))
    assert drawn(shape) == '<p dir="auto"><mark>Anna<small>&lt;b&gt;</small></mark> &amp; Rome</p>'


def test_changed_words_are_struck_out_and_put_in() -> None:
    shape = DifferenceShape("answer", (("equal", "the", "the"), ("replace", "cat", "<i>"), ("delete", "sat", "")))
    assert drawn(shape) == '<p dir="auto">the <del>cat</del> <ins>&lt;i&gt;</ins> <del>sat</del> </p>'
