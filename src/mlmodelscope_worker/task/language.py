"""Tasks of language models: how likely each choice is, how likely a text is, what was written."""

from ..output.boxes import Refused
from ..pipeline.asking import count_words
from .reader import Reader, task_reader
from .texts import Texts, plain_text


@task_reader("multiple_choice")
class Choices(Reader):
    """Its answers come from a session of their own: see `answer_of`."""


@task_reader("language_modeling")
class Likelihoods(Reader):
    """Its answers come from a session of their own: see `answer_of`."""


task_reader("text_generation")(Texts)


def answer_of(question, found, engine):
    """([(name, array)], fields) of one question, from what the engine made of its rows."""
    return {"choose": _chosen, "read": _read, "write": _written}[question.call](question, found)


def _array(values, element_type):
    import numpy as np

    return np.array(list(values), element_type)


def _sums(found):
    import numpy as np

    sums = _array((float(np.sum(logs)) for logs, _ in found), "<f8")
    if not np.isfinite(sums).all():
        raise Refused("the model answered with not-a-number")
    return sums


def _chosen(question, found):
    """Of each choice: the logarithm of its probability, its length in each unit, and whether it was the likeliest."""
    prompt = question.prompt
    texts = prompt.questions if len(prompt.questions) > 1 else prompt.choices
    count = len(texts)
    arrays = [
        ("sums", _sums(found[:count])),
        ("tokens", _array((len(logs) for logs, _ in found[:count]), "<i4")),
        ("characters", _array(map(len, texts), "<i4")),
        ("bytes", _array((len(each.encode("utf-8")) for each in texts), "<i4")),
        ("likeliest", _array((bool(best.all()) for _, best in found[:count]), "|u1")),
    ]
    if len(found) > count:
        arrays.append(("alone", _sums(found[count:])))
    arrays.append(("logs", _array((log for logs, _ in found[:count] for log in logs), "<f4")))
    return arrays, {"choices": [plain_text(each)[:2000] for each in texts]}


def _read(question, found):
    """Of each window: the logarithm of its probability, its tokens, and whether each was the likeliest."""
    text = question.text
    arrays = [
        ("sums", _sums(found)),
        ("tokens", _array((len(logs) for logs, _ in found), "<i4")),
        ("likeliest", _array((bool(best.all()) for _, best in found), "|u1")),
        ("logs", _array((log for logs, _ in found for log in logs), "<f4")),
    ]
    fields = {"words": count_words(text), "characters": len(text), "bytes": len(text.encode("utf-8"))}
    return arrays, fields


def _written(question, found):
    """The text, and all of them where several were drawn."""
    fields = {
        "text": plain_text(found[0].text),
        "tokens": len(found[0].tokens),
        "ending": found[0].ending,
    }
    if len(found) > 1:
        fields["texts"] = [plain_text(each.text) for each in found]
    return [], fields
