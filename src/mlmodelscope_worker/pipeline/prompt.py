"""A prompt: what a language model is shown of a document, part by part until somebody joins them."""

from ..parameters import Choice, Documents, File, Flag, Integer, Names, ParameterError, Text
from . import library as libraries
from .document import fill_answer, fill_list, fill_text
from .shots import Given, documents_in, examples_for
from .step import step
from .turns import turns_in
from .value import Opaque, SampleError


class Prompt(Opaque):
    """The parts of a prompt. Whoever joins them says how: in turn, or as the turns of a chat.

    `questions` is one text, or one for each choice where the choices stand in the question. `examples` are
    (question, answer) pairs.
    """

    kind, needed = "prompt", "`choose`, `read` or `write` says what is asked of the model"

    def __init__(self, system, examples, questions, choices, delimiter, separator, answer=None, context=None):
        self.system = system
        self.examples = examples
        self.questions = questions
        self.choices = choices
        self.delimiter = delimiter
        self.separator = separator
        self.answer = answer
        self.shown_delimiter = delimiter
        """What stands between the question and the answer of an example."""
        self.history = ()
        """Turns of a conversation between the examples and the question."""
        self._context = context
        self._before = None
        self.has_turns = False
        """Whether examples are turns of their own in a chat."""
        self.encoding = None

    def changed(self, **changes):
        made = Prompt(
            self.system, self.examples, self.questions, self.choices, self.delimiter, self.separator, self.answer
        )
        made._context, made._before, made.history = self._context, self._before, self.history
        made.encoding, made.has_turns = self.encoding, self.has_turns
        made.shown_delimiter = self.shown_delimiter
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def joined(self, question):
        """All of it up to the answer, as plain text; or what a chat template made of it."""
        if self._context is not None:
            return self._context(question)
        shown = "".join(asked + self.shown_delimiter + said + self.separator for asked, said in self.examples)
        return self.system + shown + "".join(each["content"] for each in self.history) + question

    def turns(self, question):
        """All of it up to the answer, as the turns of a chat."""
        if self._before is not None:
            return self._before.turns(question)
        found = [{"role": "system", "content": self.system}] if self.system else []
        if self.has_turns:
            for asked, said in self.examples:
                found.append({"role": "user", "content": asked})
                found.append({"role": "assistant", "content": said})
            return found + list(self.history) + [{"role": "user", "content": question}]
        shown = "".join(asked + self.shown_delimiter + said + self.separator for asked, said in self.examples)
        return found + list(self.history) + [{"role": "user", "content": shown + question}]

    def with_context(self, context, delimiter):
        """The same, joined by a function of the question."""
        return self.changed(_context=context, delimiter=delimiter, _before=self)

    @property
    def pairs(self):
        """(context, continuation) for each choice."""
        if len(self.questions) > 1:
            return [(self.joined(each), self.delimiter + self.choices[0]) for each in self.questions]
        context = self.joined(self.questions[0])
        return [(context, self.delimiter + each) for each in self.choices]


def _settle(parameters):
    if parameters["turns"] is not None and parameters["varies"] == "question":
        raise ParameterError("of a conversation bring one question, and `varies: question` has several", "turns")
    return parameters


_ONE_QUESTION = {
    "anyOf": [
        {"not": {"required": ["turns"]}},
        {"not": {"properties": {"varies": {"const": "question"}}, "required": ["varies"]}},
    ]
}


def _ready(parameters):
    check = libraries.load(parameters["library"]).check
    texts = [parameters[each] for each in ("question", "answer", "description", "shots_question", "shots_answer")]
    for each in texts + list(parameters["choices"] or ()) + list(parameters["shots_choices"] or ()):
        if each and "{" in each:
            check(each)
    if parameters["shots"] and parameters["shots_file"] is not None:
        documents_in(parameters["shots_file"])


