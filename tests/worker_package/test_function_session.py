"""A manifest's own functions: what a stage gets, what the next one makes of it, and whose sample fails."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope_worker.function_session import FunctionSession
from mlmodelscope_worker.functions import FunctionError
from mlmodelscope_worker.main import train
from mlmodelscope_worker.messages import BatchAnswer, Progress, Trained
from mlmodelscope_worker.output.answer import NO_CLASS
from mlmodelscope_worker.predictor import ModelError
from mlmodelscope_worker.protocol import MAX_HEADER
from mlmodelscope_worker.scenario.offline import Batch, Offline

from .tasks import fake_model
from .tasks import task as plain_task


def function(code: str, name: str, gets: str = "files") -> dict[str, Any]:
    return {"code": code, "function": name, "gets": gets, "file": "/x/model.yml", "line": 10}


def open_session(
    preprocess: str | None = None,
    run: str | None = None,
    postprocess: str | None = None,
    *,
    files: dict[str, str] | None = None,
    gets: str = "files",
    task: str = "classification",
    dataset: dict[str, str] | None = None,
    setup: str | None = None,
    **changes: Any,
) -> FunctionSession:
    """Bodies of functions, which see `ctx` and `data`."""
    functions = {stage: function(code, stage) for stage, code in (dataset or {}).items()}
    if setup is not None:
        functions["setup"] = function(setup, "setup")
    for name, body in (("preprocess", preprocess), ("run", run), ("postprocess", postprocess)):
        if body is not None:
            lines = "".join(f"    {line}\n" for line in body.splitlines())
            functions[name] = function(
                f"import numpy as np\ndef {name}(ctx, data):\n{lines}", name, gets if name == "preprocess" else "files"
            )
    made = plain_task(files or {}, "fake", [])
    if not files:
        made = made._replace(predictor=made.predictor._replace(name=None))
    made.answer.update({key: changes.pop(key) for key in ("label_offset", "top_k") if key in changes})
    context = {"task": task, "context": {"name": "toy"}, "files": {}, "hyperparameters": {"a": 1}, "seed": 5}
    return FunctionSession(made._replace(inputs=[], functions=functions, **{**context, **changes}))


def batch_of(count: int, **content: Any) -> Batch:
    batch = Batch(0, [{"file": f"/data/{index}", **content} for index in range(count)], ())
    return batch


def infer(session: FunctionSession, batch: Batch | int) -> tuple[BatchAnswer, Any]:
    batch = batch_of(batch) if isinstance(batch, int) else batch
    for slot, sample in enumerate(batch.samples):
        batch.tensors[slot] = session.prepare(sample, ())
    return session.infer(batch)


def classes(session: FunctionSession, count: int = 3) -> list[list[int]]:
    header, buffers = infer(session, count)
    assert not header.errors, header.errors
    kept: list[list[int]] = buffers[0].tolist()
    return kept


NUMBERS = "return [int(p.rpartition('/')[2]) for p in data['data']]"


# What a stage gets.


def test_the_first_stage_gets_paths_by_source_and_each_next_one_what_came_before() -> None:
    session = open_session("return data", "return sorted(data.items())", "return [str(data)] * 2", task="general")
    batch = batch_of(2)
    batch.samples[1]["source"] = "right"
    header, _ = infer(session, batch)
    assert header.content["texts"] == ["\"[('data', ['/data/0']), ('right', ['/data/1'])]\""] * 2


def test_run_alone_gets_the_files() -> None:
    assert classes(open_session(run="n = len(data['data']); return np.eye(n)[::-1]", top_k=1)) == [[2], [1], [0]]


def test_ties_are_told_as_without_functions() -> None:
    run = "return np.float32([[1, 2, 2, 2], [np.nan, 0, 0, 0], [4, 3, 2, 1]])"
    header, buffers = infer(open_session(run=run, top_k=1), 3)
    assert list(header.errors) == ["1"] and buffers[0].tolist() == [[1], [0]]
    assert header.content["ties"] == {"0": [[2, 3]]}


def test_a_function_for_one_sample_gets_its_path_or_its_number_in_dataset() -> None:
    for body in ("p = data", "p = dataset[data]; assert isinstance(data, int)"):
        session = open_session(
            f"{body}; return np.float32([int(p[-1])])", "return data[0][:, 0]", "return list(data)", gets="sample"
        )
        assert classes(session) == [[0], [1], [2]]


def test_a_dataset_used_inside_a_helper_is_the_path_itself() -> None:
    session = open_session(
        "return read(data)",
        "return data[0]",
        "return list(data)",
        gets="sample",
        setup="read = lambda i: int(dataset[i][-1])",
    )
    assert classes(session) == [[0], [1], [2]]


def test_several_inputs_are_a_tuple() -> None:
    body = "n = int(data[-1]); return np.float32([n, n]), np.int64(n)"
    session = open_session(
        body, "a, b = data; return a.shape, b.tolist()", "return [str(data)] * 3", gets="sample", task="general"
    )
    assert infer(session, 3)[0].content["texts"] == ['"((3, 2), [0, 1, 2])"'] * 3


@pytest.mark.parametrize("shape", ["(3, 8, 8)", "(1, 3, 8, 8)"])
def test_a_sample_may_bring_its_batch_axis(tmp_path: Path, shape: str) -> None:
    session = open_session(
        f"return np.full({shape}, int(data[-1]), np.float32)", files=fake_model(tmp_path), gets="sample"
    )
    assert classes(session) == classes(
        open_session(
            "return np.stack([np.full((3, 8, 8), int(p[-1]), np.float32) for p in data['data']])",
            files=fake_model(tmp_path),
        )
    )


def test_the_context_tells_what_was_chosen() -> None:
    body = "return [ctx['name'], ctx['hyperparameters']['a'], ctx['seed'], ctx['batch_size'], ctx['model'] is None]"
    header, _ = infer(open_session(run=body, postprocess="return [data]", task="general"), 1)
    assert header.content["texts"] == ['["toy",1,5,1,true]']


def test_what_a_batch_leaves_in_the_context_the_next_one_finds() -> None:
    session = open_session(run="ctx['read'] = ctx.get('read', 0) + 1\nreturn [ctx['read']]", postprocess="return data")
    assert [classes(session, 1) for _ in range(3)] == [[[1]], [[2]], [[3]]]


def test_a_model_of_fixed_batch_size_is_filled_up(tmp_path: Path) -> None:
    pixels = "return np.stack([np.full((3, 8, 8), int(p[-1]), np.float32) for p in data['data']])"
    fixed = open_session(pixels, files=fake_model(tmp_path, shape=[4, 3, 8, 8]))
    found = classes(fixed)
    assert found == classes(open_session(pixels, files=fake_model(tmp_path))) and len(found) == 3


# Streams.

STREAMS = {
    "preprocess": "for p in data['data']:\n    yield np.full((1, 3, 8, 8), int(p[-1]), np.float32)",
    "postprocess": "for outputs in data:\n    yield outputs[0][0]",
}


def test_every_stage_may_stream(tmp_path: Path) -> None:
    whole = "return np.concatenate([np.full((1, 3, 8, 8), int(p[-1]), np.float32) for p in data['data']])"
    files = fake_model(tmp_path)
    expected = classes(open_session(whole, files=files))
    assert classes(open_session(STREAMS["preprocess"], files=files)) == expected
    assert classes(open_session(STREAMS["preprocess"], None, STREAMS["postprocess"], files=files)) == expected
    run = "for item in data:\n    yield ctx['model'].run([item])"
    assert classes(open_session(STREAMS["preprocess"], run, STREAMS["postprocess"], files=files)) == expected
    assert classes(open_session(STREAMS["preprocess"], run, files=files)) == expected
    mapped = "return map(lambda p: np.full((1, 3, 8, 8), int(p[-1]), np.float32), data['data'])"
    assert classes(open_session(mapped, None, "return (each[0][0] for each in data)", files=files)) == expected


def test_a_stream_keeps_one_item_at_a_time() -> None:
    session = open_session(
        "for p in data['data']:\n    ctx.setdefault('seen', []).append('made')\n    yield p",
        "for p in data:\n    ctx['seen'].append('run')\n    yield p",
        "for p in data:\n    ctx['seen'].append('answered')\n    yield 1",
    )
    infer(session, 2)
    assert session.context["seen"] == ["made", "run", "answered"] * 2


def test_what_is_not_read_to_its_end_is_closed_before_unload() -> None:
    order = "ctx.setdefault('order', []).append"
    session = open_session(
        f"try:\n    yield 1\n    yield 2\nfinally:\n    {order}('closed')",
        "return [next(data)] * 2",
        "return data",
        dataset={
            "init": "def init(count): return 2",
            "load": f"def load(numbers): {order}('load')",
            "unload": f"def unload(numbers): {order}('unload')",
        },
    )
    batch = Batch(0, [{"number": 0}, {"number": 1}], ())
    assert infer(session, batch)[0].errors == {}
    assert session.context["order"] == ["load", "closed", "unload"]


def test_the_time_of_run_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is counted, not measured: a clock that goes on by one whenever it is read."""
    slow = "for p in data['data']:\n    for _ in range(1000): clock()\n    yield 1"
    session = open_session(
        slow, "for p in data:\n    clock()\n    yield p", "return list(data)", setup="def clock(): pass"
    )
    ticks = [0]

    def clock() -> int:
        ticks[0] += 1
        return ticks[0]

    session._functions._globals["clock"] = clock
    monkeypatch.setattr("mlmodelscope_worker.function.watch.nanoseconds", clock)
    assert infer(session, 3)[0].run_ns < 100


