"""Jinja, in a sandbox: templates come with manifests and tokenizers of strangers."""

import functools
import json
import re

from jinja2 import StrictUndefined, TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..value import SampleError

MOST_CHARACTERS = 1 << 20


def _regex_replace(text, pattern, replacement, count=0):
    return re.sub(pattern, replacement, text, count=count)


def _as_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Complaint(Exception):
    """What a template refuses by itself."""


def _complain(message):
    raise Complaint(message)


def _environment(**options):
    made = ImmutableSandboxedEnvironment(extensions=[loopcontrols], **options)
    made.filters["regex_replace"] = _regex_replace
    return made


@functools.lru_cache(maxsize=None)
def _of_documents():
    return _environment(undefined=StrictUndefined, keep_trailing_newline=True)


@functools.lru_cache(maxsize=None)
def _of_chats():
    """As chat templates of tokenizers are written for: blocks leave no blanks behind, and what is missing is empty."""
    made = _environment(trim_blocks=True, lstrip_blocks=True)
    made.filters["tojson"] = _as_json
    made.globals["raise_exception"] = _complain
    return made


@functools.lru_cache(maxsize=256)
def _compiled(text, is_chat):
    return (_of_chats() if is_chat else _of_documents()).from_string(text)


def check(text, is_chat=False):
    """Refuse a template that nobody can fill in: ValueError says why."""
    try:
        _compiled(text, is_chat)
    except (TemplateError, RecursionError) as error:
        raise ValueError("the template cannot be read: %s" % (str(error)[:200] or type(error).__name__))


def render(text, values, is_chat=False):
    """A template filled in."""
    try:
        found = _compiled(text, is_chat).render(**values)
    except Complaint as error:
        raise SampleError("the template refuses it: %s" % str(error)[:200])
    except Exception as error:  # whatever a stranger's expression does
        raise SampleError("the template cannot be filled in: %s" % (str(error)[:200] or type(error).__name__))
    if len(found) > MOST_CHARACTERS:
        raise SampleError("the template makes %d characters; at most %d" % (len(found), MOST_CHARACTERS))
    return found
