"""What a manifest's own post-processing returns for a sample becomes an answer: classes with scores, or JSON as it is.

A classification's answer may be written in many ways: a class number; scores over all classes; `{"classes": [...],
"scores": [...]}`; a list of features `{"index", "probability"}` as the original system had them, also nested under
`classification`; or any of these as JSON text.
"""

import json

from .ranking import top_classes

NO_CLASS = -(1 << 31)
"""Stands behind the last class of an answer that is shorter than others of its batch."""

_LARGEST_CLASS = (1 << 31) - 1
_NOT_A_NUMBER = "the scores are not numbers (NaN)"


class AnswerError(ValueError):
    """This is no answer."""


def classify(answer, k, names=()):
    """(classes, scores) of one sample's answer, best first."""
    import numpy as np

    if isinstance(answer, str) and answer in names:  # a class may be called `7` or `null`
        return [names.index(answer)], [1.0]
    value = plain(answer)
    if isinstance(value, dict):
        if "classes" in value:
            return _given(value, k, names)
        value = [value]
    if not isinstance(value, list):
        return [_class(value, names)], [1.0]
    if not value:
        raise AnswerError("an answer without content")
    if len(value) == 1 and isinstance(value[0], int):  # what argmax leaves: one number is no list of scores
        return [_class(value[0], names)], [1.0]
    if all(isinstance(each, dict) for each in value):
        features = [_feature(each, names) for each in value]
        pairs = [(index, 1.0 if score is None else score) for index, score in features]
        _refuse_not_a_number([score for _, score in pairs])
        pairs.sort(key=lambda pair: -pair[1])
        if all(score is not None for _, score in features):  # without scores, their order is the answer
            pairs.sort(key=lambda pair: (-pair[1], pair[0]))  # of equal scores the lowest class first, as everywhere
        return [index for index, _ in pairs[:k]], [score for _, score in pairs[:k]]
    try:
        scores = np.asarray(value, dtype=np.float32).reshape(-1)
    except (TypeError, ValueError):
        raise AnswerError("a list of neither scores nor features")
    if not scores.size:
        raise AnswerError("an answer without content")
    _refuse_not_a_number(scores)
    best = top_classes(scores, min(k, scores.size))
    return [int(index) for index in best], [float(scores[index]) for index in best]


def _given(value, k, names):
    """`{"classes": [...], "scores": [...]}`, in the order in which they are given."""
    classes = [_class(each, names) for each in _list(value["classes"])]
    if not classes:
        raise AnswerError("an answer without classes")
    scores = [float(each) for each in _list(value.get("scores", [1.0] * len(classes)))]
    if len(classes) != len(scores):
        raise AnswerError("%d classes and %d scores" % (len(classes), len(scores)))
    _refuse_not_a_number(scores)
    return classes[:k], scores[:k]


def _class(value, names):
    if isinstance(value, str):
        return _by_name(value, names)
    if isinstance(value, float) and value.is_integer():  # frameworks give class numbers in tensors of floats
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise AnswerError("%s is no class" % (value,))
    if not -_LARGEST_CLASS <= value <= _LARGEST_CLASS:
        raise AnswerError("there is no class number %s" % (value,))
    return value


def _refuse_not_a_number(scores):
    if any(score != score for score in scores):
        raise AnswerError(_NOT_A_NUMBER)


def _list(value):
    value = value if isinstance(value, list) else [value]
    # One row of a batch's result still has the batch's axis.
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def _feature(feature, names):
    """Class number and score (or none) of a feature, under whatever names the original system's releases gave them."""
    found = {}
    _collect(feature, found, 0)
    score = next((found[key] for key in ("probability", "score", "confidence") if key in found), None)
    score = None if score is None else float(score)
    for key in ("index", "class", "class_id", "category"):
        if isinstance(found.get(key), int) and not isinstance(found[key], bool):
            return _class(found[key], names), score
    for key in ("label", "name", "class"):
        if isinstance(found.get(key), str):
            return _by_name(found[key], names), score
    raise AnswerError("a feature without `index` or `label`")


def _collect(value, found, depth):
    for key, item in value.items():
        if isinstance(item, dict) and depth < 4:
            _collect(item, found, depth + 1)
        else:
            found.setdefault(str(key).lower(), item)


def _by_name(name, names):
    if name in names:
        return names.index(name)
    raise AnswerError("`%s` is not the name of a class" % name[:60])


def plain(value):
    """JSON text, bytes, tuples and numpy's types as plain Python."""
    value = plain_inside(value)
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def plain_inside(value):
    """The same inside an answer, where text is text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {str(key): plain_inside(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_inside(item) for item in value]
    if callable(getattr(value, "tolist", None)):  # arrays of numpy and of the frameworks
        listed = value.tolist()
        return plain_inside(listed) if type(listed) is not type(value) else float(listed)
    raise AnswerError("a %s is no answer: numbers, text, lists, mappings and arrays are" % type(value).__name__)


def spell(value):
    """An answer as JSON text, the same text for the same answer."""
    try:
        text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise AnswerError("an answer nested too deeply")
    except ValueError as error:
        if isinstance(error, AnswerError):
            raise
        raise AnswerError("a number that is none (NaN or infinite), which JSON does not know")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half a character, for example in the name of a file
        text = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    return text


def keep(result, most=1 << 20):
    """What can be kept of a training's result: as it is, or what it was; nothing may lose hours of work."""
    try:
        if _count(result, most) <= most:  # known before it is spelled out: a model has many numbers
            value = _without_odd_numbers(plain(result))
            if len(spell([value])) <= most:
                return value
    except Exception:
        pass
    if isinstance(result, dict):
        return {str(key): keep(item, most // max(1, len(result))) for key, item in result.items()}
    shape = getattr(result, "shape", None)
    return "(%s%s, not kept)" % (type(result).__name__, "" if shape is None else " " + str(list(shape)))


def _count(value, most):
    """How many values there are, or more than `most`."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, (dict, list, tuple)):
        total = 0
        for item in value.values() if isinstance(value, dict) else value:
            total += _count(item, most)
            if total > most:
                break
        return total
    total = 1
    for side in getattr(value, "shape", ()):
        total *= side
    return total


def _without_odd_numbers(value):
    if isinstance(value, dict):
        return {key: _without_odd_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_odd_numbers(item) for item in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else value
