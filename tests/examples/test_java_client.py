"""The Java client: one file that the JDK runs as it is."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from server.conftest import World

from .conftest import ROOT, Example, ask_and_follow, hear_what_is_wrong, outlive_the_server, show_a_token


@pytest.fixture
def example(world: World) -> Example:
    if shutil.which("java") is None or shutil.which("javac") is None:
        pytest.skip("the Java client cannot be run: no JDK (java and javac) is installed")
    return Example(world, ["java", "-Xmx256m", str(ROOT / "java" / "Client.java")], world.url)


def test_the_compiler_has_nothing_to_say(example: Example) -> None:
    file = ROOT / "java" / "Client.java"
    done = subprocess.run(
        [
            "javac",
            "--release",
            "11",
            "-Xlint:all,-serial,-options",
            "-Werror",
            "-d",
            str(example.world.place),
            str(file),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_it_asks_follows_and_prints_the_top1(example: Example) -> None:
    example.world.serve()
    ask_and_follow(example)


def test_it_says_what_is_wrong(example: Example) -> None:
    example.world.serve()
    hear_what_is_wrong(example)


def test_it_shows_its_token(example: Example) -> None:
    token = example.world.run("token", "make", "--owner", "ada", "--scope", "read", "--scope", "run")
    example.world.serve(require_token=True)
    show_a_token(example, token)


def test_it_goes_on_when_the_server_comes_back(example: Example) -> None:
    example.world.write_model(sleep_s=0.1)
    outlive_the_server(example, example.world.serve())
