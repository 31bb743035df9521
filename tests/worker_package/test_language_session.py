"""From documents to what a language model finds likely and what it writes: alone, in batches, under several prompts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import language_world
from mlmodelscope_worker import spelling
from mlmodelscope_worker.language_session import LanguageSession
from mlmodelscope_worker.messages import Converse, PredictorTask, Task
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS, Lost, ModelError
from mlmodelscope_worker.scenario.offline import Batch
from worker_package.tasks import steps

pytest.importorskip("jinja2")
LINES = ["the cat sat on the mat\n", "the dog sat on the rug\n", "a cat ran to the dog\n"]
DOCUMENTS = [
    {"q": "the cat sat on", "a": "the mat", "b": "mat the", "label": 0},
    {"q": "the dog sat on", "a": "gur", "b": "the rug", "label": 1},
    {"q": "a cat ran", "a": "to the dog", "b": "dog", "label": 0},
]
CHOICES = {"question": "q", "choices": ["{{a}}", "{{b}}"], "answer": "label"}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pets")
    return language_world.write_arpa(folder / "pets.arpa", [language_world.pieces_of(each) for each in LINES])


def asked(prompt: Any = None, call: str = "choose", settings: Any = None, encode: Any = None) -> list[dict[str, Any]]:
    return steps(STEPS, [("prompt", prompt or CHOICES), ("encode_prompt", encode), (call, settings)])


def session(graph: Path, written: Any = None, batch_size: int = 1, variants: Any = ()) -> LanguageSession:
    declared = PREDICTORS["ngram"]
    return LanguageSession(
        Task(
            predictor=PredictorTask("ngram", {"graph": str(graph)}, declared.resolve({})),
            inputs=[{"part": "document", "layer_name": None, "element_type": "string", "steps": written or asked()}],
            outputs=[],
            answer={},
            batch_size=batch_size,
            variants=list(variants),
        )
    )


def sample(number: int, document: Any = None) -> dict[str, Any]:
    return {"parts": {"document": {"document": document or DOCUMENTS[number], "ordinal": number}}}


def answers(opened: LanguageSession, *numbers: int, documents: Any = None) -> tuple[Any, Any]:
    batch = Batch(0, [], [])
    batch.tensors = [opened.prepare(sample(each, documents and documents[each]), ()) for each in numbers]
    return opened.infer(batch)


def test_likelihoods_do_not_depend_on_the_batch(graph: Path) -> None:
    told, together = answers(session(graph, batch_size=3), 0, 1, 2)
    opened = session(graph)
    alone = [bytes(each) for number in range(3) for each in answers(opened, number)[1]]
    assert told.errors == {} and [bytes(each) for each in together] == alone and any(alone)


def test_what_was_scored_before_is_remembered(graph: Path) -> None:
    opened = session(graph)
    calls: list[int] = []
    score = opened.predictor.score
    opened.predictor.score = lambda rows: calls.append(len(rows)) or score(rows)
    first, second = answers(opened, 0), answers(opened, 0)
    assert calls[:1] == [2] and sum(calls) <= 3, "two choices, and one row again to see whether a batch changes it"
    assert [bytes(each) for each in first[1]] == [bytes(each) for each in second[1]]
    assert opened.apart is not None and opened.apart < 1e-9


def test_several_prompts_share_the_rows_that_they_have_in_common(graph: Path) -> None:
    """Another rule for blanks changes nothing where no question ends with one, and costs nothing."""
    variants = [
        {"id": "as it is", "inputs": [{"steps": asked()}], "outputs": [], "answer": {}},
        {"id": "blanks", "inputs": [{"steps": asked(encode={"spaces": "context"})}], "outputs": [], "answer": {}},
        {"id": "glued", "inputs": [{"steps": asked({**CHOICES, "delimiter": ""})}], "outputs": [], "answer": {}},
        {"id": "broken", "inputs": [{"steps": asked({**CHOICES, "question": "{{x}}"})}], "outputs": [], "answer": {}},
    ]
    opened = session(graph, variants=variants)
    scored: list[int] = []
    score = opened.predictor.score
    opened.predictor.score = lambda rows: scored.append(len(rows)) or score(rows)
    told, _ = answers(opened, 0)
    assert told.variants["as it is"]["group"] == told.variants["blanks"]["group"] != told.variants["glued"]["group"]
    assert "'x' is undefined" in told.variants["broken"]["errors"]["0"]
    assert sum(scored) - 1 == 4, "two choices under two prompts, and one row again to see whether a batch changes it"


def test_a_document_that_cannot_be_asked_about_costs_itself(graph: Path) -> None:
    opened = session(graph, batch_size=2)
    batch = Batch(0, [], [])
    for slot, document in enumerate((DOCUMENTS[0], {"q": "no choices"})):
        try:
            batch.tensors.append(opened.prepare(sample(slot, document), ()))
        except Exception as error:
            batch.tensors.append(None)
            batch.errors[slot] = str(error)
    told, _ = opened.infer(batch)
    assert [int(each) for each in told.errors] == [1]


def test_a_model_that_fails_costs_its_batch_and_one_that_is_lost_all(graph: Path) -> None:
    opened = session(graph)

    def fails(rows: Any) -> Any:
        raise ValueError("no memory for that")

    def is_lost(rows: Any) -> Any:
        raise Lost("the server is gone")

    opened.predictor.score = fails
    told, _ = answers(opened, 0)
    assert "no memory for that" in str(told.errors)
    opened.predictor.score = is_lost
    with pytest.raises(Lost):
        answers(opened, 1)


def test_not_a_number_fails_its_sample(graph: Path) -> None:
    opened = session(graph)
    opened.predictor.score = lambda rows: [(np.array([np.nan] * len(more)), np.array([True])) for _, more in rows]
    told, _ = answers(opened, 0)
    assert "not-a-number" in str(told.errors)


def test_a_text_ends_where_it_was_told_to(graph: Path) -> None:
    settings = {"longest": 40, "stop": ["mat", "\n"]}
    opened = session(graph, asked({"question": "q", "answer": "a"}, "write", settings))
    told, _ = answers(opened, 0)
    text = str(told.content)
    assert "mat" not in text and "stop" in text


def test_drawn_texts_are_the_same_with_the_same_seed_whatever_the_batch(graph: Path) -> None:
    def drawn(seed: int, size: int) -> str:
        settings = {"longest": 12, "temperature": 1.0, "seed": seed, "repeats": 3}
        opened = session(graph, asked({"question": "q"}, "write", settings), batch_size=size)
        parts = [answers(opened, *part)[0].content for part in ([(0, 1)] if size > 1 else [(0,), (1,)])]
        return str([sample for part in parts for sample in part["answers"]])

    assert drawn(1, 1) == drawn(1, 2) != drawn(2, 1)


def test_a_predictor_for_tensors_is_no_language_model(tmp_path: Path) -> None:
    path = tmp_path / "fake.json"
    path.write_text("{}")
    with pytest.raises(ModelError, match="is not a language model's decoder"):
        LanguageSession(
            Task(
                predictor=PredictorTask("fake", {"graph": str(path)}, PREDICTORS["fake"].resolve({})),
                inputs=[{"part": "document", "layer_name": None, "element_type": "string", "steps": asked()}],
                outputs=[],
                answer={},
                batch_size=1,
            )
        )


def spelled(opened: LanguageSession, number: int, document: Any = None) -> Any:
    return opened.spelled(sample(number, document), ())


def test_a_prompt_is_spelled_out_with_its_tokens(graph: Path) -> None:
    told = spelled(session(graph), 0)
    (context,) = told["contexts"]
    assert context["text"] == "the cat sat on" == "".join(context["pieces"]) and context["dropped"] == 0
    assert [(each["text"], each["choice"], each["context"]) for each in told["rows"]] == [
        (" the mat", 0, 0),
        (" mat the", 1, 0),
    ]
    for each in told["rows"]:
        assert "".join(each["pieces"]) == each["text"] and len(each["tokens"]) == len(each["pieces"])


def test_blanks_are_spelled_where_they_are_scored(graph: Path) -> None:
    """A blank at the end of the context is the continuation's, unless the manifest says otherwise."""
    document = {**DOCUMENTS[0], "q": "the cat "}
    ours = spelled(session(graph, asked({**CHOICES, "delimiter": ""})), 0, document)
    kept = spelled(session(graph, asked({**CHOICES, "delimiter": ""}, encode={"spaces": "context"})), 0, document)
    assert (ours["contexts"][0]["text"], ours["rows"][0]["text"]) == ("the cat", " the mat")
    assert (kept["contexts"][0]["text"], kept["rows"][0]["text"]) == ("the cat ", "the mat")


