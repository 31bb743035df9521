"""How a text becomes tokens: its characters, what is cut off and filled up, and what else the model is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, step, steps_of

TEXT = ("text",)
_LENGTHS = (64, 128, 256, 384, 512)


def everywhere(plan: Plan, change: Callable[[tuple[Step, ...]], tuple[Step, ...]]) -> Plan:
    """The plan with the steps of every input that takes the text changed: they must stay of one length."""
    inputs = tuple(
        each.model_copy(update={"steps": change(each.steps)}) if each.part in TEXT else each for each in plan.inputs
    )
    return plan.model_copy(update={"inputs": inputs})


def exchanged(plan: Plan, at: int, *new: Step) -> Plan:
    """The plan with the step at one place exchanged for others, or dropped."""
    return everywhere(plan, lambda steps: (*steps[:at], *new, *steps[at + 1 :]))


def inserted(plan: Plan, at: int, new: Step) -> Plan:
    return everywhere(plan, lambda steps: (*steps[:at], new, *steps[at:]))


def with_parameters(plan: Plan, name: str, **parameters: object) -> Iterator[Plan]:
    """The plan with other parameters in its step of this name."""
    at = find(plan, name)
    new = None if at is None else changed(steps_of(plan)[at], **parameters)
    if at is not None and new is not None:
        yield exchanged(plan, at, new)


def value_of(plan: Plan, name: str, parameter: str) -> object:
    at = find(plan, name)
    return None if at is None else steps_of(plan)[at].parameters.get(parameter)


def _characters(plan: Plan, parameter: str, *others: str) -> Iterator[tuple[str, Plan]]:
    """(value, plan) with the text's characters changed otherwise; a step that changes nothing is left out."""
    at, cut = find(plan, "normalize_text"), find(plan, "tokenize")
    if cut is None:
        return
    nothing = step("normalize_text")
    now = nothing if at is None else steps_of(plan)[at]
    for value in ("keep", *others):
        new = changed(now, **{parameter: value})
        if value == now.parameters[parameter] or new is None:
            continue
        if at is None:
            yield value, inserted(plan, cut, new)
        else:
            yield value, exchanged(plan, at, *([] if new == nothing else [new]))


@pitfall("text-case", "Case of letters", parts=TEXT)
def text_case(plan: Plan) -> Edits:
    """The text is in lower case where the model knows capitals, or the other way round."""
    for value, edited in _characters(plan, "case", "lower"):
        yield "in lower case" if value == "lower" else "capital letters as they are", edited


@pitfall("unicode-form", "Unicode form", weight=0.3, parts=TEXT)
def unicode_form(plan: Plan) -> Edits:
    """A letter with an accent is one character or two, and a vocabulary knows one of the two forms."""
    for value, edited in _characters(plan, "form", "NFC", "NFD", "NFKC", "NFKD"):
        yield "Unicode as it is" if value == "keep" else f"Unicode in the form {value}", edited


@pitfall("text-accents", "Accents", weight=0.3, parts=TEXT)
def text_accents(plan: Plan) -> Edits:
    """Accents are stripped, or kept though the vocabulary has none."""
    for value, edited in _characters(plan, "accents", "strip"):
        yield "accents stripped" if value == "strip" else "accents kept", edited


@pitfall("truncation-length", "Length of truncated texts", parts=TEXT)
def truncation_length(plan: Plan) -> Edits:
    """Texts are cut after another number of tokens than in the evaluation that was published."""
    at, cut, filled = find(plan, "truncate"), find(plan, "tokenize"), value_of(plan, "pad_tokens", "length")
    if cut is None:
        return
    special = find(plan, "special_tokens")
    for length in _LENGTHS:
        if length == value_of(plan, "truncate", "length") or (isinstance(filled, int) and length > filled):
            continue
        words = f"at most {length} tokens"
        if at is None:
            yield words, inserted(plan, (cut if special is None else special) + 1, step("truncate", length=length))
        for edited in with_parameters(plan, "truncate", length=length):
            yield words, edited
    if at is not None and filled is None:
        yield "texts of any length", exchanged(plan, at)


@pitfall("truncation-side", "Side of truncation", weight=0.5, parts=TEXT)
def truncation_side(plan: Plan) -> Edits:
    """The end of a long text is dropped, or its beginning; of two texts the longer one, or always the same."""
    for name in ("right", "left"):
        if name != value_of(plan, "truncate", "side"):
            for edited in with_parameters(plan, "truncate", side=name):
                yield "the end is dropped" if name == "right" else "the beginning is dropped", edited
    at = find(plan, "tokenize")
    if at is None or steps_of(plan)[at].parameters["pair"] != "together":
        return
    for name in ("longest_first", "only_first", "only_second"):
        if name != value_of(plan, "truncate", "strategy"):
            for edited in with_parameters(plan, "truncate", strategy=name):
                yield f"of two texts {name.replace('_', ' ')}", edited


