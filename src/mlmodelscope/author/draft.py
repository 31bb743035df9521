"""What is known of a model before it is a manifest: facts with their source, guesses with their reason.

A model file, a configuration and the command line each make a draft; `merged` puts them together, and
`lay_out` turns the result into the data and the comments of a manifest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlmodelscope.model_file.limit import clean
from mlmodelscope.model_file.model_file import TensorInfo

MAX_REMARK = 300


@dataclass(frozen=True)
class Fact:
    """One value, where it was read or why it is supposed."""

    value: Any
    because: str
    guess: bool = False


@dataclass(frozen=True)
class DraftStep:
    """One step of processing, and why it is there."""

    name: str
    value: Any
    because: str = ""
    guess: bool = False
    remarks: tuple[str, ...] = ()
    """Lines above the step: what stood there and cannot be expressed, or what might."""


@dataclass(frozen=True)
class Guess:
    where: str
    value: Any
    because: str


@dataclass(frozen=True)
class Question:
    """What only the author knows; `flag` says how to answer without being asked."""

    key: str
    text: str
    default: str | None = None
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        return "--" + self.key.replace("_", "-")


@dataclass(frozen=True)
class DraftOutput:
    """One output; `tensor` is what the file says of it."""

    type: Fact
    name: str | int | None = None
    tensor: TensorInfo | None = None
    steps: tuple[DraftStep, ...] = ()
    description: str | None = None


@dataclass
class Draft:
    """Everything that was found. Keys of `facts` are those of a manifest, with dots for what stands inside."""

    facts: dict[str, Fact] = field(default_factory=dict)
    inputs: list[TensorInfo] = field(default_factory=list)
    outputs: list[DraftOutput] = field(default_factory=list)
    steps: list[DraftStep] | None = None
    """From `decode` to the arithmetic, for the image input; None if there is none."""
    steps_are_whole: bool = False
    """Whether a configuration says all of them, so that what is missing is missing on purpose."""
    last_remarks: list[str] = field(default_factory=list)
    """What stands behind the last step and cannot be expressed."""
    claims: list[dict[str, Any]] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    prompt: list[DraftStep] | None = None
    """What a language model does with a prompt; None if there is none."""
    files: dict[str, Path] = field(default_factory=dict)
    """Files that the steps name, where they lie."""
    writing: dict[str, Fact] = field(default_factory=dict)
    """How a language model writes."""
    labels: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    """What a reader should know; they head the manifest."""
    unknown: list[str] = field(default_factory=list)
    """What was read and cannot be expressed; kept under `attributes`."""
    questions: list[Question] = field(default_factory=list)

    def learn(self, key: str, value: Any, because: str, guess: bool = False) -> None:
        """Add a fact unless there is one already; what is read takes the place of what was supposed."""
        if value is None:
            return
        known = self.facts.get(key)
        if known is None or (known.guess and not guess):
            self.facts[key] = Fact(value, because, guess)

    def get(self, key: str, otherwise: Any = None) -> Any:
        fact = self.facts.get(key)
        return otherwise if fact is None else fact.value

    def keep(self, section: str, key: str, value: Any, why: str = "") -> None:
        """Something that has no place of its own: kept under `attributes`, and named."""
        self.attributes.setdefault(section, {})[key] = plain(value)
        self.unknown.append(one_line(f"{section}.{key}: {why or 'has no place of its own in a manifest'}"))

    def ask(self, key: str, text: str, default: str | None = None, choices: Iterable[str] = ()) -> None:
        if not any(question.key == key for question in self.questions):
            self.questions.append(Question(key, text, default, tuple(choices)))

    @property
    def guesses(self) -> list[Guess]:
        found = [Guess(key, fact.value, fact.because) for key, fact in self.facts.items() if fact.guess]
        found += [
            Guess(f"outputs.{output.name if output.name is not None else index}.type", fact.value, fact.because)
            for index, output in enumerate(self.outputs)
            if (fact := output.type).guess
        ]
        steps = [*(self.steps or ()), *(self.prompt or ()), *(step for output in self.outputs for step in output.steps)]
        return found + [Guess(step.name, step.value, step.because) for step in steps if step.guess]


def merged(file: Draft, config: Draft) -> Draft:
    """One draft of two: the file knows tensors best, the configuration everything about their meaning."""
    result = joined(config, file)
    for key in ("framework.name", "source.graph_path", "source.graph_checksum"):
        if key in file.facts and not file.facts[key].guess:
            result.facts[key] = file.facts[key]
    if "name" in file.facts and result.facts["name"].guess:
        result.facts["name"] = file.facts["name"]
    if "source.graph_path" not in file.facts and "source.weights_path" in file.facts:
        for key in ("source.weights_path", "source.weights_checksum"):  # those of the library are others
            result.facts[key] = file.facts[key]
    if "source.graph_path" in file.facts:
        for key in ("source.graph_checksum", "source.weights_path", "source.weights_checksum"):
            if key not in file.facts:
                result.facts.pop(key, None)  # they belong to the configuration's own file
    result.inputs = file.inputs or config.inputs
    result.outputs = _merged_outputs(file.outputs, config.outputs)
    return result


def joined(first: Draft, second: Draft) -> Draft:
    """One draft of two of a kind: what the first knows counts, unless it only supposes."""
    result = Draft()
    for draft in (first, second):
        for key, fact in draft.facts.items():
            result.learn(key, fact.value, fact.because, fact.guess)
        result.notes += draft.notes
        result.unknown += draft.unknown
        result.references += [text for text in draft.references if text not in result.references]
        result.claims += [claim for claim in draft.claims if claim not in result.claims]
        for question in draft.questions:
            result.ask(question.key, question.text, question.default, question.choices)
        for section, values in draft.attributes.items():
            result.attributes.setdefault(section, values)
    result.inputs = first.inputs or second.inputs
    result.outputs = first.outputs or second.outputs
    result.labels = first.labels or second.labels
    # What comes later has seen what was said before it.
    result.prompt = second.prompt if second.prompt is not None else first.prompt
    result.files, result.writing = {**first.files, **second.files}, {**second.writing, **first.writing}
    chosen = first if first.steps is not None else second
    result.steps, result.last_remarks, result.steps_are_whole = (
        chosen.steps,
        chosen.last_remarks,
        chosen.steps_are_whole,
    )
    return result


def _merged_outputs(file: list[DraftOutput], config: list[DraftOutput]) -> list[DraftOutput]:
    """The file's tensors; a configuration's word on one of the same name beats a guess at what it holds."""
    if not file or not config:
        return file or config
    said = {output.name: output for output in config if output.name is not None}
    alone = config[0] if len(config) == len(file) == 1 else None
    result = []
    for output in file:
        other = (said.get(output.name) if output.name is not None else None) or alone
        if other is not None and output.type.guess and not other.type.guess:
            kept = [step for step in output.steps if step.name == "dequantize"]
            output = DraftOutput(other.type, output.name, output.tensor, (*kept, *other.steps), other.description)
        result.append(output)
    return result


def one_line(text: object) -> str:
    """Words of a stranger as they may stand in a comment."""
    line = " ".join(clean(str(text)).split())
    return line if len(line) <= MAX_REMARK else line[: MAX_REMARK - 1] + "…"


def plain(value: Any, depth: int = 0) -> Any:
    """Data without places, and with texts that any file can hold."""
    if depth > 32:
        return "…"
    if isinstance(value, dict):
        return {clean(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, str):
        return clean(str(value))
    return value
