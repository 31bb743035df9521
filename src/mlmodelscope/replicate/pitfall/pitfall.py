"""A pitfall: one detail of an evaluation that people get wrong, as small edits of a plan.

A pitfall is a function that takes a plan and yields what else its author may have meant: `(words, plan)` pairs. It is
registered by name with the place in the papers where it is shown, so that a search can name what it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import getdoc
from operator import attrgetter

from mlmodelscope.manifest.schema import Step
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plan.input import steps_fit
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.plugins import with_plugins
from mlmodelscope.plugins.registry import Registry
from mlmodelscope.plugins.steps import STEPS
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.registry import add

Edits = Iterator[tuple[str, Plan]]


@dataclass(frozen=True)
class Pitfall:
    name: str
    title: str
    paper: str
    """Where the papers show it; empty where they do not."""
    edits: Callable[[Plan], Iterable[tuple[str, Plan]]]
    finer: Callable[[Plan], Iterable[tuple[str, Plan]]] | None = None
    """Edits like one that came near, made from its plan."""
    is_about_stack: bool = False
    """Whether the samples stay as they are, and what runs the model is another: such a variant shares nothing."""
    weight: float = 1.0
    """How often people fall into it, compared with the most common ones: for ties, and for coincidences."""
    from_file: Callable[[Plan, ModelFile], Iterable[tuple[str, Plan]]] | None = None
    """Edits that follow from what the model's file says of itself."""
    is_ranked: bool = False
    """Whether its edits come in the order of how common they are, the most common first."""
    parts: tuple[str, ...] = ()
    """The parts of samples that it is about, such as `text`; empty where it may be any."""

    def is_for(self, plan: Plan) -> bool:
        return not self.parts or (plan.input is not None and plan.input.part in self.parts)

    @property
    def explanation(self) -> str:
        return getdoc(self.edits) or ""


@dataclass(frozen=True)
class Variant:
    """A plan that differs from the one in question by one edit, or by two."""

    pitfalls: tuple[str, ...]
    words: str
    plan: Plan
    base: Plan | None = None
    """Of two edits, the plan with the first of them."""
    commonness: float = 1.0
    """How often people mean this, compared with the other edits of its pitfall, which have 1 on average."""

    @cached_property
    def key(self) -> str:
        return self.plan.digest


PITFALLS: dict[str, Pitfall] = {}
REGISTRY: Registry[Pitfall] = Registry("pitfall", "pitfalls", PITFALLS, Pitfall, attrgetter("edits"))

Edit = Callable[[Plan], Edits]


def pitfall(
    name: str,
    title: str,
    paper: str = "",
    *,
    finer: Edit | None = None,
    is_about_stack: bool = False,
    weight: float = 1.0,
    from_file: Callable[[Plan, ModelFile], Edits] | None = None,
    is_ranked: bool = False,
    parts: tuple[str, ...] = (),
) -> Callable[[Edit], Edit]:
    """Register a pitfall."""

    def register(function: Edit) -> Edit:
        made = Pitfall(name, title, paper, function, finer, is_about_stack, weight, from_file, is_ranked, parts)
        add(PITFALLS, name, made, REGISTRY.code)
        return function

    return register


def variants_of(plan: Plan, names: Iterable[str] | None = None, described: ModelFile | None = None) -> list[Variant]:
    """Every single edit of a plan. Where two pitfalls come to the same plan, nobody can tell which of them it was.

    `described` is what the model's file says of itself, where it can be read.
    """
    chosen = [(name, PITFALLS[name]) for name in (PITFALLS if names is None else names)]
    chosen = [(name, each) for name, each in chosen if each.is_for(plan)]
    edits: list[tuple[str, Callable[[Plan], Iterable[tuple[str, Plan]]]]] = []
    for name, each in chosen:
        if described is not None and each.from_file is not None:
            edits.append((name, partial(_with_file, each.from_file, described)))
        edits.append((name, each.edits))
    return _ranked(_distinct(plan, edits))


def _ranked(variants: Sequence[Variant]) -> list[Variant]:
    """The same variants; of pitfalls whose edits are ranked, the second is half as common as the first, and so on."""
    members: dict[tuple[str, ...], list[Variant]] = {}
    for each in variants:
        members.setdefault(each.pitfalls, []).append(each)
    found = []
    for (name,), some in members.items():
        shares = [1 / place if PITFALLS[name].is_ranked else 1.0 for place in range(1, len(some) + 1)]
        mean = sum(shares) / len(some)
        found += [replace(each, commonness=share / mean) for each, share in zip(some, shares, strict=True)]
    return found


def _with_file(edit: Callable[[Plan, ModelFile], Iterable[tuple[str, Plan]]], file: ModelFile, plan: Plan) -> Edits:
    yield from edit(plan, file)


def finer_variants(variant: Variant) -> list[Variant]:
    """Edits like one that came near, where its pitfall has any."""
    (name,) = variant.pitfalls
    finer = PITFALLS[name].finer
    return _distinct(variant.plan, [(name, finer)] if finer is not None else [])


def _distinct(plan: Plan, edits: Iterable[tuple[str, Callable[[Plan], Iterable[tuple[str, Plan]]]]]) -> list[Variant]:
    found: dict[tuple[str, str], Variant] = {}
    for name, edit in edits:
        with REGISTRY.blaming(name):
            for words, edited in edit(plan):
                made = with_plugins(edited)
                if made.digest != plan.digest and all(map(steps_fit, made.inputs)):
                    found.setdefault((name, made.digest), Variant((name,), words, made))
    return list(found.values())


PIXELS = ("image", "array")
"""Parts of samples that are pixels, or numbers like them."""

# What edits are made of.


def step(name: str, **parameters: object) -> Step:
    """A step with every default filled in; ParameterError where the parameters do not go together."""
    return Step(name=name, parameters=dict(STEPS[name].resolve(parameters)))


def changed(old: Step, **parameters: object) -> Step | None:
    """The same step with other parameters, or nothing where it cannot have them."""
    given = {key: value for key, value in old.parameters.items() if value is not None}
    if "library" in parameters or "method" in parameters:
        given.pop("antialias", None)  # what a library does by itself is another thing for each
    try:
        return Step(name=old.name, parameters=dict(STEPS[old.name].resolve({**given, **parameters})))
    except ParameterError:
        return None


def with_steps(plan: Plan, steps: Iterable[Step]) -> Plan:
    return plan.with_steps(steps)


def steps_of(plan: Plan) -> tuple[Step, ...]:
    return plan.input.steps if plan.input is not None else ()


def replaced(plan: Plan, at: int, new: Step | None) -> Iterator[Plan]:
    """The plan with one step exchanged, where there is one to exchange it for."""
    if new is not None:
        steps = list(steps_of(plan))
        steps[at] = new
        yield with_steps(plan, steps)


def find(plan: Plan, *names: str) -> int | None:
    """Position of the first step of one of these names."""
    return next((at for at, each in enumerate(steps_of(plan)) if each.name in names), None)
