"""How a prompt becomes tokens, and what a language model is asked about them: windows, lengths, ends, draws."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import measured
from mlmodelscope.replicate.pitfall.pitfall import Edits, find, pitfall
from mlmodelscope.replicate.pitfall.prompting import DOCUMENT, has_both, parameter, with_parameters

_NORMALIZATIONS = {
    "none": "choices compared as they are",
    "characters": "choices compared by their characters",
    "bytes": "choices compared by their bytes",
    "tokens": "choices compared by their tokens",
    "unconditional": "choices compared with what they are worth alone",
}
_LENGTHS = (2048, 1024, 512, 256, 128)
_STOPS = {
    (): "only the end of the text stops it",
    ("\n",): "the end of a line stops it",
    ("\n\n",): "an empty line stops it",
    ("?",): "a question mark stops it",
    ("Question:",): "`Question:` stops it",
    ("Q:",): "`Q:` stops it",
    (".",): "a period stops it",
}
_WRITTEN = (256, 128, 64, 32, 16, 512, 1024)
_DRAWS = {0.0: "the likeliest token each time", 1.0: "drawn at the temperature 1", 0.7: "drawn at the temperature 0.7"}
_SEEDS = (0, 1, 2, 42, 1234)
_BEGINNINGS = (1, 0, 2)
"""Numbers that the token for the beginning mostly has."""


@pitfall("choice-normalization", "What likelihoods of choices are divided by", is_ranked=True, parts=DOCUMENT)
def choice_normalization(plan: Plan) -> Edits:
    """A long choice is less likely than a short one: some divide by its length, in characters, bytes or tokens."""
    if plan.task != "multiple_choice":
        return
    for name, words in _NORMALIZATIONS.items():
        if name == plan.measure.get("normalization", "none"):
            continue
        edited = measured(plan, normalization=name)
        if name != "unconditional" or parameter(plan, "choose", "unconditional"):
            yield words, edited
        else:
            for asked in with_parameters(edited, "choose", unconditional=True):
                yield words, asked


@pitfall("beginning-token", "Token for the beginning", parts=DOCUMENT)
def beginning_token(plan: Plan) -> Edits:
    """The token that begins every text of the training is missing, or there twice: in the template, and once more."""
    now = parameter(plan, "encode_prompt", "special_tokens")
    words = {
        "none": "no special tokens",
        "always": "the special tokens of the tokenizer's file",
        "once": "the special tokens of the file, but no two at the beginning",
    }
    for value, told in words.items():
        if value != now:
            for edited in with_parameters(plan, "encode_prompt", special_tokens=value):
                yield told, edited
    start = parameter(plan, "encode_prompt", "start")
    if start is not None:
        for edited in with_parameters(plan, "encode_prompt", start=None):
            yield "no token in front", edited
            for other in with_parameters(edited, "encode_prompt", special_tokens="always"):
                yield "the special tokens of the file in place of the one in front", other
    else:
        empty = parameter(plan, "encode_prompt", "empty")
        for token in dict.fromkeys(([empty] if isinstance(empty, int) else []) + list(_BEGINNINGS)):
            for edited in with_parameters(plan, "encode_prompt", start=token):
                yield f"the token {token} in front", edited


@pitfall("joined-tokens", "Where question and answer part", weight=0.5, parts=DOCUMENT)
def joined_tokens(plan: Plan) -> Edits:
    """Question and answer are cut into tokens together and parted then, or each by itself."""
    if find(plan, "write") is not None or not has_both(plan):
        return
    other = "apart" if parameter(plan, "encode_prompt", "join") == "together" else "together"
    for edited in with_parameters(plan, "encode_prompt", join=other):
        yield f"question and answer cut into tokens {'each by itself' if other == 'apart' else 'together'}", edited


@pitfall("context-length", "Tokens of the context", weight=0.5, is_ranked=True, parts=DOCUMENT)
def context_length(plan: Plan) -> Edits:
    """A prompt that is too long is cut, and the model sees less of its examples or of its question."""
    if find(plan, "read") is not None and not has_both(plan):
        return  # windows are as long as they are
    now = parameter(plan, "encode_prompt", "longest")
    for length in (None, *_LENGTHS):
        if length != now:
            for edited in with_parameters(plan, "encode_prompt", longest=length):
                yield "as many tokens as the model takes" if length is None else f"at most {length} tokens", edited


@pitfall("context-cut", "Side on which the context is cut", weight=0.3, parts=DOCUMENT)
def context_cut(plan: Plan) -> Edits:
    """What does not fit is dropped at the beginning of the prompt, or at its end, where the question is."""
    words = {"left": "the beginning is dropped", "right": "the end is dropped"}
    for side, told in words.items():
        if side != parameter(plan, "encode_prompt", "cut"):
            for edited in with_parameters(plan, "encode_prompt", cut=side):
                yield told, edited


@pitfall("prompt-tokenizer", "Tokenizer of a language model", weight=0.3, parts=DOCUMENT)
def prompt_tokenizer(plan: Plan) -> Edits:
    """Another tokenizer's file, or the model's own in place of it: tokens then have other numbers, or lie elsewhere."""
    now = parameter(plan, "encode_prompt", "file")
    if now is not None:
        if parameter(plan, "encode_prompt", "library") == "tokenizers" or not parameter(
            plan, "encode_prompt", "special_tokens"
        ):
            for edited in with_parameters(plan, "encode_prompt", library=None, file=None):
                yield "the model's own tokenizer", edited
        for name in plan.model.files:
            if name != now and "token" in name.lower() and "config" not in name.lower():
                for edited in with_parameters(plan, "encode_prompt", file=name):
                    yield f"tokens of the file {name}", edited
    elif find(plan, "encode_prompt") is not None:
        for name in plan.model.files:
            if "token" in name.lower() and "config" not in name.lower():
                for edited in with_parameters(plan, "encode_prompt", library="tokenizers", file=name):
                    yield f"tokens of the file {name}", edited


@pitfall("reading-window", "Window of perplexity", is_ranked=True, parts=DOCUMENT)
def reading_window(plan: Plan) -> Edits:
    """A long text is read in windows: the shorter they are, the less a token has before it, and the worse it does."""
    window = parameter(plan, "read", "window")
    for length in (None, *_LENGTHS):
        overlap = parameter(plan, "read", "overlap")
        if length != window and (length is None or not isinstance(overlap, int) or overlap < length):
            for edited in with_parameters(plan, "read", window=length):
                yield "windows as wide as the model takes" if length is None else f"windows of {length} tokens", edited


@pitfall("window-overlap", "Overlap of windows", parts=DOCUMENT)
def window_overlap(plan: Plan) -> Edits:
    """Windows overlap, so that every token has some before it, or each begins anew."""
    window, now = parameter(plan, "read", "window"), parameter(plan, "read", "overlap")
    if now is None:
        return
    wide = window if isinstance(window, int) else 1024
    for overlap in dict.fromkeys((0, wide // 2, wide * 3 // 4, wide - 1)):
        if overlap != now and 0 <= overlap < wide:
            for edited in with_parameters(plan, "read", overlap=overlap):
                yield (
                    f"windows have {overlap} tokens in common" if overlap else "windows have nothing in common",
                    edited,
                )


@pitfall("first-token", "First token of a window", weight=0.5, parts=DOCUMENT)
def first_token(plan: Plan) -> Edits:
    """The first token of a text is scored behind a token that stands for nothing, or each window's first is skipped."""
    now = parameter(plan, "read", "first")
    if now is not None:
        other = "skip" if now == "score" else "score"
        for edited in with_parameters(plan, "read", first=other):
            yield "each window's first token skipped" if other == "skip" else "the first token scored", edited