# Answers.


@pytest.mark.parametrize("answers", ["[1, 2, 3]", "np.array([1, 2, 3])", "(c for c in (1, 2, 3))", "map(int, '123')"])
def test_answers_are_a_list_of_any_kind(answers: str) -> None:
    assert classes(open_session("return data", "return data", f"return {answers}")) == [[1], [2], [3]]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ("[1, 2]", "postprocess returned 2 answers for 3 samples"),
        ("[1] * 4", "postprocess returned 4 answers for 3 samples"),
        ("None", "postprocess must return a list with one answer for each sample"),
        ("{'a': 1, 'b': 2, 'c': 3}", "postprocess must return a list with one answer for each sample"),
        ("'abc'", "postprocess must return a list with one answer for each sample"),
    ],
)
def test_a_wrong_number_of_answers_fails_the_batch(answers: str, reason: str) -> None:
    header, buffers = infer(open_session("return data", "return data", f"return {answers}"), 3)
    assert set(header.errors.values()) == {reason} and not len(buffers)


def test_an_answer_that_is_none_fails_its_sample_only() -> None:
    header, buffers = infer(open_session("return data", "return data", "return [4, None, {'classes': [1 << 40]}]"), 3)
    assert header.errors == {
        "1": "postprocess: None is no class",
        "2": "postprocess: there is no class number 1099511627776",
    }
    assert buffers[0].tolist() == [[4]]


