"""A draft becomes the text of a manifest, with comments that say where things come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact, one_line, plain
from mlmodelscope.author.from_model import find_image_in
from mlmodelscope.author.processing import closing_steps, final_size
from mlmodelscope.author.tensors import class_count
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema.model import ElementType
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL
from mlmodelscope.manifest.source import SourceFloat, SourceInt, parse_source
from mlmodelscope.manifest.write import spell_text, write_manifest
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.task.class_answer import CLASS_TASKS

Path = tuple[str | int, ...]

_ELEMENT_TYPES = get_args(ElementType)
_PLAIN_FACTS = ("name", "version", "task", "author", "license", "description", "dataset")
_NESTED_FACTS = (
    "framework.name",
    "framework.version",
    "source.builder",
    "source.architecture",
    "source.graph_path",
    "source.graph_checksum",
    "source.weights_path",
    "source.weights_checksum",
    "training_dataset.name",
)
# Where a fact came from is worth a comment here even if it is no guess.
_SHORT = 50
_EXPLAINED = ("dataset", "framework.version", "source.builder", "source.weights_path", "training_dataset.name")


class Page:
    """The data of a manifest, and comments by path."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.above: dict[Path, str] = {}
        self.beside: dict[Path, str] = {}

    def say(self, path: Path, fact: Fact | DraftStep, always: bool = True) -> None:
        if fact.guess:
            self.beside[path] = one_line(f"guess: {fact.because}" if fact.because else "guess")
        elif fact.because and always:
            self.beside[path] = one_line(fact.because)

    def head(self, path: Path, lines: list[str]) -> None:
        if lines:
            self.above[path] = "\n".join(one_line(line) for line in lines)

    def text(self) -> str:
        return write_manifest(self.data, "model", self.above, self.beside)


def lay_out(draft: Draft, files: Mapping[str, Mapping[str, str]] | None = None) -> Page:
    """A draft as a page; `files` are what a language model's steps need."""
    page = Page()
    for key in _PLAIN_FACTS:
        if (fact := draft.facts.get(key)) is not None:
            page.data[key] = plain(fact.value)
            page.say((key,), fact, key in _EXPLAINED)
    for key in _NESTED_FACTS:
        if (fact := draft.facts.get(key)) is not None:
            outer, inner = key.split(".")
            page.data.setdefault(outer, {})[inner] = plain(fact.value)
            page.say((outer, inner), fact, key in _EXPLAINED)
    if draft.references:
        page.data["references"] = [plain(text) for text in draft.references[:20]]
    if draft.get("task") == LANGUAGE_MODEL:
        _lay_out_prompt(page, draft, files or {})
    else:
        _lay_out_inputs(page, draft)
        _lay_out_outputs(page, draft)
    if draft.claims:
        page.data["claims"] = [_claim(page, index, claim) for index, claim in enumerate(draft.claims)]
    if draft.attributes:
        page.data["attributes"] = plain(draft.attributes)
    _head(page, draft)
    return page


def checked_text(page: Page, file: str) -> str:
    """The manifest's text; what we write must be right, whatever we were given."""
    text = page.text()
    parse_manifest(text, file)
    return text


def _head(page: Page, draft: Draft) -> None:
    lines = [f"note: {note}" for note in draft.notes]
    lines += [f"not expressed: {what}" for what in draft.unknown[:40]]
    if len(draft.unknown) > 40:
        lines.append(f"not expressed: {len(draft.unknown) - 40} more, kept under attributes")
    if draft.guesses:
        lines.append("lines with `guess` are suppositions; check them against the model's own page")
    first = next(iter(key for key in ("name", *page.data) if key in page.data))
    page.head((first,), lines)


