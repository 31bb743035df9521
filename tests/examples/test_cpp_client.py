"""The C++ client: built by its Makefile with the system's gRPC, and run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from server.conftest import World, free_port

from .conftest import ROOT, Example, ask_and_follow, hear_what_is_wrong, outlive_the_server, show_a_token

pytest.importorskip("grpc", reason="the server's package grpcio is not installed")


def _missing() -> str | None:
    tools = ("make", "g++", "pkg-config", "protoc", "grpc_cpp_plugin")
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        return f"{', '.join(absent)} not installed"
    known = subprocess.run(["pkg-config", "--exists", "--print-errors", "grpc++", "protobuf"], capture_output=True)
    return known.stderr.decode().strip() if known.returncode else None


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if reason := _missing():
        pytest.skip(f"the C++ client cannot be built: {reason}")
    place = tmp_path_factory.mktemp("cpp")
    done = subprocess.run(
        ["make", "-C", str(ROOT / "cpp"), f"BUILD={place}", "CXXFLAGS=-O0 -Werror=return-type"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place / "client"


@pytest.fixture
def make_example(world: World, program: Path) -> Callable[[int], Example]:
    return lambda port: Example(world, [str(program)], f"127.0.0.1:{port}")


def test_it_asks_follows_and_prints_the_top1(world: World, make_example: Callable[[int], Example]) -> None:
    port = free_port()
    world.host(rpc_port=port)
    ask_and_follow(make_example(port))


def test_it_says_what_is_wrong(world: World, make_example: Callable[[int], Example]) -> None:
    port = free_port()
    world.host(rpc_port=port)
    hear_what_is_wrong(make_example(port))


def test_it_shows_its_token(world: World, make_example: Callable[[int], Example]) -> None:
    token = world.run("token", "make", "--owner", "ada", "--scope", "read", "--scope", "run")
    port = free_port()
    world.host(rpc_port=port, require_token=True)
    show_a_token(make_example(port), token)


def test_it_goes_on_when_the_server_comes_back(world: World, make_example: Callable[[int], Example]) -> None:
    world.write_model(sleep_s=0.1)
    port = free_port()
    outlive_the_server(make_example(port), world.serve(rpc_port=port), rpc_port=port)
