"""A replication as one HTML file that asks the network for nothing: the verdict, its cause, and what can be seen."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from mako.lookup import TemplateLookup

from mlmodelscope.diff.difference_page import difference_sections
from mlmodelscope.plan.claim import Claim
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.describe import (
    describe_claims,
    describe_inside,
    describe_paired,
    describe_search,
    describe_verdict,
)
from mlmodelscope.replicate.edits import edits_of
from mlmodelscope.replicate.evidence import Choice, Evidence, Flip, data_uri
from mlmodelscope.replicate.evidence_text import (
    both_ways,
    describe_change,
    describe_difference,
    describe_flips,
    largest_score,
    share_of,
    spell_score,
    stretched,
)
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.pitfall.explanation import cite, explanation_of, to_html
from mlmodelscope.replicate.plots import Axis, candidate_plot, verdict_plot
from mlmodelscope.replicate.replication import Replication
from mlmodelscope.report import html as report
from mlmodelscope.report import words
from mlmodelscope.report.before_after import small
from mlmodelscope.report.overlay import overlay
from mlmodelscope.report.sheet import Section
from mlmodelscope.task.shape import PictureShape, is_shown, summary
from mlmodelscope.worker.variants import View

_TEMPLATES = Path(__file__).parent / "templates"
_EXPLAINED = 3
_FIRST = 12
"""Candidates in the table; the others unfold."""
_LISTED = 200
CHANGED = {
    True: (
        ("Fixed", "wrong as the manifest says, right with the edit"),
        ("Broken", "right as the manifest says, wrong with the edit"),
    ),
    False: (
        ("Better", "samples that the edit makes better"),
        ("Worse", "samples that the edit makes worse"),
    ),
}
"""(title, meaning) of the columns with samples that an edit changes, by whether samples are right or wrong."""


def render(done: Replication) -> str:
    """The whole page."""
    return str(_templates().get_template("replication.html.mako").render(**_page(done, done.evidence)))


@cache
def _templates() -> TemplateLookup:
    # Everything is escaped unless a template says `| n`, which only our own drawings, pages and style sheets do.
    folders = [str(_TEMPLATES), str(Path(report.__file__).parent / "templates")]
    return TemplateLookup(folders, default_filters=["h"], strict_undefined=True, input_encoding="utf-8")


def _page(done: Replication, evidence: Evidence | None) -> dict[str, Any]:
    """All that the templates show; they compute nothing."""
    verdict, found = done.verdict, done.found
    claim, measured = verdict.claim, verdict.measured
    digits = claim.digits(2)
    rows = candidate_rows(done)
    return {
        "style": report.style() + (_TEMPLATES / "replication.css").read_text(encoding="utf-8"),
        "words": words,
        "sections": _sections(done, evidence),
        "record": done.record,
        "plan": done.record.plan,
        "verdict": verdict,
        "sentence": _capital(describe_verdict(verdict)),
        "measured": f"{claim.factor * measured.value:.{digits}f}",
        "gap": f"{claim.factor * verdict.gap:+.{digits}f}".replace("-", "\N{MINUS SIGN}"),
        "interval": " – ".join(f"{claim.factor * end:.{digits}f}" for end in (measured.low, measured.high))
        + f"\N{NO-BREAK SPACE}{claim.symbol}".rstrip(),
        "symbol": claim.symbol,
        "apart": claim.unit.apart,
        "changed": CHANGED[claim.measure.has_right_and_wrong],
        "is_certain": measured.high - measured.low < 1e-9,
        "plot": verdict_plot(claim, verdict.low, verdict.high, measured),
        "other_claims": list(describe_claims(done.others, done.unchecked)),
        "search": [
            *describe_paired(verdict),
            *(describe_search(found, verdict) if found else ()),
            *(describe_inside(done.inside, verdict) if done.inside else ()),
        ],
        "inside": _inside_sections(done),
        "causes_title": _causes_title(done),
        "causes": causes_of(done.causes[:_EXPLAINED], done.record.plan),
        "first_rows": rows[:_FIRST],
        "more_rows": rows[_FIRST:],
        "rounds": found.rounds if found else (),
        "cost": f"{done.cost.calls / done.samples:.1f}" if done.cost and done.samples else None,
        "evidence": evidence,
        "flips_sentence": describe_flips(evidence) if evidence else "",
        "cards": [card_of(each, evidence) for each in evidence.shown] if evidence else [],
        "listed": evidence.flips[len(evidence.shown) :][:_LISTED] if evidence else (),
        "left_out": max(0, len(evidence.flips) - len(evidence.shown) - _LISTED) if evidence else 0,
        "command": command(done),
        "both_ways": both_ways,
    }


def _sections(done: Replication, evidence: Evidence | None) -> list[tuple[str, str]]:
    known = [
        ("cause", "Cause", bool(done.causes)),
        ("inside", "Inside the model", bool(_inside_sections(done))),
        ("evidence", "Evidence", evidence is not None),
        ("candidates", "What was tried", done.found is not None),
        ("again", "Run it again", True),
    ]
    return [(anchor, name) for anchor, name, is_there in known if is_there]


def _inside_sections(done: Replication) -> list[Section]:
    """What differs inside the model, where that was looked at."""
    found = done.inside.difference if done.inside is not None else None
    return difference_sections(found) if found is not None and found.pairs else []


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:]


def _causes_title(done: Replication) -> str:
    if done.found is None or not done.found.explained:
        return "What explains most of it"
    return "The cause" if len(done.found.explained) == 1 else "Causes that cannot be told apart"


@dataclass(frozen=True)
class Cause:
    title: str
    words: str
    pages: tuple[tuple[str, str, str], ...]
    """(title, explanation, place in the papers) of each pitfall, the last two as HTML; the place where the explanation
    does not say it."""
    edits: tuple[tuple[str, str], ...]
    """Lines of the plan: (`-` or `+`, what the step says)."""


def causes_of(candidates: Sequence[Candidate], plan: Plan) -> list[Cause]:
    """Each with its pages; what one has explained is not explained again by the next."""
    told: set[str] = set()
    found = []
    for each in candidates:
        titles = [PITFALLS[name].title if name in PITFALLS else name for name in each.variant.pitfalls]
        fresh = [name for name in each.variant.pitfalls if name not in told]
        told.update(fresh)
        edits = tuple(edits_of(plan, each.variant))
        found.append(Cause(" and ".join(titles), each.variant.words, tuple(map(_page_of, fresh)), edits))
    return found


def _page_of(name: str) -> tuple[str, str, str]:
    known, explanation = PITFALLS.get(name), explanation_of(name)
    title, paper = (known.title, known.paper) if known else (name, "")
    return title, to_html(explanation), "" if "paper" in explanation else cite(paper)


@dataclass(frozen=True)
class Row:
    """A candidate in the table."""

    pitfalls: str
    words: str
    alike: str
    """Other variants with the very same answers."""
    expected: str
    deviation: str
    gained: int
    lost: int
    seen: int
    is_cause: bool
    plot: str


def candidate_rows(done: Replication) -> list[Row]:
    if done.found is None or not done.found.candidates:
        return []
    verdict, candidates = done.verdict, done.found.candidates
    causes = {each.variant.key for each in done.found.explained}
    claim, digits = verdict.claim, verdict.claim.digits(2)
    axis = Axis(_reach(claim, verdict.measured.value), claim)
    return [
        Row(
            " + ".join(each.variant.pitfalls),
            each.variant.words,
            "; ".join(other.words for other in each.alike),
            claim.spelled(each.expected),
            f"±\N{NO-BREAK SPACE}{1.96 * claim.factor * each.deviation:.{digits}f}" if each.deviation else "exact",
            each.gained,
            each.lost,
            each.seen,
            each.variant.key in causes,
            candidate_plot(axis, (verdict.low, verdict.high), verdict.measured.value, each.expected, each.deviation),
        )
        for each in candidates
    ]


def _reach(claim: Claim, measured: float) -> tuple[float, float]:
    """The gap with room on both sides; what lies beyond is drawn at the edge, or it would squeeze all the others."""
    low, high = sorted((measured, claim.value))
    gap = max(high - low, 0.005)
    least, most = claim.measure.bounds
    return max(least, low - 1.2 * gap), min(most, high + 0.6 * gap)


@dataclass(frozen=True)
class Shot:
    """One of the pictures of a card."""

    title: str
    uri: str | None
    reason: str
    is_tiny: bool = False


@dataclass(frozen=True)
class Line:
    """An answer with its bar."""

    name: str
    score: str
    share: float
    is_right: bool


@dataclass(frozen=True)
class Card:
    """A flipped sample, as it is shown."""

    flip: Flip
    shots: tuple[Shot, ...]
    caption: str
    before: tuple[Line, ...]
    after: tuple[Line, ...]
    overlays: tuple[tuple[str, str, str], ...] = ()
    """(title, drawing, what was answered) of both answers over the truth."""
    changes: tuple[tuple[str, str], ...] = ()
    """(what, before and after) of how good the answers are."""

    @property
    def is_outlined(self) -> bool:
        """Whether the truth is drawn over the picture."""
        return any(drawn.startswith("<svg") for _, drawn, _ in self.overlays)


def card_of(flip: Flip, evidence: Evidence) -> Card:
    most = largest_score((*flip.before, *flip.after), evidence.probabilities)
    before, after = (_bars(each, most, evidence.probabilities) for each in (flip.before, flip.after))
    caption = describe_difference(flip.sight) if flip.sight is not None else ""
    changes = tuple(_change(*each) for each in describe_change(flip, evidence))
    return Card(flip, tuple(_shots(flip)), caption, before, after, tuple(_overlays(flip)), changes)


def _change(what: str, before: str, after: str) -> tuple[str, str]:
    return "Quality of the answer" if what == "quality" else what, f"{before} → {after}"


def _overlays(flip: Flip) -> Iterator[tuple[str, str, str]]:
    drawn = flip.overlaid
    if drawn is None:
        return
    for title, shapes in (("As the manifest says", drawn.before), ("With the edit", drawn.after)):
        said = summary(shapes, "answer") or "nothing"
        label = f"{flip.sample}, {title[:1].lower()}{title[1:]}: {said}"
        pictures = [each for each in shapes if isinstance(each, PictureShape)]
        if pictures:
            address = small(pictures[0])
            shown = f'<img class="tiny" src={quoteattr(address)} alt={quoteattr(label)}>' if address else ""
            yield title, shown, ""
        elif drawn.size is not None:
            kept = [each for each in (*drawn.truth, *shapes) if is_shown(each)]
            yield title, overlay(drawn.uri, drawn.size, kept, label), said


def _bars(choices: Sequence[Choice], most: float, probabilities: bool) -> tuple[Line, ...]:
    return tuple(
        Line(each.name, spell_score(each.score, probabilities), share_of(each.score, most), each.is_right)
        for each in choices
    )


def _shots(flip: Flip) -> Iterator[Shot]:
    sight = flip.sight
    if sight is None:
        return
    if sight.is_same:
        yield _shot("Before and after", sight.after)
        return
    yield _shot("As the manifest says", sight.before)
    yield _shot("With the edit", sight.after)
    apart = sight.difference
    if apart is not None and apart.picture is not None and apart.stretch is not None:
        is_tiny = max(apart.picture.height, apart.picture.width) <= 96
        yield Shot(f"Difference {stretched(apart.stretch)}", data_uri(apart.picture), "", is_tiny)


def _shot(title: str, view: View) -> Shot:
    picture = view.picture
    is_tiny = picture is not None and max(picture.height, picture.width) <= 96
    return Shot(title, data_uri(picture), view.reason, is_tiny)


def command(done: Replication) -> str:
    """The replication as one would type it; what has its default is left out."""
    plan, claim, default = done.record.plan, done.verdict.claim, Options()
    parts = ["mlmodelscope", "replicate", plan.model.reference, plan.dataset.reference]
    if len(done.verdicts) == 1:  # several are the manifest's own
        parts += ["--claim", f"{claim.metric}={claim.text}" + (f"@{claim.dataset}" if claim.dataset else "")]
    if abs(done.verdict.low - claim.low) > 1e-12:
        parts += ["--within", f"{claim.factor * (claim.value - done.verdict.low):g}"]
    for aspect in ("software", "hardware"):
        if aspect in plan.manifests:
            parts += [f"--{aspect}", f"{plan.manifests[aspect].name}@{plan.manifests[aspect].version}"]
    for flag, value, usual in (
        ("--batch-size", plan.scenario.batch_size, default.batch_size),
        ("--threads", plan.predictor.options.get("threads", default.threads), default.threads),
        ("--limit", plan.dataset.subset.count, default.limit),
    ):
        if value != usual:
            parts += [flag, str(value)]
    if plan.dataset.subset.stratified:
        parts.append("--stratified")
    if plan.stack.relaxed is not None:
        parts.append("--relax-framework")
    return shlex.join(parts)
