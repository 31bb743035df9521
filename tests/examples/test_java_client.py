"""The Java client: one file that the JDK runs as it is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from server.conftest import World
from small_world import Once

from .conftest import ROOT, Example, ask_and_follow, hear_what_is_wrong, outlive_the_server, show_a_token

FILE = ROOT / "java" / "Client.java"
# It lives for seconds: what makes a program fast in the long run costs more than it gives.
JAVA = ("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@pytest.fixture
def compiled(once: Once) -> Path:
    """The program's classes, and what the compiler said of it."""
    if shutil.which("java") is None or shutil.which("javac") is None:
        pytest.skip("the Java client cannot be run: no JDK (java and javac) is installed")

    def make(place: Path) -> None:
        command = ["javac", "--release", "11", "-Xlint:all,-serial,-options", "-Werror", "-d", str(place), str(FILE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (place / "said").write_text(f"{done.returncode}{done.stdout}{done.stderr}")

    return once("java-client", make)


@pytest.fixture
def example(world: World, compiled: Path) -> Example:
    return Example(world, [*JAVA, "-cp", str(compiled), "Client"], world.url)


def test_the_compiler_has_nothing_to_say(compiled: Path) -> None:
    assert (compiled / "said").read_text() == "0"


def test_it_asks_follows_and_prints_the_top1(world: World, compiled: Path) -> None:
    world.host()
    ask_and_follow(Example(world, [*JAVA, str(FILE)], world.url))


def test_it_says_what_is_wrong(example: Example) -> None:
    example.world.host()
    hear_what_is_wrong(example)


def test_it_shows_its_token(example: Example) -> None:
    token = example.world.run("token", "make", "--owner", "ada", "--scope", "read", "--scope", "run")
    example.world.host(require_token=True)
    show_a_token(example, token)


@pytest.mark.slow(reason="a server is stopped and started again while an evaluation runs")
def test_it_goes_on_when_the_server_comes_back(example: Example) -> None:
    example.world.write_model(sleep_s=0.1)
    outlive_the_server(example, example.world.serve())
