"""`stacks run` and `stacks remove`: a command in a stack, and what taking a stack away frees."""

import json
import os
import platform
from pathlib import Path

import pytest

from mlmodelscope.provision.stack.holding import size_of
from provision.stack.wheels import make_wheel

from .command import Run


@pytest.fixture
def stacks(run: Run, tmp_path: Path, environment: dict[str, str]) -> Run:
    """The verb, in a folder with a manifest of a stack, a cache of uv's own and no package index."""
    make_wheel(tmp_path / "wheels", "toy", "1.0")
    release = ".".join(platform.python_version_tuple()[:2])
    (tmp_path / "toys.yml").write_text(
        "name: toys\nversion: 1.0.0\nenv: {TOYS: '7'}\n"
        f"stack:\n  python: '{release}'\n  requirements: [toy]\n  find_links: [{tmp_path / 'wheels'}]\n"
    )
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "UV_CACHE_DIR": str(tmp_path / "uv")}
    return lambda *words: run("stacks", *words)


def test_a_command_runs_in_the_stack_and_the_stack_is_removed(stacks: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import os, sys, toy\nprint(toy.__version__, os.environ['TOYS'], sys.argv[1:])\n"
        "open('made.txt', 'w').write('here')\nsys.exit(3)\n"
    )
    done = stacks("run", "--trust", "toys.yml", "--", "python", "script.py", "--limit", "5 'x'")
    assert done.returncode == 3, done.stderr
    assert done.stdout == "1.0 7 ['--limit', \"5 'x'\"]\n" and (tmp_path / "made.txt").read_text() == "here"
    killed = stacks("run", "--trust", "toys.yml", "--", "python", "-c", "import os; os.kill(os.getpid(), 9)")
    assert killed.returncode == 128 + 9
    missing = stacks("run", "--trust", "toys.yml", "--", "no-such-program")
    assert missing.returncode == 1 and "cannot run no-such-program" in missing.stderr

    told = json.loads(stacks("remove", "toys", "--json").stdout)
    (removed,) = told["stacks"]
    assert told["removed"] == ["toys"] and removed["freed_bytes"] > 0 and removed["forgotten"] == []
    assert "no built stack is called toys" in stacks("remove", "toys").stderr


def test_what_uv_still_holds_is_told_and_can_go_too(stacks: Run, tmp_path: Path) -> None:
    pytest.importorskip("uv")
    assert stacks("build", "--trust", "toys.yml").returncode == 0
    held = size_of(*(tmp_path / "cache" / "stacks").glob("[0-9a-f]" * 64))
    if not held.shared_bytes:
        pytest.skip("uv copies files here: its cache is on another file system")
    kept = stacks("remove", "toys").stdout.replace("\xa0", " ")
    assert "freed" in kept and "have further links in uv's cache or other stacks" in kept and "--cache" in kept
    assert stacks("build", "--trust", "toys.yml").returncode == 0
    (removed,) = json.loads(stacks("remove", "toys", "--cache", "--json").stdout)["stacks"]
    assert removed["forgotten"] == ["toy"] and removed["shared_bytes"] < held.shared_bytes
    assert removed["freed_bytes"] > held.own_bytes


def test_the_running_python_runs_commands_too(stacks: Run) -> None:
    assert stacks("run", "current", "--", "python", "-c", "print(6 * 7)").stdout == "42\n"
    nothing = stacks("run", "current")
    assert nothing.returncode == 2 and "Traceback" not in nothing.stderr


def test_a_file_counts_once_and_links_elsewhere_are_not_freed(tmp_path: Path) -> None:
    stack, cache = tmp_path / "stack", tmp_path / "cache"
    for folder in (stack, cache):
        folder.mkdir()
    (stack / "own").write_bytes(b"x" * 100)
    os.link(stack / "own", stack / "again")
    (cache / "shared").write_bytes(b"x" * 1000)
    os.link(cache / "shared", stack / "shared")
    (stack / "lost").symlink_to("nowhere")
    found = size_of(stack)
    assert found.shared_bytes == 1000 and 100 <= found.own_bytes < 200
    assert size_of(stack, cache).shared_bytes == 0  # taken away together, all of it is freed
    assert size_of(tmp_path / "missing").bytes == 0


def test_a_stack_that_this_python_is_keeps_the_name_that_was_asked_for(run: Run, toy: Path) -> None:
    import numpy

    release = ".".join(platform.python_version_tuple()[:2])
    (toy / "mine.yml").write_text(
        f"name: mine\nversion: 1.0.0\nstack: {{python: '{release}', requirements: [numpy=={numpy.__version__}]}}\n"
    )
    done = run("evaluate", "toy.yml", "pictures.yml", "--stacks", "mine.yml,current", "--trust", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["stack"] for row in json.loads(done.stdout)["stacks"]] == ["mine.yml", "current"]
    (row,) = json.loads(run("records", "--json").stdout)
    assert row["stack"] == "mine"  # one record: the plans are the same
    assert "stack" in run("records").stdout.splitlines()[0]