def _lay_out_prompt(page: Page, draft: Draft, files: Mapping[str, Mapping[str, str]]) -> None:
    """A language model: what becomes of a prompt, the files that this takes, and how the model writes."""
    steps = _lay_out_steps(page, ("inputs", 0, "processing"), list(draft.prompt or ()), draft.last_remarks)
    page.data["inputs"] = [{"type": "prompt", "processing": steps}]
    if files:
        page.data["files"] = {name: dict(each) for name, each in files.items()}
    for key, fact in draft.writing.items():
        page.data.setdefault("ask", {})[key] = plain(fact.value)
        page.say(("ask", key), fact)


def _claim(page: Page, index: int, claim: dict[str, Any]) -> dict[str, Any]:
    """A claim without the reason for its unit, which stands beside that."""
    if "because" in claim:
        page.beside[("claims", index, "unit")] = one_line(claim["because"])
    kept = {key: value for key, value in claim.items() if key != "because"}
    return {**plain(kept), "value": _as_written(claim["value"])}


def _as_written(text: str) -> SourceFloat | SourceInt:
    """A number that keeps its digits: `75.10` claims more than `75.1`, and `75.0` more than `75`."""
    number = SourceFloat(text) if "." in text else SourceInt(text)
    number.text = text
    return number


def _lay_out_inputs(page: Page, draft: Draft) -> None:
    tensors = draft.inputs
    framework = str(draft.get("framework.name", ""))
    found = find_image_in(tensors, framework)
    inputs: list[dict[str, Any]] = []
    for index, tensor in enumerate(tensors):
        if found is not None and index == found[0]:
            entry = _tensor_entry(page, draft, ("inputs", index), "image", tensor)
            steps = [*(draft.steps or ()), *closing_steps(draft, tensor, found[1])]
            draft.steps = steps
            _note_other_size(draft, steps, found[1].height, found[1].width)
            entry["processing"] = _lay_out_steps(page, ("inputs", index, "processing"), steps, draft.last_remarks)
        else:
            entry = _tensor_entry(page, draft, ("inputs", index), "tensor", tensor)
            if draft.steps is not None and found is None:
                draft.notes.append(
                    f"`{one_line(tensor.name)[:60]}` does not look like an image, so the steps are left out"
                )
        inputs.append(_in_order(entry))
    if not tensors:
        inputs = [_input_without_file(page, draft)]
    page.data["inputs"] = inputs


def _input_without_file(page: Page, draft: Draft) -> dict[str, Any]:
    name = draft.get("inputs.layer_name")
    if draft.steps is None:
        page.beside[("inputs", 0, "type")] = "guess: nothing was said about the model's input"
        return {"type": "tensor", **({"layer_name": name} if name else {})}
    entry: dict[str, Any] = {"type": "image", **({"layer_name": name} if name else {})}
    fact = draft.facts.get("inputs.element_type")
    entry["element_type"] = fact.value if fact is not None and fact.value in _ELEMENT_TYPES else "float32"
    if fact is None:
        page.beside[("inputs", 0, "element_type")] = "guess: no model file was given that would say it"
    steps = list(draft.steps)
    layout = draft.facts.get("inputs.layout") or Fact("NCHW", "no model file was given that would say it", guess=True)
    if steps and steps[-1].name != "layout":
        steps.append(DraftStep("layout", layout.value, layout.because, layout.guess))
    draft.steps = steps
    entry["processing"] = _lay_out_steps(page, ("inputs", 0, "processing"), steps, draft.last_remarks)
    return entry


def _note_other_size(draft: Draft, steps: list[DraftStep], height: int | None, width: int | None) -> None:
    size = final_size(steps)
    if size is None or height is None or width is None:
        if height is not None and width is not None:
            draft.notes.append(f"the steps do not bring every image to {height} x {width}, which the model takes")
        else:
            draft.ask("resize", "To which size is an image brought, for example 256 (shorter side) or 224x224")
            if size is None and not any(step.name == "resize" for step in steps):
                draft.notes.append("the model takes images of any size; without `resize` each keeps its own (--resize)")
        return
    if size != (height, width):
        draft.notes.append(
            f"the steps end at {size[0]} x {size[1]} (height x width), but the model takes {height} x {width}"
        )


