"""A document: one row of a dataset of texts as its author wrote it, and what a template makes of it."""

import ast
import re

from . import library as libraries
from .value import Opaque, SampleError

MOST_CHOICES = 1000
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")


class Document(Opaque):
    """`fields` by name, of any shape that JSON has. `ordinal` is its place in the whole dataset, which examples that
    are drawn in turn depend on."""

    kind, needed = "document", "`prompt` and what is asked of it come first"

    def __init__(self, fields, ordinal=0):
        self.fields = fields
        self.ordinal = ordinal


def read_document(content):
    """A document as the host sends it."""
    fields = content.get("document")
    if not isinstance(fields, dict):
        raise SampleError("it is not a document")
    return Document(fields, int(content.get("ordinal", 0)))


def with_numbers(documents):
    """Rows of a table: columns with nothing but whole numbers hold numbers, as `datasets` and pandas read them."""
    for name in documents[0] if documents else ():
        values = [each.get(name) for each in documents]
        if all(isinstance(each, str) and _WHOLE.match(each) for each in values):
            for each, value in zip(documents, values):
                each[name] = int(value)
    return documents


def fill(template, fields, library="jinja2"):
    """A template filled in with a document's fields. One that is the name of a field stands for that field."""
    if template in fields:
        return fields[template]
    if "{" not in template:
        return template
    return libraries.load(library).render(template, fields)


def fill_text(template, fields, what, library="jinja2"):
    found = fill(template, fields, library)
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str):
        raise SampleError("%s is not a text: %.60r" % (what, found))
    return found


def fill_list(templates, fields, library="jinja2"):
    """Texts to choose from. One template stands for all of them: it makes a list, or is the name of one."""
    if len(templates) > 1:  # each a template or a word: `A` is a choice even where a field has that name
        render = libraries.load(library).render
        return [render(each, fields) if "{" in each else each for each in templates]
    found = fill(templates[0], fields, library)
    if isinstance(found, str):
        found = literal(found, "the choices")
    if isinstance(found, dict):
        found = list(found.values())
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, str) for each in found):
        raise SampleError("the choices are not a list of texts: %.60r" % (found,))
    if not 1 <= len(found) <= MOST_CHOICES:
        raise SampleError("there are %d choices; 1 to %d are allowed" % (len(found), MOST_CHOICES))
    return list(found)


def literal(text, what):
    """A list that a template wrote down."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise SampleError("%s are not a list: %.60r" % (what, text))


def fill_answer(template, fields, library="jinja2", has_choices=True):
    """What is true of a document: a text, a list of texts, or, where there are choices, the number of one."""
    if template in fields:
        return fields[template]
    found = fill(template, fields, library)
    if has_choices and isinstance(found, str) and found.isdigit():
        return int(found)
    if isinstance(found, str) and found.startswith("[") and found.endswith("]"):
        try:
            return literal(found, "the answers")
        except SampleError:
            return found
    return found