def test_tokens_that_do_not_fit_are_counted(graph: Path) -> None:
    told = spelled(session(graph, asked(encode={"longest": 12})), 0)
    context = told["contexts"][0]
    assert context["dropped"] == len("the cat sat on the mat") - 1 - 12 and "".join(context["pieces"]) == "sat on"[1:]


def test_a_question_without_its_context_is_a_row_of_its_own(graph: Path) -> None:
    told = spelled(session(graph, asked(settings={"unconditional": True})), 0)
    assert [(each["choice"], each["alone"]) for each in told["rows"]] == [(0, False), (1, False), (0, True), (1, True)]


def kept_of(told: Any, buffers: Any) -> Any:
    (answer,) = told.content["answers"]
    place = [name for name, _, _ in answer["arrays"]].index("kept")
    return json.loads(bytes(buffers[place]))


@pytest.mark.parametrize("keep", ["prompt", "tokens", "nothing"])
def test_a_record_keeps_what_the_plan_says(graph: Path, keep: str) -> None:
    told, buffers = answers(session(graph, asked(settings={"keep": keep})), 0)
    if keep == "nothing":
        assert "kept" not in [name for name, _, _ in told.content["answers"][0]["arrays"]]
        return
    kept = kept_of(told, buffers)
    assert [each["text"] for each in kept["rows"]] == [" the mat", " mat the"]
    assert [each["text"] for each in kept["contexts"]] == (["the cat sat on"] if keep == "prompt" else [])


