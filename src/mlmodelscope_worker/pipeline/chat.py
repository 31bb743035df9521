"""Chats: a prompt becomes turns, and a template writes the turns as the model was trained to read them."""

import functools
import json
import os

from ..parameters import Choice, File, Flag, Text
from ..predictor import ModelError
from . import library as libraries
from .step import step
from .value import SampleError

_MOST_BYTES = 1 << 24


@functools.lru_cache(maxsize=8)
def template_in(path):
    """(template, special tokens by name) of a file: a `tokenizer_config.json`, or the template itself."""
    text = _text_of(path, "of the chat template")
    found = _mapping_of(text)
    if found is None:
        return text, {}
    template = found.get("chat_template")
    if isinstance(template, list):
        named = {each.get("name"): each.get("template") for each in template if isinstance(each, dict)}
        template = named.get("default")
    if not isinstance(template, str):
        raise ModelError("the file has no `chat_template`")
    return template, _tokens_of(found)


@functools.lru_cache(maxsize=8)
def tokens_in(path):
    """The special tokens by name that a `tokenizer_config.json` has."""
    found = _mapping_of(_text_of(path, "with the special tokens"))
    if found is None:
        raise ModelError("the file with the special tokens is not a JSON object")
    return _tokens_of(found)


def _text_of(path, what):
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise ModelError("the file %s has more than %d bytes" % (what, _MOST_BYTES))
        with open(path, "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError("the file %s cannot be read: %s" % (what, error))


def _mapping_of(text):
    """A JSON object; None where it is something else: a template may begin with a brace, too."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _tokens_of(found):
    return {name: _content(value) for name, value in found.items() if name.endswith("_token")}


def _content(value):
    """A special token's text, which newer files wrap up."""
    return value.get("content") if isinstance(value, dict) else value


def _ready(parameters):
    if parameters["file"] is None:
        return
    if parameters["tokens"] is not None:
        tokens_in(parameters["tokens"])
    template, _ = template_in(parameters["file"])
    libraries.load(parameters["library"]).check(template, is_chat=True)


@step(takes="prompt", ready=_ready)
def chat(
    prompt,
    *,
    file: File(
        "Which of the manifest's `files` has the template: a `tokenizer_config.json`, or the template itself. By "
        "default a server's own, where a server takes the turns."
    ) = None,
    tokens: File(
        "Which of the manifest's `files` names the special tokens that the template writes, a `tokenizer_config.json`, "
        "where the template is in a file of its own."
    ) = None,
    examples: Choice(
        "Whether examples are turns of their own, or stand in one turn with the question.", "text", "turns"
    ) = "text",
    system: Text("What the system says; in place of the prompt's own.") = None,
    delimiter: Text("What stands between the opened turn and a choice.") = "",
    opened: Flag("Open the turn of the assistant, so that the answer comes next.") = True,
    library: Choice("What fills templates in.", "jinja2") = "jinja2",
):
    """Write a prompt as turns of a chat, by the template that the model was trained with."""
    asked = prompt.changed(has_turns=examples == "turns", system=prompt.system if system is None else system)

    def context(question):
        if file is None:
            raise SampleError("no file has the template by which turns are written: `file`")
        template, special = template_in(file)
        if tokens is not None:
            special = dict(tokens_in(tokens), **special)
        values = dict(special, messages=asked.turns(question), add_generation_prompt=opened)
        return libraries.load(library).render(template, values, is_chat=True)

    return asked.with_context(context, delimiter)
