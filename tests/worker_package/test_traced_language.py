"""Language models in a trace: prompts and tokens as steps of a run, and the layers of each where the engine tells."""

from pathlib import Path
from typing import Any

import pytest

import language_world
from mlmodelscope_worker.language_session import LanguageSession
from mlmodelscope_worker.messages import PredictorTask, Task, Trace, Traced
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS
from mlmodelscope_worker.scenario import traced
from worker_package.predictor.llamas import random_llama
from worker_package.tasks import steps
from worker_package.test_traced import below, check, spans_of

pytest.importorskip("jinja2")
WRITE = {"longest": 4, "stop_tokens": [0]}
QUESTION = {"question": "q", "choices": ["{{a}}", "{{b}}"], "answer": "label"}
DOCUMENT = {"q": "ab cd", "a": "a", "b": "b", "label": 0}


def session(name: str, graph: Path, call: str = "write", batch_size: int = 1) -> LanguageSession:
    asked = steps(STEPS, [("prompt", QUESTION), ("encode_prompt", None), (call, WRITE if call == "write" else None)])
    predictor = PredictorTask(name, {"graph": str(graph)}, PREDICTORS[name].resolve({}))
    inputs = [{"part": "document", "layer_name": None, "element_type": "string", "steps": asked}]
    return LanguageSession(Task(predictor, inputs, outputs=[], answer={}, batch_size=batch_size))


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    return language_world.write_arpa(tmp_path / "ab.arpa", [language_world.pieces_of("ab cd ab cd\n")])


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    pytest.importorskip("tokenizers", reason="the model's own words are read by tokenizers")
    pytest.importorskip("onnx", reason="onnx writes the graph")
    from worker_package.predictor.onnx_llama import write_onnx

    return write_onnx(random_llama(), tmp_path / "tiny")


def ask(opened: LanguageSession, level: str, runs: int = 2) -> Traced:
    samples = [{"parts": {"document": {"document": DOCUMENT, "ordinal": number}}} for number in range(2)]
    return traced.trace(opened, Trace(samples, level, runs, 1), [])


@pytest.mark.parametrize("batch_size", [1, 2])
def test_a_run_is_a_prompt_and_its_tokens(counting: Path, batch_size: int) -> None:
    answer = ask(session("ngram", counting, batch_size=batch_size), "framework")
    model = spans_of(answer, 1)
    check(model)
    first = below(model, 0).index("batch") + 1
    assert below(model, 0) == ["batch"] * 2 and below(model, first) == ["sample"] * batch_size + ["run", "post"]
    (sample, run) = (next(place for place, span in enumerate(model) if span[0] == name) for name in ("sample", "run"))
    assert below(model, sample) == ["load", "prompt", "encode_prompt", "write", "tokens"]
    steps_of_run = below(model, run)
    assert steps_of_run[0] == "prefill" and steps_of_run.count("decode") >= 3
    assert answer.notes == ["framework: this engine's layers cannot be profiled here"]


def test_a_model_that_scores_has_one_run(counting: Path) -> None:
    model = spans_of(ask(session("ngram", counting, "choose"), "model"), 1)
    check(model)
    assert below(model, 1)[-2:] == ["run", "post"] and {"prefill", "decode"}.isdisjoint(span[0] for span in model)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_layers_stand_under_the_step_that_they_are_of(graph: Path, batch_size: int) -> None:
    answer = ask(session("onnxruntime", graph, batch_size=batch_size), "framework")
    assert [run["level"] for run in answer.runs] == ["application", "model", "framework"]
    spans = spans_of(answer, 2)
    check(spans)
    runs = [place for place, span in enumerate(spans) if span[0] == "run"]
    assert len(runs) == 2 and below(spans, runs[0]) == ["prefill", "decode", "decode", "decode"]
    found = [place for place, span in enumerate(spans) if span[4] == runs[0]]
    kinds = [[spans[place][5]["kind"] for place, span in enumerate(spans) if span[4] == step] for step in found]
    assert all("MatMul" in each for each in kinds) and len(kinds) == 4
    places = [span[5]["index"] for span in spans[: runs[1]] if span[1] == "framework"]
    assert places == list(range(len(places))), "every layer of a run has a number of its own"


def test_a_graph_is_as_it_was_after_a_profile(graph: Path) -> None:
    opened: Any = session("onnxruntime", graph)
    before = opened.answer([{"parts": {"document": {"document": DOCUMENT, "ordinal": 0}}}], ())
    ask(opened, "framework")
    assert opened.answer([{"parts": {"document": {"document": DOCUMENT, "ordinal": 0}}}], ()) == before
