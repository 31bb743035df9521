"""Chats: a prompt becomes turns, and a template writes the turns as the model was trained to read them."""

import functools
import json
import os

from ..parameters import Choice, File, Flag, Text
from ..predictor import ModelError
from . import library as libraries
from .step import step

_MOST_BYTES = 1 << 24


@functools.lru_cache(maxsize=8)
def template_in(path):
    """(template, special tokens by name) of a file: a `tokenizer_config.json`, or the template itself."""
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise ModelError("the file of the chat template has more than %d bytes" % _MOST_BYTES)
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError("the file of the chat template cannot be read: %s" % error)
    if not text.lstrip().startswith("{"):
        return text, {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # a template may begin with a brace, too
        return text, {}
    template = found.get("chat_template")
    if isinstance(template, list):
        named = {each.get("name"): each.get("template") for each in template if isinstance(each, dict)}
        template = named.get("default")
    if not isinstance(template, str):
        raise ModelError("the file has no `chat_template`")
    return template, {name: _content(value) for name, value in found.items() if name.endswith("_token")}


def _content(value):
    """A special token's text, which newer files wrap up."""
    return value.get("content") if isinstance(value, dict) else value


def _ready(parameters):
    template, _ = template_in(parameters["file"])
    libraries.load(parameters["library"]).check(template, is_chat=True)


@step(takes="prompt", ready=_ready)
def chat(
    prompt,
    *,
    file: File("Which of the manifest's `files` has the template: a `tokenizer_config.json`, or the template itself."),
    examples: Choice(
        "Whether examples are turns of their own, or stand in one turn with the question.", "text", "turns"
    ) = "text",
    system: Text("What the system says; in place of the prompt's own.") = None,
    delimiter: Text("What stands between the opened turn and a choice.") = "",
    opened: Flag("Open the turn of the assistant, so that the answer comes next.") = True,
    library: Choice("What fills templates in.", "jinja2") = "jinja2",
):
    """Write a prompt as turns of a chat, by the template that the model was trained with."""
    template, tokens = template_in(file)
    render = libraries.load(library).render
    first = prompt.system if system is None else system
    shown = prompt.examples

    def context(question):
        turns = [{"role": "system", "content": first}] if first else []
        if examples == "turns":
            for asked, said in shown:
                turns.append({"role": "user", "content": asked})
                turns.append({"role": "assistant", "content": said})
            turns.append({"role": "user", "content": question})
        else:
            before = "".join(asked + prompt.shown_delimiter + said + prompt.separator for asked, said in shown)
            turns.append({"role": "user", "content": before + question})
        values = dict(tokens, messages=turns, add_generation_prompt=opened)
        return render(template, values, is_chat=True)

    return prompt.with_context(context, delimiter)
