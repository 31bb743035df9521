"""What runs a language model, the prompts being the same: arithmetic, bits of the weights, their layout, the engine."""

from __future__ import annotations

from collections.abc import Mapping

from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall
from mlmodelscope.replicate.pitfall.prompting import DOCUMENT
from mlmodelscope.replicate.pitfall.stack import with_option
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.parameters import Choice

_LAYOUTS = {
    "pairs_to_halves": "rows of queries and keys rearranged from neighbors to halves",
    "halves_to_pairs": "rows of queries and keys rearranged from halves to neighbors",
}
_ROUNDINGS = {
    "float16": "weights rounded to F16",
    "bfloat16": "weights rounded to BF16",
    "q8_0": "weights rounded to Q8_0",
    "q4_0": "weights rounded to Q4_0",
}
_ENGINES = {"transformers": "transformers", "llama_cpp": "llama-cpp-python"}
"""Predictors that open the same GGUF file, and the packages that they need."""


def _values_of(plan: Plan, option: str) -> tuple[str, ...]:
    """The other values that an option of the plan's predictor may have; none where it has no such option."""
    now = plan.predictor.options.get(option)
    kind = PREDICTORS[plan.predictor.name].kinds.get(option) if plan.predictor.name is not None and now else None
    return tuple(name for name in kind.values if name != now) if isinstance(kind, Choice) else ()


@pitfall("arithmetic-type", "Type of arithmetic", is_about_stack=True, weight=0.3, parts=DOCUMENT)
def arithmetic_type(plan: Plan) -> Edits:
    """Weights and sums have 16 bits in place of 32: two choices that are nearly as likely change places."""
    for name in _values_of(plan, "dtype"):
        yield from with_option(plan, f"computed in {name}", dtype=name)


@pitfall("weights-file", "File of the weights", is_about_stack=True, weight=0.3, parts=DOCUMENT)
def weights_file(plan: Plan) -> Edits:
    """The same model in fewer bits, such as Q8 or Q4 in place of F16, has the same name and other numbers."""
    graph = plan.model.graph
    for name, file in plan.model.files.items():
        if graph is not None and file != graph and "weights" in name.lower():
            files = {**plan.model.files, name: graph}
            model = plan.model.model_copy(update={"graph": file, "files": files})
            yield f"the weights of the file {name}", plan.model_copy(update={"model": model})
    for kind in _values_of(plan, "rounding"):
        yield from with_option(plan, _ROUNDINGS.get(kind, "weights as they are stored"), rounding=kind)


@pitfall("rotary-layout", "Layout of rotary positions", is_about_stack=True, weight=0.3, parts=DOCUMENT)
def rotary_layout(plan: Plan) -> Edits:
    """Rotary positions turn neighboring rows of a head or its two halves, and a converter left the rows for the other
    way."""
    for layout in _values_of(plan, "rotary"):
        words = _LAYOUTS.get(layout, "rows of queries and keys as they are stored")
        yield from with_option(plan, words, rotary=layout)


@pitfall("engine", "Engine of a language model", is_about_stack=True, weight=0.3, parts=DOCUMENT)
def engine(plan: Plan) -> Edits:
    """Another program runs the same file, with kernels, a tokenizer and rounding of its own."""
    graph, now = plan.model.graph, plan.predictor.name
    if now not in _ENGINES or graph is None or not graph.url.partition("#")[0].lower().endswith(".gguf"):
        return
    installed = _installed(plan)
    for name, package in _ENGINES.items():
        if name == now or package not in installed:
            continue
        options = dict(PREDICTORS[name].resolve({"threads": plan.predictor.options.get("threads", 1)}))
        predictor = plan.predictor.model_copy(update={"name": name, "options": options, "where": {}})
        packages = {each: version for each, version in plan.stack.packages.items() if each != _ENGINES[now]}
        stack = plan.stack.model_copy(update={"packages": {**packages, package: installed[package]}})
        yield f"run by {name}", plan.model_copy(update={"predictor": predictor, "stack": stack})


def _installed(plan: Plan) -> Mapping[str, str]:
    """The packages of a plan's stack with their versions; a plan lists those alone that it uses."""
    if plan.stack.recipe is None:
        return describe_current().packages
    pinned = (each.partition(";")[0].partition("==") for each in plan.stack.recipe.requirements)
    return {normalise(name.partition("[")[0].strip()): version.strip() for name, _, version in pinned if version}