def test_what_is_kept_is_bounded(graph: Path) -> None:
    document = {**DOCUMENTS[0], "q": "the cat sat on " * 5000}
    opened = session(graph, asked(encode={"longest": 4000}))
    kept = kept_of(*answers(opened, 0, documents=[document]))
    (context,) = kept["contexts"]
    assert len(context["text"]) + len(context["end"]) <= spelling.MOST_CHARACTERS < len(document["q"])
    assert context["omitted"] + len(context["text"]) + len(context["end"]) == len(document["q"].rstrip())
    assert len(spelled(opened, 0, document)["contexts"][0]["text"]) == len(document["q"].rstrip())


def test_written_tokens_are_kept_with_each_answer(graph: Path) -> None:
    prompt = {"question": "q"}
    opened = session(graph, asked(prompt, "write", {"longest": 4, "repeats": 2, "temperature": 1.0}))
    told, buffers = answers(opened, 0)
    fields = told.content["answers"][0]["fields"]
    kept = kept_of(told, buffers)
    assert [each["text"] for each in kept["rows"]] == fields["texts"]
    assert ["".join(each["pieces"]) for each in kept["rows"]] == fields["texts"]


def test_several_prompts_of_a_search_keep_nothing(graph: Path) -> None:
    variants = [{"id": "a", "inputs": [{"steps": asked()}], "outputs": [], "answer": {}}]
    told, _ = answers(session(graph, variants=variants), 0)
    names = [name for name, _, _ in told.groups[0]["content"]["answers"][0]["arrays"]]
    assert "sums" in names and "kept" not in names


def conversation(graph: Path, turns: Any, is_stopped: Any = lambda: False, **settings: Any) -> tuple[Any, list[str]]:
    written = asked({"turns": "turns"}, "write", {"longest": 30})
    opened, said = session(graph, written), []  # type: ignore[var-annotated]
    content = {"parts": {"document": {"document": {"turns": turns}, "ordinal": 0}}}
    told, buffers = opened.converse(Converse(content, settings), (), said.append, is_stopped)
    return told, said


ASKED = [{"role": "user", "content": "the cat"}]


def test_a_text_is_told_while_it_is_written(graph: Path) -> None:
    told, said = conversation(graph, ASKED, longest=8)
    fields = told.answer.content["answers"][0]["fields"]
    assert len(said) > 1 and "".join(said) == fields["text"] and fields["tokens"] == 8


def test_a_text_that_is_stopped_ends_with_the_next_token(graph: Path) -> None:
    calls: list[int] = []
    told, _ = conversation(graph, ASKED, lambda: calls.append(1) or len(calls) >= 3)
    assert told.answer.content["answers"][0]["fields"]["tokens"] == 3


def test_what_was_said_before_stands_before_the_question(graph: Path) -> None:
    turns = [{"role": "system", "content": "a "}, *ASKED, {"role": "assistant", "content": " sat"}, *ASKED]
    content = {"parts": {"document": {"document": {"turns": turns}, "ordinal": 0}}}
    told = session(graph, asked({"turns": "turns"}, "write")).spelled(content, ())
    assert told["contexts"][0]["text"] == "a the cat satthe cat"


@pytest.mark.parametrize("turns", [None, [], "x", [{"role": "user"}], [{"role": "robot", "content": "a"}], [ASKED, 7]])
def test_what_is_no_conversation_costs_itself(graph: Path, turns: Any) -> None:
    told, said = conversation(graph, turns)
    assert told.answer.errors and not said and "turn" in told.answer.errors["0"]


def test_a_conversation_ends_with_what_a_user_asks(graph: Path) -> None:
    told, _ = conversation(graph, [*ASKED, {"role": "assistant", "content": "sat"}])
    assert "the last turn is what a user asks" in told.answer.errors["0"]
