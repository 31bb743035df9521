"""A worker for strangers sees its plan's files and nothing else, reaches nobody, and knows no secret of the machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlmodelscope.confine.bubblewrap import why_not
from mlmodelscope.errors import StackError
from mlmodelscope.provision.stack import walls as module
from mlmodelscope.provision.stack.current import CurrentStack
from mlmodelscope.provision.stack.provisioner import Launch, Needs
from mlmodelscope.provision.stack.walls import confine

LOOK = """
import json, os, socket, sys
def tried(what, *given):
    try:
        what(*given)
    except OSError:
        return False
    return True
seen, hidden, folder, port = sys.argv[1:]
found = {
    "seen": tried(open, seen), "hidden": tried(open, hidden), "writes": tried(open, os.path.join(folder, "new"), "w"),
    "changes": tried(open, seen, "a"), "installs": tried(open, "/usr/new", "w"), "shadow": tried(open, "/etc/shadow"),
    "neighbor": tried(socket.create_connection, ("127.0.0.1", int(port)), 2),
    "abstract": tried(lambda: socket.socket(socket.AF_UNIX).connect("\\0confine-test")),
    "processes": len([each for each in os.listdir("/proc") if each.isdigit()]),
    "variables": sorted(os.environ),
}
print(json.dumps(found))
"""


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(autouse=True)
def _usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLMODELSCOPE_CONFINE", raising=False)


def look(launch: Launch) -> dict[str, object]:
    done = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_nothing_but_its_own_files_is_there(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if why_not() is not None:
        pytest.skip(f"processes cannot be confined here: {why_not()}")
    monkeypatch.setenv("MY_TOKEN", "secret")
    seen, hidden, folder = tmp_path / "model", tmp_path / "other", tmp_path / "own"
    seen.write_text("model")
    hidden.write_text("somebody else's")
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as neighbor:
        neighbor.bind("\0confine-test")
        neighbor.listen()
        needs = Needs(reads=(seen,), writes=(folder,), environment={"OWN": "1"}, folder=folder)
        arguments = ("-c", LOOK, str(seen), str(hidden), str(folder), str(port))
        found = look(confine(CurrentStack().launch(arguments, needs), needs))
        free = look(CurrentStack().launch(arguments, needs))
    variables = found.pop("variables")
    assert found == {
        **{"seen": True, "writes": True, "hidden": False, "changes": False, "installs": False, "shadow": False},
        **{"neighbor": False, "abstract": False, "processes": 2},
    }
    assert isinstance(variables, list) and "OWN" in variables and "MY_TOKEN" not in variables
    assert free["neighbor"] and free["hidden"] and "MY_TOKEN" in str(free["variables"])  # the questions can tell
    assert (folder / "new").exists()


def test_where_it_cannot_be_it_is_left_out_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "why_not", lambda: "bubblewrap is not installed")
    launch = CurrentStack().launch((), Needs())
    assert confine(launch, Needs()) is launch
    monkeypatch.setenv("MLMODELSCOPE_CONFINE", "always")
    with pytest.raises(StackError, match="cannot be: bubblewrap is not installed"):
        confine(launch, Needs())
    monkeypatch.setenv("MLMODELSCOPE_CONFINE", "never")
    assert confine(launch, Needs()) is launch
    monkeypatch.setenv("MLMODELSCOPE_CONFINE", "perhaps")
    with pytest.raises(StackError, match="`perhaps`, not one of auto, always, never"):
        confine(launch, Needs())


def test_what_is_closed_off_already_is_left_as_it_is() -> None:
    launch = Launch((sys.executable,), {}, is_confined=True)
    assert confine(launch, Needs()) is launch


def test_why_it_cannot_be_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_not.__wrapped__() == "bubblewrap is not installed"
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'no permission' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    assert why_not.__wrapped__() == "no permission"