@pitfall("padding-side", "Side of padding", weight=0.5, parts=TEXT)
def padding_side(plan: Plan) -> Edits:
    """Rows are filled up in front where the model was trained with rows that are filled up at the end."""
    other = "right" if value_of(plan, "pad_tokens", "side") == "left" else "left"
    for edited in with_parameters(plan, "pad_tokens", side=other):
        yield f"filled up on the {other}", edited


@pitfall("padding-length", "Length of padded rows", weight=0.3, parts=TEXT)
def padding_length(plan: Plan) -> Edits:
    """All rows have one length, or that of the longest of their batch; a model without a mask sees the difference."""
    at, longest, now = find(plan, "pad_tokens"), value_of(plan, "truncate", "length"), None
    if at is None or not isinstance(longest, int):
        return
    now = value_of(plan, "pad_tokens", "length")
    for length in sorted({longest, *_LENGTHS}):
        if length >= longest and length != now:
            for edited in with_parameters(plan, "pad_tokens", length=length):
                yield f"filled up to {length} tokens", edited
    if now is not None:
        kept = {name: value for name, value in steps_of(plan)[at].parameters.items() if name != "length"}
        yield "filled up to the longest of the batch", exchanged(plan, at, step("pad_tokens", **kept))


@pitfall("special-tokens", "Special tokens", parts=TEXT)
def special_tokens(plan: Plan) -> Edits:
    """The tokens that a model expects in front and at the end, such as [CLS] and [SEP], are missing or there twice."""
    now = value_of(plan, "tokenize", "special_tokens")
    at = find(plan, "special_tokens")
    if at is not None:
        yield "without special tokens", exchanged(plan, at)
    if now is not None:
        for edited in with_parameters(plan, "tokenize", special_tokens=not now):
            yield "without special tokens" if now else "with the special tokens of the file", edited


@pitfall("tokenizer-file", "Vocabulary", weight=0.3, parts=TEXT)
def tokenizer_file(plan: Plan) -> Edits:
    """The vocabulary is that of another model, so that tokens have other numbers."""
    for name in plan.model.files:
        if name != value_of(plan, "tokenize", "file"):
            for edited in with_parameters(plan, "tokenize", file=name):
                yield f"tokens of the file {name}", edited


@pitfall("pair-order", "Order of two texts", weight=0.5, parts=TEXT)
def pair_order(plan: Plan) -> Edits:
    """The second text of a pair comes first: premise and hypothesis, or question and passage, change places."""
    if value_of(plan, "tokenize", "pair") not in ("together", "first"):
        return
    other = "as_given" if value_of(plan, "tokenize", "order") == "swapped" else "swapped"
    for edited in with_parameters(plan, "tokenize", order=other):
        yield "the second text first" if other == "swapped" else "the first text first", edited


def _fed(plan: Plan, tensor: str, other: str) -> Iterator[Plan]:
    """The plan with an input fed with another tensor of the tokens."""
    for number, given in enumerate(plan.inputs):
        steps = tuple(
            step("take", tensor=other) if each.name == "take" and each.parameters["tensor"] == tensor else each
            for each in given.steps
        )
        if steps != given.steps:
            new = given.model_copy(update={"steps": steps})
            yield plan.model_copy(update={"inputs": (*plan.inputs[:number], new, *plan.inputs[number + 1 :])})


@pitfall("attention-mask", "Attention mask", weight=0.5, parts=TEXT)
def attention_mask(plan: Plan) -> Edits:
    """The mask is all ones, so that the model also reads what rows were filled up with."""
    for edited in _fed(plan, "mask", "ones"):
        yield "a mask of ones", edited
    for edited in _fed(plan, "ones", "mask"):
        yield "a mask of the real tokens", edited


@pitfall("token-types", "Types of tokens", weight=0.3, parts=TEXT)
def token_types(plan: Plan) -> Edits:
    """The tokens of the second text are of type 0, so that the model cannot tell them from those of the first."""
    if value_of(plan, "tokenize", "pair") != "together":
        return
    for edited in _fed(plan, "types", "zeros"):
        yield "all tokens of type 0", edited
    for edited in _fed(plan, "zeros", "types"):
        yield "tokens of the second text of type 1", edited
