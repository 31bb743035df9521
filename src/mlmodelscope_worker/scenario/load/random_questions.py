"""Questions by chance: so many random tokens, and so many that must come next, whatever they are."""

from ...predictor import ModelError

PROMPT, ANSWER = "prompt", "answer"
_QUESTIONS = 16
_LONGEST, _ANSWERED = 512, 128
_SETTINGS = {
    "stop": [],
    "stop_tokens": [],
    "temperature": 0.0,
    "top_k": None,
    "top_p": None,
    "seed": 0,
    "repeats": 1,
}


class RandomQuestion(object):
    call = "write"

    def __init__(self, tokens, count):
        self.tokens = [(tokens, [])]
        self.settings = dict(_SETTINGS, longest=count)


def random_questions(engine, wanted):
    """Some questions that take turns; `wanted` has a seed, and as shapes the tokens of `prompt` and `answer`."""
    import numpy as np

    if engine.takes_words or engine.size is None:
        raise ModelError("nobody knows which tokens this engine takes: it cannot be asked random ones")
    unknown = sorted(set(wanted["shapes"]) - {PROMPT, ANSWER})
    if unknown:
        raise ModelError("a language model is given a `prompt` and asked for an `answer`, not `%s`" % unknown[0])
    given = _size(wanted["shapes"], PROMPT, _LONGEST if engine.longest is None else min(_LONGEST, engine.longest // 2))
    count = _size(
        wanted["shapes"], ANSWER, _ANSWERED if engine.longest is None else min(_ANSWERED, engine.longest // 4)
    )
    if engine.longest and given + count > engine.longest:
        raise ModelError("%d and %d tokens are more than the %d that the model takes" % (given, count, engine.longest))
    source = np.random.RandomState(wanted["seed"])
    rows = source.randint(0, engine.size, (_QUESTIONS, given))
    return [RandomQuestion([int(each) for each in row], count) for row in rows]


def _size(shapes, name, otherwise):
    shape = list(shapes.get(name, (otherwise,)))
    if len(shape) != 1:
        raise ModelError("`%s` is a number of tokens, such as --shape %s=512" % (name, name))
    return max(1, int(shape[0]))
