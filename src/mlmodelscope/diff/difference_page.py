"""A comparison as one HTML page, with the difference along the depth, and as JUnit for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import quoteattr

from mlmodelscope.diff.pairing import LayerPair
from mlmodelscope.diff.result import Difference
from mlmodelscope.layer.feature_maps import FeatureMaps
from mlmodelscope.report import plot, words
from mlmodelscope.report.sheet import Section, write_sheet

_LEAST = 1e-9
"""Below it a bar of a logarithmic axis has no height to show."""
_MOST_BARS = 500


def difference_html(found: Difference) -> str:
    facts = [
        (f"{label}", f"{side.model} in {side.stack}, {side.layers} layers")
        for label, side in zip("AB", found.sides, strict=False)
    ]
    if found.first is not None and found.first.last_agreeing is not None:
        facts.append(("last layer that agrees", found.first.last_agreeing.name))
    if found.named is not None:
        facts.append(("first layer that differs", found.named))
    facts += [("it looks like", f"{fault.kind}: {fault.words} ({fault.by})") for fault in found.faults[:1]]
    facts += [(f"the {part.part}", f"{part.verdict}: {part.words}") for part in found.parts]
    title = " and ".join(dict.fromkeys(side.model for side in found.sides)) or "Two models"
    lede = f"{found.outcome}: {found.sentence}."
    return write_sheet(f"{title}, layer by layer", lede, difference_sections(found), facts)


def difference_sections(found: Difference, label: str = "") -> list[Section]:
    """The pictures of the first layer that differs, and all layers; `label` tells several comparisons apart."""
    notes = [
        f"{side_label}: {note}" for side_label, side in zip("AB", found.sides, strict=False) for note in side.notes
    ]
    end = f", {label}" if label else ""
    sections = []
    if found.maps is not None and found.first is not None:
        sections.append(_looks(found.maps, found.first.pair.name, end))
    layers = Section(
        f"Layers in the order of execution{end}",
        "How far each layer of B is from that of A, of the layer's largest value.",
        [_along_the_depth(found)] if found.pairs else [],
        ("layer of A", "layer of B", "kind", "shape", "largest", "relative", "cosine", "tolerance", "verdict"),
        [_row(found, place, pair) for place, pair in enumerate(found.pairs)],
        (*notes, *found.notes),
    )
    return [*sections, layers]


def _looks(maps: FeatureMaps, name: str, end: str) -> Section:
    """The layer on both sides, and how far they are apart."""
    height, width = maps.size
    shown = f"{len(maps.channels)} of {maps.count} channels, the ones that differ most" if maps.count > 1 else ""
    about = f"{name}: {shown}, " if shown else f"{name}: "
    about += f"each {height} × {width}, drawn with one scale: black is {maps.low:.3g}, white is {maps.high:.3g}"
    about += f"; in the difference, white is {maps.largest:.3g}." if maps.difference else "."
    pictures = (("A", maps.first), ("B", maps.second), ("difference", maps.difference))
    figures = [
        f'<figure style="margin:0"><img style="image-rendering:pixelated;width:100%;height:auto" alt={quoteattr(alt)} '
        f'src="data:image/png;base64,{data}"><figcaption>{title}</figcaption></figure>'
        for title, data in pictures
        if data is not None
        for alt in (f"{name}, {title}",)
    ]
    columns = f"display:grid;gap:1rem;grid-template-columns:repeat({len(figures)},minmax(0,1fr))"
    drawn = f'<div style="{columns}">{"".join(figures)}</div>'
    return Section(f"The first layer that differs{end}", about, [drawn])


def _along_the_depth(found: Difference) -> str:
    bars: list[tuple[str, float, str]] = []
    groups, marked = [], 0
    at = found.first.place if found.first is not None else None
    for place, pair in enumerate(found.pairs):
        if pair.apart is None:
            continue
        if place == at:
            marked = len(bars)
        tip = f"{pair.name}: {pair.verdict}, {pair.off:.2g}; rounding explains {pair.tolerance:.2g}"
        bars.append((pair.name, max(_LEAST, min(pair.off, 1e6)), tip))
        groups.append(f"the first that differs: {words.shorten(pair.name, 40)}" if place == at else pair.verdict)
    axis = plot.Axis("difference, of the layer's largest value", "", True)
    start = max(0, min(marked - _MOST_BARS // 2, len(bars) - _MOST_BARS))  # the mark must be in the picture
    shown = slice(start, start + _MOST_BARS)
    return plot.bars("Difference along the depth", bars[shown], axis, groups[shown])


def _row(found: Difference, place: int, pair: LayerPair) -> tuple[str, ...]:
    apart, held = pair.apart, pair.first or pair.second
    is_first = found.first is not None and place == found.first.place
    return (
        pair.first.name if pair.first else "",
        pair.second.name if pair.second else "",
        "output" if pair.is_output else pair.kind,
        " × ".join(map(str, held.shape)) if held else "",
        f"{apart.largest:.2e}" if apart else "",
        f"{apart.relative:.1e}" if apart else "",
        f"{apart.cosine:.6f}" if apart and apart.cosine is not None else "",
        f"{pair.tolerance:.1e}" if apart else "",
        f"{pair.verdict} ← the first" if is_first else pair.verdict,
    )


def difference_junit(found: Difference) -> str:
    """A test case for each layer that both sides have; those behind the first that differs are failures, too."""
    suite = ElementTree.Element("testsuite", name="mlmodelscope diff")
    tests = failures = 0
    for pair in found.pairs:
        if pair.apart is None:
            continue
        tests += 1
        case = ElementTree.SubElement(suite, "testcase", classname=pair.kind or "layer", name=pair.name)
        if pair.verdict not in ("agrees", "reordered", "passed over"):
            failures += 1
            message = f"{pair.verdict}: {pair.off:.3g}, rounding explains {pair.tolerance:.3g}"
            ElementTree.SubElement(case, "failure", message=message)
    if not tests:
        tests = 1
        case = ElementTree.SubElement(suite, "testcase", classname="diff", name="comparison")
        if found.outcome != "same":
            ElementTree.SubElement(case, "error", message=found.sentence)
    suite.set("tests", str(tests))
    suite.set("failures", str(failures))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
