"""A language model opened with its prompts: from documents to what the model finds likely, and to what it writes.

Several pipelines over the same documents share their work: a row of tokens that two prompts have in common is scored
once, and what was scored before is remembered.
"""

import collections
import json

from .asked_engine import AskedEngine, marked
from .causal_graph import language_model_of
from .clock import nanoseconds
from .conversing import Told
from .failure import describe_failure
from .messages import AskedFor, BatchAnswer, VariantAnswer
from .pieces import Pieces
from .pipeline import STEPS, Pipeline, library
from .predictor import Lost, ModelError
from .predictor.language_model import LanguageModel, tokens_of
from .remembered import Remembered
from .sample import Loader
from .session import errors_of, open_predictor
from .spelling import Room, kept_room, spell
from .task.language import answer_of
from .task.reader import arrays_read
from .variants import Failure, Node, missing_from_stack

LANGUAGE_TASKS = ("multiple_choice", "language_modeling", "text_generation")


OWN = ""
"""Under which a sample has what the plan itself takes for it."""


class LanguageSession(object):
    """Everything between a document and an answer. `active` says which of several prompts the next ones go through."""

    output = None

    def __init__(self, task):
        self.batch_size = task.batch_size
        self._load = Loader()
        (only,) = task.inputs
        self._part = only["part"]
        _make_ready(only["steps"])
        self._pipeline = Pipeline(only["steps"])
        start = nanoseconds()
        self.predictor = open_language_model(task.predictor)
        self.load_ns = nanoseconds() - start
        self.predictor.expect(only["steps"][-1]["name"], task.batch_size)
        self._tree, self.missing = Node(), {}
        for variant in task.variants:
            steps = variant["inputs"][0]["steps"]
            reason = missing_from_stack(variant) or _not_ready(steps)
            if reason:
                self.missing[variant["id"]] = reason
            else:
                self._tree.add(variant["id"], steps)
        self._has_variants = bool(task.variants)
        self.active = set(self._tree.variants)
        self._known = Remembered(self.predictor, self.batch_size)
        self._pieces = {}
        self.apart = None
        """How far the logarithms of a row lay apart, token by token, when it was scored alone and among others."""

    def prepare(self, sample, buffers):
        """A Question; where there are several prompts {variant: Question, or why there is none}."""
        document = self._load(sample, buffers, self._part)
        if not self._has_variants:
            return self._pipeline(document).prepared(self.predictor)
        found = {OWN: self._own_tokens(document)}
        self._tree.run(document, self.active, found)
        for variant, question in found.items():
            if variant != OWN and not isinstance(question, Failure):
                try:
                    question.prepared(self.predictor)
                except Exception as error:
                    found[variant] = Failure(describe_failure(error))
        return found

    def _own_tokens(self, document):
        """(tokens, texts to be written) of the plan's own question: what the others cost is set against it."""
        try:
            question = self._pipeline(document).prepared(self.predictor)
        except Exception:  # then the variants may do better
            return 0, 0
        return tokens_of(question.tokens), question.settings["repeats"] if question.call == "write" else 0

    def infer(self, batch):
        """A prepared batch's answers, for the host."""
        start = nanoseconds()
        if self._has_variants:
            return self._infer_variants(batch, start)
        good = [slot for slot in range(len(batch.tensors)) if slot not in batch.errors]
        rows = self._answers([batch.tensors[slot] for slot in good])
        for slot, row in zip(good, rows):
            if isinstance(row, Failure):
                batch.errors[slot] = row.reason
        read = arrays_read([row for row in rows if not isinstance(row, Failure)], {})
        return BatchAnswer(batch.index, errors_of(batch), nanoseconds() - start, read.content), read.buffers

    def _infer_variants(self, batch, start):
        told, buffers, variants, known = [], [], {}, {}
        questions, before = {}, self._known.tokens_run
        for variant in sorted(self.active):
            slots = [slot for slot in range(len(batch.tensors)) if slot not in batch.errors]
            questions[variant] = [(slot, batch.tensors[slot][variant]) for slot in slots]
        asked = [each for listed in questions.values() for _, each in listed if not isinstance(each, Failure)]
        answers = dict(zip(map(id, asked), self._answers(asked)))
        for variant, listed in questions.items():
            errors, rows = dict(batch.errors), []
            for slot, question in listed:
                row = question if isinstance(question, Failure) else answers[id(question)]
                if isinstance(row, Failure):
                    errors[slot] = row.reason
                else:
                    rows.append(row)
            group = None
            if rows:
                read = arrays_read(rows, {})
                key = (json.dumps(read.content, sort_keys=True), tuple(map(bytes, read.buffers)))
                group = known.get(key)
                if group is None:  # no other prompt was answered the same
                    group = known[key] = len(told)
                    told.append({"content": read.content, "buffers": len(read.buffers)})
                    buffers.extend(read.buffers)
            variants[variant] = {"group": group, "errors": {str(slot): errors[slot] for slot in sorted(errors)}}
        tokens = self._known.tokens_run - before
        owns = [batch.tensors[slot][OWN] for slot in range(len(batch.tensors)) if slot not in batch.errors]
        own = sum(read + texts * self._known.mean_written for read, texts in owns)
        told_ns = nanoseconds() - start
        return VariantAnswer(batch.index, told_ns, told, tokens / float(own or 1), variants, tokens), tuple(buffers)

    def ask_engine(self, questions):
        """[(question, what the engine makes of it)]: a Written, rows that were scored, or an error.

        Nothing is remembered, and everything goes to the engine at once.
        """
        found = []
        for settings, listed in _by_settings(questions):
            if listed[0].call == "write":
                contexts = [each.tokens[0][0] for each in listed]
                decode, is_over = self._decoder(listed[0]), _is_over(settings["stop"])
                found += zip(listed, self.predictor.write(contexts, settings, decode, is_over))
                continue
            rows = iter(self.predictor.score([row for each in listed for row in each.tokens]))
            found += [(each, [next(rows) for _ in each.tokens]) for each in listed]
        return found

    def told_of(self, question, found):
        """What the host would be told of what `ask_engine` found."""
        return answer_of(question, list(map(_good, found if isinstance(found, list) else [found])), self.predictor)

    @property
    def whole(self):
        """The engine as it is traced."""
        return AskedEngine(self)

    def answer(self, samples, buffers):
        """One batch from its samples to its answers: what a traced batch is compared with. Nothing is remembered."""
        found = self.ask_engine([self._asked(sample, buffers) for sample in samples])
        return [self.told_of(*each) for each in found]

    def answer_in_steps(self, samples, buffers, mark):
        """The same, with a `mark` at the end of each step; (what `answer` answers, the questions)."""
        questions = []
        for sample in samples:
            document = self._load(sample, buffers, self._part)
            mark("load")
            question = self._pipeline.in_steps(document, mark)
            questions.append(question.prepared(self.predictor))
            mark("tokens")
        found = self.ask_engine(questions)
        marked(found, mark)
        mark("run")
        told = [self.told_of(*each) for each in found]
        mark("post")
        return told, questions

    def _asked(self, sample, buffers):
        return self._pipeline(self._load(sample, buffers, self._part)).prepared(self.predictor)

    def _answers(self, questions):
        """What the host is told of each question, or why it is not."""
        try:
            self._score([each for each in questions if each.call != "write"])
            written = self._write([each for each in questions if each.call == "write"])
        except Lost:
            raise  # no fault of these samples, and the next ones would fare no better
        except BaseException as error:  # even an exit: without an answer the host would wait for ever
            return [Failure(describe_failure(error))] * len(questions)
        found = []
        for question in questions:
            try:
                if question.call == "write":
                    made = list(map(_good, written[id(question)]))
                    found.append(self._with_words(question, answer_of(question, made, self.predictor), made))
                else:
                    rows = [_good(self._known.row(each)) for each in question.tokens]
                    found.append(self._with_words(question, answer_of(question, rows, self.predictor)))
            except Exception as error:
                found.append(Failure(describe_failure(error)))
        self._known.forget()
        return found

    def _with_words(self, question, answer, written=()):
        """An answer with what the record keeps of its question; of several prompts for one document nothing is kept."""
        keep = question.settings["keep"]
        if self._has_variants or keep == "nothing":
            return answer
        told = spell(question, self._pieces_for(question), kept_room(), written, keep == "prompt")
        return [*answer[0], ("kept", as_bytes(told))], answer[1]

    def _pieces_for(self, question):
        encoding = question.encoding
        if self.predictor.takes_words:
            return None
        key = (encoding.library, encoding.file)
        if key not in self._pieces:
            name_of = self.predictor.name_of if encoding.library is None else _nameless
            self._pieces[key] = Pieces(encoding.decoder(self.predictor), name_of)
        return self._pieces[key]

    def spelled(self, sample, buffers):
        """All that the model would be shown of a sample, and what is asked about it."""
        question = self.prepare(sample, buffers)
        return dict(spell(question, self._pieces_for(question), Room()), settings=question.settings)

    def converse(self, asked, buffers, say, is_stopped):
        """(AskedFor, buffers): a text for somebody who reads along, without anything that was remembered."""
        errors, rows, start = {}, [], nanoseconds()
        try:
            question = self._pipeline(self._load(asked.sample, buffers, self._part))
            question.settings = dict(question.settings, **dict(asked.settings, is_read_along=True))
            question.prepared(self.predictor)
            told = Told(say, question.settings["stop"], is_stopped)
            settings, context = question.settings, question.tokens[0][0]
            made = _good(self.predictor.write([context], settings, self._decoder(question), told)[0])
            end = _first_end(made.text, settings["stop"])
            if end is not None:
                made.text, made.ending = made.text[:end], "stop"
            rows.append(self._with_words(question, answer_of(question, [made], self.predictor), [made]))
        except Lost:
            raise
        except Exception as error:
            errors["0"] = describe_failure(error)
        run_ns = nanoseconds() - start
        read = arrays_read(rows, {})
        answer = BatchAnswer(0, errors, run_ns, read.content if rows else {})
        return AskedFor(answer, [[["write", run_ns]]]), read.buffers

    def _score(self, questions):
        rows = self._known.score([each for question in questions for each in question.tokens])
        if not self.predictor.takes_words and self.apart is None and len(rows) > 1:
            self._check_batching(rows)

    def _check_batching(self, rows):
        """Once in a session: a row that is scored alone must be as likely as among others."""
        import numpy as np

        row = rows[-1]
        if isinstance(self._known.row(row), Exception):
            return
        ((alone, _),) = self.predictor.score([row])
        self.apart = float(np.max(np.abs(alone - self._known.row(row)[0])))

    def _write(self, questions):
        """{id of a question: [Written] for each repetition}."""
        found = collections.defaultdict(list)
        for settings, listed in _by_settings(questions):
            decode = self._decoder(listed[0])
            stops = settings["stop"]
            for repeat in range(settings["repeats"]):
                for start in range(0, len(listed), max(1, self.batch_size)):
                    part = listed[start : start + max(1, self.batch_size)]
                    now = dict(settings, seed=settings["seed"] + 1000003 * repeat)
                    contexts = [each.tokens[0][0] for each in part]
                    made = self._known.write(contexts, now, decode, _is_over(stops))
                    for question, each in zip(part, made):
                        end = None if isinstance(each, Exception) else _first_end(each.text, stops)
                        if end is not None:
                            each.text, each.ending = each.text[:end], "stop"
                        found[id(question)].append(each)
        return found

    def _decoder(self, question):
        if self.predictor.takes_words:
            return None
        encoding = getattr(question, "encoding", None)  # random questions have none
        return self.predictor.decode if encoding is None else encoding.decoder(self.predictor)

    def measure(self, samples, warm_up_runs, most, budget_s):
        """Nanoseconds of one batch, as often as there is time for: (those before, those that count)."""
        questions = [self._pipeline(self._load(each, (), self._part)).prepared(self.predictor) for each in samples]
        times, started = [], nanoseconds()
        while len(times) < warm_up_runs + most and (
            len(times) <= warm_up_runs or nanoseconds() - started < budget_s * 1e9
        ):
            self._known.clear()
            begin = nanoseconds()
            self._score([each for each in questions if each.call != "write"])
            self._write([each for each in questions if each.call == "write"])
            times.append(nanoseconds() - begin)
        return times[:warm_up_runs], times[warm_up_runs:]

    def close(self):
        self.predictor.close()


