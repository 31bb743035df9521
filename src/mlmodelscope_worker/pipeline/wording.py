"""What an engine is asked that takes words: texts as they are, or turns of a chat. It makes tokens out of sight."""

from .value import SampleError


def words_of(question, engine):
    """(context, continuation) of each row."""
    question.encoding.check_words()
    prompt, settings = question.prompt, question.settings
    if question.call == "write":
        asked = prompt.questions[0]
        return [(prompt.turns(asked) if engine.takes_turns else prompt.joined(asked), "")]
    if question.call == "read":
        question.text = text_to_read(prompt)
        if settings["window"] is not None or settings["windows"] is not None:
            raise SampleError("a window is counted in tokens, and this engine takes words: leave `window` out of `ask`")
        pairs = [(prompt.joined(prompt.questions[0]), question.text)]
        if pairs[0][0]:
            pairs = [(pairs[0][0], prompt.delimiter + question.text)]
        elif settings["first"] == "skip":
            return pairs  # nothing stands before the first token, and it is not asked about
    else:
        pairs = prompt.pairs
        if settings["unconditional"]:
            pairs = pairs + [(settings["unconditional_context"], continuation) for _, continuation in pairs]
    return [_parted(question.encoding, context, continuation, engine) for context, continuation in pairs]


def _parted(encoding, context, continuation, engine):
    context, continuation = encoding.spaced(context, continuation)
    if not continuation:
        raise SampleError("there is no text that could be asked about")
    if not context:
        if engine.prefix is None:
            raise SampleError("it has no context, and nobody says which text stands for that: the option `prefix`")
        context = engine.prefix
    return context, continuation


def text_to_read(prompt):
    return prompt.choices[0] if prompt.choices else answer_text(prompt)


def answer_text(prompt):
    if isinstance(prompt.answer, int) and not isinstance(prompt.answer, bool):
        return str(prompt.answer)
    if not isinstance(prompt.answer, str):
        raise SampleError("there is no text to read: `answer` of the prompt makes it")
    return prompt.answer
