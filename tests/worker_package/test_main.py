"""The worker as a process: what it is asked, what it answers, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlmodelscope_worker
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import WorkerError
from mlmodelscope.manifest.aspects import find_aspects
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import plan_aspects
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.provision.stack import CurrentStack, Needs
from mlmodelscope.settings import Settings
from mlmodelscope.worker.answers import cut_batches
from mlmodelscope.worker.client import Worker
from mlmodelscope.worker.process import WorkerDied, WorkerProcess
from mlmodelscope_worker.messages import (
    Answered,
    BatchAnswer,
    Latency,
    MeasureLatency,
    Open,
    Opened,
    Prepare,
    Prepared,
    RunBatches,
    to_header,
)
from worker_package.pictures import encode, jpeg, scene
from worker_package.tasks import fake_model, task

SAMPLE = jpeg()
DARK, BRIGHT = (encode(np.full((9, 9, 3), level, np.uint8), "PNG") for level in (0, 255))


@pytest.fixture
def process() -> Iterator[WorkerProcess]:
    with WorkerProcess(CurrentStack(), Needs()) as started:
        yield started


def ask(process: WorkerProcess, message: Any, expected: type[Any], *buffers: bytes) -> tuple[Any, list[bytes]]:
    process.send(message, buffers)
    return process.receive(expected)


def open_model(process: WorkerProcess, folder: Path, model: dict | None = None, **changes: Any) -> Opened:
    return ask(process, Open(task(fake_model(folder, **(model or {})), **changes)), Opened)[0]


def ask_batch(process: WorkerProcess, *images: bytes) -> tuple[BatchAnswer, list[bytes]]:
    samples = [{"buffer": slot} for slot in range(len(images))]
    batches = [{"batch": 0, "samples": samples}]
    message, buffers = ask(process, RunBatches(batches, 2, 2), Answered, *images)
    return BatchAnswer(**message.answers[0]), buffers


# A conversation.


def test_a_worker_opens_prepares_measures_and_answers(process: WorkerProcess, tmp_path: Path) -> None:
    opened = open_model(process, tmp_path)
    assert opened.inputs == [{"name": "input", "element_type": "float32", "shape": [None, 3, 8, 8]}]
    assert opened.worker == mlmodelscope_worker.__version__ and "numpy" in opened.environment["packages"]

    header, tensors = ask(process, Prepare([{"buffer": 0}, {"buffer": 1}]), Prepared, SAMPLE, b"")
    assert header.tensors == [[{"shape": [3, 8, 8], "element_type": "float32"}], None]
    assert header.errors == {"1": "the file is empty"} and len(tensors[0]) == 3 * 8 * 8 * 4

    limits = {"warm_up_runs": 2, "max_runs": 5, "budget_s": 60}
    latency, _ = ask(process, MeasureLatency([{"buffer": 0}], **limits), Latency, SAMPLE)
    assert (len(latency.warm_up_ns), len(latency.raw_ns)) == (2, 5)

    answers, (classes, scores) = ask_batch(process, SAMPLE)
    assert (answers.content["k"], answers.errors, len(classes), len(scores)) == (5, {}, 20, 20)


@pytest.mark.parametrize("element_type", ["float16", "float64", "uint8"])
def test_tensors_of_every_type_can_be_looked_at(process: WorkerProcess, tmp_path: Path, element_type: str) -> None:
    processing = [("decode", None), ("resize", 8), ("layout", "NCHW"), ("cast", element_type)]
    open_model(process, tmp_path, {"element_type": element_type}, processing=processing, element_type=element_type)
    header, (tensor,) = ask(process, Prepare([{"buffer": 0}]), Prepared, SAMPLE)
    assert header.tensors[0][0]["element_type"] == element_type
    assert np.frombuffer(tensor, element_type).size == 3 * 8 * 8


def test_a_batch_of_nothing_but_not_a_number_is_answered(process: WorkerProcess, tmp_path: Path) -> None:
    open_model(process, tmp_path, {"nan_above": -1e9})
    header, buffers = ask_batch(process, SAMPLE, SAMPLE)
    assert header.errors == {slot: "the model answered with not-a-number" for slot in ("0", "1")}
    assert buffers == [b"", b""]


def test_an_empty_batch_is_answered(process: WorkerProcess, tmp_path: Path) -> None:
    open_model(process, tmp_path)
    assert ask_batch(process)[0].errors == {}


def test_latency_is_measured_on_samples_that_go_together(process: WorkerProcess, tmp_path: Path) -> None:
    processing = [("decode", None), ("cast", "float32"), ("layout", "NCHW")]
    open_model(process, tmp_path, {"shape": [None, 3, None, None]}, processing=processing, batch_size=2)
    images = [b"", *(encode(scene(*sides), "PNG") for sides in ((8, 9), (9, 8), (8, 9)))]
    samples = [{"buffer": slot} for slot in range(4)]
    limits = {"warm_up_runs": 0, "max_runs": 1, "budget_s": 60}
    assert ask(process, MeasureLatency(samples, **limits), Latency, *images)[0].batch_size == 2
    assert ask(process, MeasureLatency([{"buffer": 0}], **limits), Latency, b"")[0].batch_size == 0


def test_copies_to_a_device_are_measured_as_parts(process: WorkerProcess, tmp_path: Path) -> None:
    limits = {"warm_up_runs": 0, "max_runs": 3, "budget_s": 60, "samples": [{"buffer": 0}]}
    open_model(process, tmp_path)
    assert ask(process, MeasureLatency(**limits), Latency, SAMPLE)[0].parts_ns == {}
    open_model(process, tmp_path, {"copies": True})
    parts = ask(process, MeasureLatency(**limits), Latency, SAMPLE)[0].parts_ns
    assert {name: len(raw) for name, raw in parts.items()} == {
        "copy to device": 20,
        "run": 20,
        "copy from device": 20,
    }


def test_a_second_model_takes_the_place_of_the_first(process: WorkerProcess, tmp_path: Path) -> None:
    answers = []
    for seed in (1, 2, 1):
        open_model(process, tmp_path, {"seed": seed})
        answers.append(ask_batch(process, SAMPLE)[1])
    assert answers[0] == answers[2] != answers[1]


# Refusals.


def test_a_model_that_cannot_be_opened_is_refused_with_its_reason(process: WorkerProcess, tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="the fake model cannot be read: .*No such file") as refusal:
        ask(process, Open(task({"graph": str(tmp_path / "none")})), Opened)
    assert "Traceback" not in str(refusal.value)
    open_model(process, tmp_path)  # and the worker is as good as new


def test_a_surprise_keeps_its_traceback(process: WorkerProcess, tmp_path: Path) -> None:
    odd = task(fake_model(tmp_path))._replace(answer={})
    with pytest.raises(WorkerError, match="(?s)KeyError.*Traceback"):
        ask(process, Open(odd), Opened)


def test_what_is_not_declared_is_refused_at_either_end(process: WorkerProcess) -> None:
    """A host of another version may say it; its own messages cannot."""
    for header, reason in (
        ({"do": "dance"}, "there is no message `dance`"),
        ({"do": "open"}, "the message `open` lacks `task`"),
        (
            {"do": "open", "task": {"batch_size": 1}},
            "the message `open.task` lacks `predictor, inputs, outputs, answer`",
        ),
        ({"do": "prepare", "samples": [], "loudly": True}, "the message `prepare` has no `loudly`"),
    ):
        process._channel.send(header)
        with pytest.raises(WorkerError, match=re.escape(reason)):
            process.receive(Opened)
    with pytest.raises(WorkerError, match="`prepare` needs an open model"):
        ask(process, Prepare([]), Prepared)


def test_a_wrong_layout_is_refused_before_anything_is_measured(process: WorkerProcess, tmp_path: Path) -> None:
    open_model(process, tmp_path, processing=[("decode", None), ("resize", 8), ("cast", "float32")])
    limits = {"warm_up_runs": 0, "max_runs": 1, "budget_s": 60}
    with pytest.raises(WorkerError, match="end the processing with `layout: NCHW`"):
        ask(process, MeasureLatency([{"buffer": 0}], **limits), Latency, SAMPLE)


# Ends.


def test_a_killed_worker_is_told_by_its_signals_name(process: WorkerProcess, tmp_path: Path) -> None:
    open_model(process, tmp_path, {"die_above": 1.5})
    assert ask_batch(process, DARK)[0].errors == {}
    with pytest.raises(WorkerDied, match="the worker was killed by SIGKILL") as death:
        ask_batch(process, BRIGHT)
    assert "memory" in str(death.value.hint)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM])
def test_a_crash_is_told_from_an_exit(process: WorkerProcess, number: signal.Signals) -> None:
    os.kill(process.pid, number)
    with pytest.raises(WorkerDied, match=f"the worker was killed by {number.name}"):
        process.receive("opened")


@pytest.fixture
def bare(plain_path: Path) -> Iterator[tuple[subprocess.Popen, socket.socket]]:
    """A worker and the host's end of its connection, with no host around it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(plain_path / "socket"))
        listener.listen(1)
        command = [sys.executable, "-m", "mlmodelscope_worker", "--connect", str(plain_path / "socket")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
            listener.settimeout(300)
            connection, _ = listener.accept()
            yield started, connection
            connection.close()
            started.kill()


def test_no_worker_outlives_its_host(bare: tuple[subprocess.Popen, socket.socket]) -> None:
    worker, connection = bare
    connection.close()
    assert worker.wait(300) == 1


def test_not_even_one_that_is_lost_in_a_frameworks_call(
    bare: tuple[subprocess.Popen, socket.socket], tmp_path: Path
) -> None:
    worker, connection = bare
    os.mkfifo(tmp_path / "endless")  # opening it for reading waits for a writer, who never comes
    channel = mlmodelscope_worker.protocol.Channel(connection)
    channel.send(to_header(Open(task({"graph": str(tmp_path / "endless")}))))
    channel.close()
    assert worker.wait(300) == 1


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\2[]", b"\0\0\0\3abc"])
def test_a_host_that_speaks_otherwise_is_none(bare: tuple[subprocess.Popen, socket.socket], garbage: bytes) -> None:
    worker, connection = bare
    connection.sendall(garbage)
    assert worker.wait(300) == 1


def test_a_worker_that_is_done_ends_well(bare: tuple[subprocess.Popen, socket.socket]) -> None:
    worker, connection = bare
    mlmodelscope_worker.protocol.Channel(connection).send({"do": "close"})
    assert worker.wait(300) == 0 and worker.stderr is not None and worker.stderr.read() == b""


# Surroundings.


def test_noise_on_standard_output_does_not_disturb_the_protocol(tmp_path: Path) -> None:
    program = """
import os, sys
from mlmodelscope_worker import main
from mlmodelscope_worker.predictor.fake import Fake
def noisy(self, tensors, run=Fake.run):
    print("a framework says hello")
    os.write(1, b"and its C++ part too" * 1000)
    return run(self, tensors)
Fake.run = noisy
main.main(sys.argv[3:])
"""
    (tmp_path / "noisy.py").write_text(program)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/noisy.py" "$@"\n')
    python.chmod(0o755)
    with WorkerProcess(CurrentStack(str(python)), Needs()) as noisy:
        open_model(noisy, tmp_path)
        assert [ask_batch(noisy, SAMPLE)[0].errors for _ in range(3)] == [{}, {}, {}]
        assert "and its C++ part too" in noisy.log_tail()


def test_modules_in_the_current_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "queue", "argparse", "PIL"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    with WorkerProcess(CurrentStack(), Needs()) as process:
        open_model(process, tmp_path)
        assert ask_batch(process, SAMPLE)[0].errors == {}


# Many workers, one answer.


@pytest.fixture
def planned(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> Callable[[int], tuple[Site, Plan, list]]:
    model, dataset = make_model(), make_dataset(make_pictures(count=30))
    artifacts = ArtifactStore(settings, lambda *_: None)

    def plan(batch_size: int) -> tuple[Site, Plan, list]:
        made = plan_aspects(find_aspects(model, dataset), Options(batch_size=batch_size), artifacts, settings)
        return provision(made, artifacts), made, open_dataset(made.dataset, artifacts)

    return plan


def test_tensors_and_answers_have_the_same_bits_in_every_worker(planned: Callable) -> None:
    tensors, answers = set(), set()
    for batch_size, lanes, threads in ((1, 1, 1), (4, 1, 3), (7, 3, 2), (30, 2, 8)):
        site, plan, dataset = planned(batch_size)
        with Worker(replace(site, lanes=lanes, threads=threads), plan) as worker:
            prepared = worker.prepare(dataset.samples)
            assert all(isinstance(each, tuple) for each in prepared)
            tensors.add(tuple(content for _, content in prepared))
            given = list(worker.run(cut_batches(dataset.samples, plan.scenario.batch_size)))
        assert [each.batch for each in given] == list(range(len(given)))
        answers.add(tuple(b"".join(each.buffers[part] for each in given) for part in (0, 1)))
    assert len(tensors) == 1 and len(answers) == 1


def test_the_work_may_be_shared_among_workers(planned: Callable) -> None:
    site, plan, dataset = planned(4)
    batches = cut_batches(dataset.samples, plan.scenario.batch_size)
    with Worker(site, plan) as one, Worker(site, plan) as other:
        alone = [each.buffers for each in one.run(batches)]
        shared = dict.fromkeys(range(len(batches)), (b"", b""))
        for worker, part in ((one, batches[::2]), (other, batches[1::2])):
            shared.update({each.batch: each.buffers for each in worker.run(part)})
        assert list(shared.values()) == alone
        assert one.prepare(dataset.samples) == other.prepare(dataset.samples)