def open_language_model(spec):
    """An engine of language models, or a framework that runs a decoder's graph."""
    predictor = open_predictor(spec)
    if isinstance(predictor, LanguageModel):
        return predictor
    try:
        return language_model_of(predictor, spec.files.get("graph", ""))
    except BaseException:
        predictor.close()
        raise


def as_bytes(told):
    import numpy as np

    return np.frombuffer(json.dumps(told, separators=(",", ":")).encode("utf-8"), np.uint8)


def _nameless(token):
    return ""


def _good(found):
    if isinstance(found, Exception):
        raise found
    return found


def _by_settings(questions):
    """[(settings, questions that have them)] in order."""
    found = []
    for each in questions:
        if not found or found[-1][0] != each.settings:
            found.append((each.settings, []))
        found[-1][1].append(each)
    return found


def _first_end(text, stops):
    """Where the first of these texts begins."""
    places = [place for place in (text.find(each) for each in stops if each) if place >= 0]
    return min(places) if places else None


def _is_over(stops):
    """What says whether a text has come to one of its ends."""
    return lambda text: _first_end(text, stops) is not None


def _make_ready(steps):
    for step in steps:
        if step["parameters"].get("library"):
            library.load(step["parameters"]["library"])
        ready = getattr(STEPS[step["name"]], "ready", None)
        if ready is not None:
            ready(step["parameters"])


def _not_ready(steps):
    """Why a variant's steps cannot be carried out here; None where they can."""
    try:
        _make_ready(steps)
    except (ModelError, ValueError, library.MissingLibrary) as error:
        return str(error)
    return None