@pitfall("perplexity-unit", "What perplexity is divided by", parts=DOCUMENT)
def perplexity_unit(plan: Plan) -> Edits:
    """Perplexity is per token, per word or per byte: tokens of one model are not those of another."""
    if plan.task == "language_modeling":
        for unit in ("tokens", "words", "bytes"):
            if unit != plan.measure.get("unit", "tokens"):
                yield f"perplexity of {unit}", measured(plan, unit=unit)


@pitfall("stop-strings", "Texts that end an answer", is_ranked=True, parts=DOCUMENT)
def stop_strings(plan: Plan) -> Edits:
    """A model goes on after its answer unless a text stops it; one that comes too early cuts the answer off."""
    if find(plan, "write") is None:
        return
    now = parameter(plan, "write", "stop")
    listed = tuple(now) if isinstance(now, list) else ()
    for stop, words in _STOPS.items():
        if stop != listed:
            for edited in with_parameters(plan, "write", stop=list(stop) or None):
                yield words, edited


@pitfall("written-length", "Tokens of an answer", is_ranked=True, parts=DOCUMENT)
def written_length(plan: Plan) -> Edits:
    """An answer is cut off before it has come to its point, or goes on and takes the last number with it."""
    now = parameter(plan, "write", "longest")
    if isinstance(now, int):
        for length in dict.fromkeys((2 * now, max(1, now // 2), *_WRITTEN)):
            if length != now:
                for edited in with_parameters(plan, "write", longest=length):
                    yield f"at most {length} tokens written", edited


@pitfall("sampling", "Likeliest token or draw", parts=DOCUMENT)
def sampling(plan: Plan) -> Edits:
    """Answers are drawn, as the model's files suggest, where others take the likeliest token each time."""
    now = parameter(plan, "write", "temperature")
    for temperature, words in _DRAWS.items():
        if now is not None and now != temperature:
            for edited in with_parameters(plan, "write", temperature=temperature):
                yield words, edited


@pitfall("sampling-seed", "Seed of the draw", weight=0.3, parts=DOCUMENT)
def sampling_seed(plan: Plan) -> Edits:
    """What is drawn depends on the seed; a number of one draw has an error that nobody sees."""
    if parameter(plan, "write", "temperature"):
        for seed in _SEEDS:
            if seed != parameter(plan, "write", "seed"):
                for edited in with_parameters(plan, "write", seed=seed):
                    yield f"drawn with the seed {seed}", edited