def _tensor_entry(page: Page, draft: Draft, at: Path, kind: str, tensor: TensorInfo) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": kind}
    if tensor.name and _can_be_written(tensor.name):
        entry["layer_name"] = tensor.name
    else:
        draft.unknown.append(f"{at[0]}[{at[1]}] has a name that a text file cannot hold; it is left out")
    if tensor.element_type in _ELEMENT_TYPES:
        entry["element_type"] = tensor.element_type
    elif tensor.element_type is not None:
        draft.unknown.append(
            one_line(f"{at[0]}[{at[1]}] is of type {tensor.element_type}, which manifests do not know")
        )
    else:
        entry["element_type"] = "float32"
        page.beside[(*at, "element_type")] = "guess: the file does not say it"
    if tensor.shape is not None and len(tensor.shape) > 0:
        entry["shape"] = [-1 if size is None else size for size in tensor.shape]
    return entry


def _can_be_written(name: str) -> bool:
    """Whether a manifest gives it back letter by letter; YAML takes some letters for line ends."""
    try:
        name.encode()
        return name.isprintable() or parse_source(f"name: {spell_text(name)}")["name"] == name
    except (UnicodeEncodeError, ManifestError):
        return False


def _in_order(entry: dict[str, Any]) -> dict[str, Any]:
    first = ("type", "layer_name", "element_type", "shape", "description")
    return {key: entry[key] for key in (*first, *(key for key in entry if key not in first)) if key in entry}


def _lay_out_steps(page: Page, at: Path, steps: list[DraftStep], last: list[str]) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    waiting: list[str] = []
    for step in steps:
        waiting += step.remarks
        place = (*at, len(result))
        if len(step.because) > _SHORT:  # too long to stand beside it
            waiting.append(f"guess: {step.because}" if step.guess else step.because)
        else:
            page.say((*place, step.name), step)
        page.head(place, waiting)
        result.append({step.name: plain(step.value)})
        waiting = []
    waiting += last
    if waiting and result:
        end = (*at, len(result) - 1)
        page.above[end] = "\n".join(
            filter(None, [page.above.get(end, ""), *(one_line(f"after this: {x}") for x in waiting)])
        )
    return result


def _lay_out_outputs(page: Page, draft: Draft) -> None:
    outputs: list[dict[str, Any]] = []
    for index, output in enumerate(draft.outputs):
        at: Path = ("outputs", index)
        if output.tensor is not None:
            entry = _tensor_entry(page, draft, at, output.type.value, output.tensor)
        else:
            entry = {"type": output.type.value, **({"layer_name": output.name} if output.name is not None else {})}
        page.say((*at, "type"), output.type)
        if output.description:
            entry["description"] = one_line(output.description)
        if output.steps:
            entry["processing"] = _lay_out_steps(page, (*at, "processing"), list(output.steps), [])
        if index == _answer(draft):
            _add_labels(page, draft, at, entry, output)
        outputs.append(_in_order(entry))
    if not outputs:
        outputs = [{"type": "tensor"}]
        page.beside[("outputs", 0, "type")] = "guess: nothing was said about the model's output"
    page.data["outputs"] = outputs


def _answer(draft: Draft) -> int:
    """The output that names belong to."""
    kinds = [output.type.value for output in draft.outputs]
    return next((kinds.index(kind) for kind in ("classes", "scores", "boxes") if kind in kinds), 0)


def _add_labels(page: Page, draft: Draft, at: Path, entry: dict[str, Any], output: DraftOutput) -> None:
    for key in ("features_url", "features_checksum", "label_offset"):
        fact = draft.facts.get(f"outputs.{key}")
        if fact is not None:
            entry[key] = fact.value
            page.say((*at, key), fact)
    count = class_count(output.tensor) if output.tensor is not None else None
    names = draft.get("labels.count")
    if count is not None and names is not None and names != count and draft.get("task") in CLASS_TASKS:
        draft.notes.append(f"there are {names} names for {count} outputs")
