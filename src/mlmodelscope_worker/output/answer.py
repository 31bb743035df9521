"""What a manifest's own post-processing returns for a sample becomes an answer: classes with scores, or JSON as it is.

A classification's answer may be written in many ways: a class number; scores over all classes; `{"classes": [...],
"scores": [...]}`; a list of features `{"index", "probability"}` as the original system had them, also nested under
`classification`; or any of these as JSON text.
"""

import json

from .classification import top_classes


class AnswerError(ValueError):
    """This is no answer."""


def classify(answer, k, names=()):
    """(classes, scores) of one sample's answer, best first."""
    import numpy as np

    value = plain(answer)
    if isinstance(value, bool) or value is None:
        raise AnswerError("%s is no class" % (value,))
    if isinstance(value, int):
        return [value], [1.0]
    if isinstance(value, str):
        return [_by_name(value, names)], [1.0]
    if isinstance(value, dict):
        if "classes" in value:
            classes = [int(each) for each in _list(value["classes"])]
            scores = [float(each) for each in _list(value.get("scores", [1.0] * len(classes)))]
            if len(classes) != len(scores):
                raise AnswerError("%d classes and %d scores" % (len(classes), len(scores)))
            return classes[:k], scores[:k]
        value = [value]
    if not isinstance(value, list) or not value:
        raise AnswerError("an answer without content")
    if all(isinstance(each, dict) for each in value):
        pairs = [_feature(each, names) for each in value]
        pairs.sort(key=lambda pair: -pair[1])  # stable: of equal scores the first comes first
        return [index for index, _ in pairs[:k]], [score for _, score in pairs[:k]]
    try:
        scores = np.asarray(value, dtype=np.float32).reshape(-1)
    except (TypeError, ValueError):
        raise AnswerError("a list of neither scores nor features")
    if np.isnan(scores).any():
        raise AnswerError("the scores are not numbers (NaN)")
    best = top_classes(scores, min(k, scores.size))
    return [int(index) for index in best], [float(scores[index]) for index in best]


def _list(value):
    return value if isinstance(value, list) else [value]


def _feature(feature, names):
    """Class number and score of one feature, under whatever names the original system's releases gave them."""
    found = {}
    _collect(feature, found, 0)
    score = next((found[key] for key in ("probability", "score", "confidence") if key in found), 1.0)
    for key in ("index", "class", "class_id", "category"):
        if isinstance(found.get(key), int) and not isinstance(found[key], bool):
            return found[key], float(score)
    for key in ("label", "name", "class"):
        if isinstance(found.get(key), str):
            return _by_name(found[key], names), float(score)
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
    import numpy as np

    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain_inside(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_inside(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise AnswerError("a %s is no answer: numbers, text, lists, mappings and arrays are" % type(value).__name__)


def plain_inside(value):
    """Inside an answer text is text."""
    return value if isinstance(value, str) else plain(value)


def spell(value):
    """An answer as JSON text, the same text for the same answer."""
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
