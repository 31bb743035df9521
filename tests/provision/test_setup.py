"""Setup commands: what they print is kept, what fails ends it, and nothing of theirs outlives its time."""

import os
import signal
from pathlib import Path

import pytest

from mlmodelscope.errors import SetupError
from mlmodelscope.provision import setup
from mlmodelscope.provision.setup import run_setup
from processes import ends


def test_what_is_printed_is_returned() -> None:
    assert run_setup("echo one\necho two >&2\n") == "one\ntwo"
    assert run_setup("true") == ""


def test_the_first_command_that_fails_ends_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        run_setup(f"echo before\nfalse\ntouch {tmp_path}/after")
    assert "ended with exit code 1\nbefore" in str(caught.value) and not (tmp_path / "after").exists()


@pytest.mark.parametrize(("script", "code"), [("exit 7", "7"), ("echo $NO_SUCH_VARIABLE", "2"), ("kill -9 $$", "-9")])
def test_how_it_failed_is_said(script: str, code: str) -> None:
    with pytest.raises(SetupError, match=f"ended with exit code {code}"):
        run_setup(script)


def test_of_much_output_the_end_is_kept() -> None:
    output = run_setup("yes ä | head -c 30000000; printf '\\377'; echo the end")
    assert output.endswith("the end") and len(output) <= 4000


def test_it_gets_no_input() -> None:
    assert run_setup("cat; read line || echo nothing") == "nothing"


def test_a_daemon_that_it_leaves_behind_is_not_waited_for(tmp_path: Path) -> None:
    assert run_setup(f"sleep 100 & echo $! > '{tmp_path}/pid'; echo started") == "started"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)


def test_what_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "_LIMIT_S", 3)
    with pytest.raises(SetupError, match=r"took longer than 3 s\nwaiting"):
        run_setup(f"echo waiting; sleep 1000 & echo $! > '{tmp_path}/pid'; wait")
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_script_that_no_shell_takes_is_an_error_too() -> None:
    with pytest.raises(SetupError, match="cannot be run: embedded null byte"):
        run_setup("echo \0")


def test_non_ascii_commands_are_run() -> None:
    assert run_setup("echo größer") == "größer"
