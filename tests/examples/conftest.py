"""Examples in other languages, against a real server: the same story for each of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from server.conftest import World, world

__all__ = ["world"]
ROOT = Path(__file__).parent.parent.parent / "examples"


class Example:
    """A program, and how it is started."""

    def __init__(self, world: World, command: Sequence[str], address: str) -> None:
        self.world, self.address = world, address
        self._command = list(command)

    def start(self, *words: str, token: str | None = None) -> subprocess.Popen[str]:
        environment = {key: value for key, value in os.environ.items() if key != "MLMODELSCOPE_TOKEN"}
        environment |= {"MLMODELSCOPE_TOKEN": token} if token else {}
        command = [*self._command, self.address, *words]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )

    def run(self, *words: str, token: str | None = None) -> tuple[int, str, str]:
        process = self.start(*words, token=token)
        told, wrong = process.communicate(timeout=300)
        return process.returncode, told, wrong


def check_top1(told: str, world: World, token: str | None = None) -> None:
    """The last line says what the record says."""
    (found,) = re.findall(r"^top1 (\S+) \[(\S+), (\S+)\] of (\d+) samples, record (\S+)$", told, re.MULTILINE)
    record = world.client(token).record(found[4])
    top1: Any = record.metrics["top1"]
    assert int(found[3]) == record.samples == 60
    for text, number in zip(found[:3], (top1.value, top1.low, top1.high), strict=True):
        assert abs(float(text) - number) < 1e-5


def ask_and_follow(example: Example) -> None:
    example.world.write_model(classes=3)  # as many as there are, so that some answers are right
    example.world.client()
    status, told, wrong = example.run("toy", "pictures")
    assert status == 0, wrong
    kinds = [line.split()[0] for line in told.splitlines()]
    assert kinds[:2] == ["waiting", "running"] and kinds[-2:] == ["finished", "top1"]
    assert "progress 60/60" in told
    assert "top1 0 " not in told
    check_top1(told, example.world)


def hear_what_is_wrong(example: Example) -> None:
    status, _, wrong = example.run("nothing")
    assert status == 1 and "there is no model `nothing`" in wrong
    client = example.world.client()
    example.world.write_model(sleep_s=0.2)
    process = example.start("toy", "pictures")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("running"):
            client.post(f"/evaluations/{next(client.evaluations()).id}/cancel")
            break
    told, wrong = process.communicate(timeout=300)
    assert process.returncode == 1 and "cancelled" in told.split() and "error: cancelled" in wrong


def show_a_token(example: Example, token: str) -> None:
    status, _, wrong = example.run("toy", "pictures")
    assert status == 1 and "a token is needed" in wrong
    example.world.client(token)
    status, told, wrong = example.run("toy", "pictures", token=token)
    assert status == 0, wrong
    check_top1(told, example.world, token)


def outlive_the_server(example: Example, server: subprocess.Popen[bytes], **config: Any) -> None:
    """It is stopped while somebody listens, and started again."""
    example.world.client()
    process = example.start("toy", "pictures")
    assert process.stdout is not None
    told = []
    for line in process.stdout:
        told.append(line.strip())
        if line.startswith("progress"):
            break
    server.send_signal(signal.SIGTERM)
    server.wait(300)
    example.world.serve(**config)
    rest, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    kinds = [line.split()[0] for line in [*told, *rest.splitlines()]]
    assert kinds.count("finished") == 1 and kinds.count("waiting") == 2  # one when it was given back
    check_top1(rest, example.world)