def test_a_short_answer_cuts_no_other() -> None:
    answers = "return [{'classes': [3, 2, 1], 'scores': [.5, .3, .2]}, 7, {'classes': []}]"
    header, (kept, scores) = infer(open_session("return data", "return data", answers), 3)
    assert kept.tolist() == [[3, 2, 1], [7, NO_CLASS, NO_CLASS]]
    assert scores[0].tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert header.content["k"] == 3 and list(header.errors) == ["2"]


@pytest.mark.parametrize("postprocess", [None, "return data", "return [int(row.argmax()) for row in data]"])
def test_a_label_offset_is_applied_once(postprocess: str | None) -> None:
    session = open_session("return data", "return np.eye(4)[1:]", postprocess, label_offset=1, top_k=1)
    assert classes(session) == [[0], [1], [2]]


def test_names_of_the_datasets_classes_know_of_the_background(tmp_path: Path) -> None:
    pixels = "return np.zeros((len(data['data']), 3, 8, 8), np.float32)"
    names = [f"name{number}" for number in range(9)]
    for features, expected in ((names, 3), (["background", *names], 3)):
        session = open_session(
            pixels, None, "return ['name3'] * 3", files=fake_model(tmp_path), features=features, label_offset=1
        )
        assert classes(session) == [[expected]] * 3


def test_run_may_return_rows_or_output_arrays() -> None:
    for rows in ("np.eye(3).tolist()", "[np.eye(3)]", "(np.eye(3),)", "list(np.eye(3))", "(row for row in np.eye(3))"):
        assert classes(open_session("return data", f"return {rows}", top_k=1)) == [[0], [1], [2]]


def test_scores_that_are_no_numbers_fail_their_sample() -> None:
    header, buffers = infer(open_session("return data", "return [[0., 1.], [float('nan'), 0.], [1., 0.]]"), 3)
    assert header.errors == {"1": "the model answered with not-a-number"}
    assert buffers[0][:, 0].tolist() == [1, 0]