@step(takes="document", gives="prompt", settle=_settle, rules=[_ONE_QUESTION], ready=_ready)
def prompt(
    document,
    *,
    question: Text("What is asked: a template over the document's fields, or the name of a field.") = "",
    choices: Names("What there is to choose from: a template for each, or one that makes a list.") = None,
    answer: Text("The right answer: the number of a choice, or a text; examples show it.") = None,
    varies: Choice(
        "What differs from choice to choice: the `answer`, or the `question`, which is then as many texts.",
        "answer",
        "question",
    ) = "answer",
    delimiter: Text("What stands between a question and its answer.") = " ",
    system: Text("What comes first of all, and is the system's turn in a chat.") = "",
    description: Text("What comes after that, before any example.") = "",
    shots: Integer("How many examples with their answers come before the question.", at_least=0, at_most=1000) = 0,
    shots_file: File("Which of the dataset's files has the documents that examples are taken from.") = None,
    pick: Choice("Whether examples are drawn for each document, or always the first ones.", "sample", "first") = (
        "sample"
    ),
    seed: Integer("Seed of the draw.", at_least=0, at_most=2**53) = 1234,
    order: Choice("Whether the example that was drawn first comes first, or last.", "drawn", "reversed") = "drawn",
    same: Flag("The examples are of the very documents that are asked about: none is its own example.") = False,
    separator: Text("What stands between two examples, and before the question.") = "\n\n",
    shots_documents: Documents("The documents that examples are taken from, in place of a file.") = None,
    shots_question: Text("What is asked in an example, where it is worded in its own way.") = None,
    shots_choices: Names("What there is to choose from in an example, where that is not the same.") = None,
    shots_answer: Text("The right answer of an example, where it is worded in its own way.") = None,
    shots_delimiter: Text("What stands between the question and the answer of an example; by default the same.") = None,
    turns: Text(
        "The field with the turns of a conversation, each with `role` and `content`; its last turn is the question."
    ) = None,
    library: Choice("What fills templates in.", "jinja2") = "jinja2",
):
    """Make a prompt of a document: what is said first, examples, the question, what there is to choose from."""

    def shown(example):
        wording = question if shots_question is None else shots_question
        offered, due = shots_choices or choices, answer if shots_answer is None else shots_answer
        asked = fill_text(wording, example, "a question", library) if varies == "answer" else None
        listed = fill_list(offered, example, library) if offered else None
        said = fill_answer(due, example, library, bool(offered)) if due is not None else ""
        if asked is None:
            asked = listed[number_of(fill_text(wording, example, "a question", library), listed)]
        return asked, said_text(said, listed if varies == "answer" else None)

    fields = document.fields
    source = shots_file if shots_documents is None else Given(shots_documents)
    found = examples_for(document, source, shots, pick, seed, same)
    examples = [shown(each) for each in (found[::-1] if order == "reversed" else found)]
    told = fill_text(description, fields, "the description", library) if description else ""
    listed = fill_list(choices, fields, library) if choices else []
    due = fill_answer(answer, fields, library, bool(choices)) if answer is not None else None
    own_system, history, last = turns_in(fields, turns) if turns is not None else ("", (), None)
    if varies == "question":
        asked, listed = listed, [said_text(due, None)]
    else:
        asked = [_question(question, fields, library) if turns is None else last]
    made = Prompt(_joined(own_system or system, told, separator), examples, asked, listed, delimiter, separator, due)
    made.history = history
    return made if shots_delimiter is None else made.changed(shown_delimiter=shots_delimiter)


def _question(wording, fields, library):
    return fill_text(wording, fields, "the question", library) if wording else ""


def _joined(first, second, separator):
    """Two texts, with something between them where neither brings a blank."""
    if first and second and not first[-1].isspace() and not second[0].isspace():
        return first + separator + second
    return first + second


def number_of(text, choices):
    """Which choice a text means that is a number."""
    if not text.strip().isdigit() or not 0 <= int(text) < len(choices):
        raise SampleError("%.60r is none of the %d choices' numbers" % (text, len(choices)))
    return int(text)


def said_text(answer, choices):
    """A right answer in words."""
    if isinstance(answer, (list, tuple)) and answer:
        answer = answer[0]
    if isinstance(answer, int) and not isinstance(answer, bool) and choices:
        if not 0 <= answer < len(choices):
            raise SampleError("the right answer is choice %d of %d" % (answer, len(choices)))
        return choices[answer]
    if isinstance(answer, str):
        return answer
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        return str(answer)
    raise SampleError("the answer is not a text: %.60r" % (answer,))