def test_other_tasks_keep_json_and_nan_is_none() -> None:
    header, _ = infer(
        open_session("return data", "return data", "return [{'b': [1]}, float('nan'), 'é']", task="general"), 3
    )
    assert header.content["texts"] == ['{"b":[1]}', '"é"']
    assert header.errors == {"1": "postprocess: a number that is none (NaN or infinite), which JSON does not know"}


@pytest.mark.parametrize(("letter", "count"), [("x", 20 << 20), ("é", 4 << 20), ('"', 5 << 20)])
def test_answers_too_large_for_a_message_fail_instead_of_the_worker(letter: str, count: int) -> None:
    large = f"return [{letter!r} * {count}] * 3"
    header, _ = infer(open_session("return data", "return data", large, task="general"), 3)
    assert len(header.content["texts"]) == 1 and len(json.dumps(header)) < MAX_HEADER
    assert set(header.errors.values()) == {"postprocess: the answers of one batch are larger than 32 MiB"}


def test_answers_in_memory_that_the_next_batch_reuses_are_safe() -> None:
    run = "kept[:] = 0\nkept[0, int(data['data'][0][-1])] = 1\nreturn kept"
    session = open_session(
        run=run, postprocess="return data", top_k=1, setup="import numpy\nkept = numpy.zeros((1, 4))"
    )
    answers: list[Any] = []
    offline = Offline(session.prepare, session.infer, lambda header, buffers, last: answers.append(buffers), 4, 4)
    offline.submit([Batch(index, [{"file": f"/{index % 4}"}], ()) for index in range(200)])
    offline.finish()
    assert [kept.tolist() for kept, _ in answers] == [[[index % 4]] for index in range(200)]


# Errors.


def test_a_batch_that_raises_leaves_the_next_one_alone() -> None:
    session = open_session(
        run="assert len(data['data']) != 2, 'two'\nreturn data", postprocess="return [1] * len(data['data'])"
    )
    header, _ = infer(session, 2)
    assert header.errors == {
        "0": "AssertionError: two (model.yml:12, in run)",
        "1": "AssertionError: two (model.yml:12, in run)",
    }
    assert classes(session, 1) == [[1]]


def test_a_sample_that_cannot_be_prepared_leaves_its_neighbours_alone() -> None:
    body = """n = int(data[-1])
if n == 1: raise ValueError('no pixels')
return None if n == 2 else np.zeros(3 if n else 2)"""
    header, buffers = infer(open_session(body, "return [np.eye(5)[: len(data[0])]]", gets="sample", top_k=1), 5)
    assert header.errors == {
        "1": "ValueError: no pixels (model.yml:13, in preprocess)",
        "2": "preprocess returned nothing",
        "3": "its tensor is float64 [3], the batch has float64 [2]",
        "4": "its tensor is float64 [3], the batch has float64 [2]",
    }
    assert buffers[0].tolist() == [[0]]


def test_a_sample_with_other_tensors_does_not_join() -> None:
    body = "return (np.zeros(2), np.zeros(2)) if data[-1] == '1' else np.zeros(2)"
    header, _ = infer(open_session(body, "return np.eye(2)", gets="sample"), 3)
    assert header.errors == {"1": "preprocess returned 2 tensors, for others of the batch 1"}


@pytest.mark.parametrize("stage", ["preprocess", "run", "postprocess"])
def test_an_error_in_a_stream_names_the_stage_that_made_it(stage: str) -> None:
    bodies = {name: "for item in data:\n    yield 1" for name in ("preprocess", "run", "postprocess")}
    bodies[stage] += "\n    raise ValueError('here')"
    header, _ = infer(open_session(**bodies), 1)
    assert header.errors == {"0": f"ValueError: here (model.yml:14, in {stage})"}


DATASET = {
    "init": "def init(count):\n    ctx['calls'] = []\n    return 9",
    "load": "def load(numbers): ctx['calls'].append(('load', numbers))",
    "unload": "def unload(numbers): ctx['calls'].append(('unload', numbers))",
}


@pytest.mark.parametrize("stage", ["preprocess", "run", "postprocess", None])
def test_what_was_loaded_is_unloaded_whatever_happens(stage: str | None) -> None:
    bodies = {"preprocess": "return data['dataset']", "run": "return data", "postprocess": "return data"}
    session = open_session(**{**bodies, **({stage: "raise ValueError('x')"} if stage else {})}, dataset=DATASET)
    header, _ = infer(session, Batch(0, [{"number": 3}, {"number": 5}], ()))
    assert session.count == 9 and bool(header.errors) == (stage is not None)
    assert session.context["calls"] == [("load", [3, 5]), ("unload", [3, 5])]
    with contextlib.suppress(FunctionError):
        session.measure([{"number": 3}], 1, 2, 1.0)
    assert session.context["calls"][2:] == [("load", [3]), ("unload", [3])]


def test_the_first_error_is_the_one_that_is_told() -> None:
    session = open_session(
        "raise ValueError('first')", "return data", "return data", dataset={**DATASET, "unload": "def unload(n): 1 / 0"}
    )
    assert infer(session, Batch(0, [{"number": 0}], ()))[0].errors["0"].startswith("ValueError: first")


@pytest.mark.parametrize("count", ["None", "-1", "True", "'5'", "2.0"])
def test_a_dataset_must_say_how_many_samples_it_has(count: str) -> None:
    with pytest.raises(FunctionError, match="`init` must return the number of samples, it returned"):
        open_session(run="return data", dataset={"init": f"def init(count): return {count}"})
    assert (
        open_session(run="return data", dataset={"init": "import numpy\ndef init(n): return numpy.int64(4)"}).count == 4
    )


def test_tensors_that_the_framework_does_not_take_are_refused(tmp_path: Path) -> None:
    header, _ = infer(open_session("return np.zeros((1, 3, 8, 8))", files=fake_model(tmp_path)), 1)
    assert header.errors == {"0": "input `input` takes float32, the tensor is float64"}


def test_threads_share_a_session(tmp_path: Path) -> None:
    body = (
        "inside.append(1); assert len(inside) == 1; inside.pop(); return np.full((3, 8, 8), int(data[-1]), np.float32)"
    )
    session = open_session(body, files=fake_model(tmp_path), gets="sample", setup="inside = []")
    answers: list[Any] = []
    offline = Offline(
        session.prepare, session.infer, lambda header, buffers, last: answers.append((header, buffers)), 4, 4
    )
    offline.submit([Batch(index, [{"file": f"/{slot}"} for slot in range(3)], ()) for index in range(50)])
    offline.finish()
    assert {str(header.errors) for header, _ in answers} == {"{}"}
    assert len({buffers[0].tobytes() for _, buffers in answers}) == 1


# Training.


def trained(**bodies: str) -> tuple[list[Progress], Trained]:
    said: list[Progress] = []
    return said, train(said.append, open_session(**bodies), {"train": ["/a"]})


def test_a_training_reports_and_returns() -> None:
    said, end = trained(
        preprocess="return data['train']",
        run="ctx['report'](0.5, top1=np.float32(0.25))\nreturn data",
        postprocess="return {'n': len(data)}",
    )
    assert said == [Progress(0.5, {"top1": 0.25})]
    assert end.result == {"n": 1}


@pytest.mark.parametrize(("end", "result"), [("", {"progress": 1.0, "top1": 1.0}), ("\nreturn {'a': 2}", {"a": 2})])
def test_a_run_that_yields_reports_by_it(end: str, result: dict[str, Any]) -> None:
    said, found = trained(run=f"for i in (1, 2):\n    yield {{'progress': i / 2, 'top1': i / 2}}{end}")
    assert [each.progress for each in said] == [0.5, 1.0] and found.result == result


@pytest.mark.parametrize("progress", ["50", "-0.1", "float('nan')", "'half'"])
def test_progress_is_a_share(progress: str) -> None:
    with pytest.raises(FunctionError, match=r"ValueError: .* \(model.yml:12, in run\)"):
        trained(run=f"ctx['report']({progress}, top1=1)")
    with pytest.raises(FunctionError, match="run yielded a progress that is none"):
        trained(run=f"yield {{'progress': {progress}}}")


def test_a_result_that_cannot_be_kept_loses_no_training() -> None:
    assert trained(run="return {'model': object(), 'top1': 0.5}")[1].result == {
        "model": "(object, not kept)",
        "top1": 0.5,
    }
    assert trained(run="return np.zeros((2000, 2000))")[1].result == "(ndarray [2000, 2000], not kept)"


def test_a_session_without_anything_to_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="defines no function"):
        functions = {"run": function("x = 1", "run")}
        FunctionSession(plain_task(fake_model(tmp_path))._replace(inputs=[], task="general", functions=functions))
