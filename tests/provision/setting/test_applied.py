"""Settings are applied, read back, recorded and set back: afterwards, after an error, and after a kill."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machine.fake_nvml import FakeNvml

from mlmodelscope.errors import SetupError
from mlmodelscope.manifest.schema import MachineSettings
from mlmodelscope.provision.machine.read import spell_cpus
from mlmodelscope.provision.setting import Place, Setting, applied, restore_left_behind
from mlmodelscope.provision.setting.journal import Journal

from .conftest import BOOT, Wish

CPU = "sys/devices/system/cpu"
FILES = (f"{CPU}/cpu0/cpufreq/scaling_governor", f"{CPU}/intel_pstate/no_turbo", f"{CPU}/smt/control")


def state(place: Place) -> list[str]:
    return [(place.root / name).read_text().strip() for name in FILES]


BEFORE = ["powersave", "0", "on"]


def test_a_machine_is_set_and_set_back(place: Place, wish: Wish) -> None:
    with applied(wish(governor="performance", turbo=False, smt="off"), 1, place) as done:
        assert state(place) == ["performance", "1", "off"]
    assert state(place) == BEFORE and not Journal(place.home, place.root).is_there
    assert [(each.name, each.before, each.after) for each in done] == [
        ("governor", "powersave", "performance"),
        ("turbo", True, False),
        ("smt", True, False),
    ]


def test_every_processor_gets_the_governor(place: Place, wish: Wish) -> None:
    with applied(wish(governor="performance"), 1, place):
        files = sorted(place.root.glob(f"{CPU}/cpu*/cpufreq/scaling_governor"))
        assert [file.read_text() for file in files] != [] and {file.read_text()[:11] for file in files} == {
            "performance"
        }


def test_an_error_sets_it_back_too(place: Place, wish: Wish) -> None:
    with pytest.raises(ZeroDivisionError), applied(wish(turbo=False), 1, place):
        raise ZeroDivisionError
    assert state(place) == BEFORE


def test_the_journal_is_written_before_anything_is_changed(
    place: Place, wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: Any, undo: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "write", crash)
    with pytest.raises(KeyboardInterrupt), applied(wish(turbo=False), 1, place):
        pass
    assert state(place) == BEFORE


KILLED = """\
import os, signal, sys
from pathlib import Path
from mlmodelscope.manifest.schema import MachineSettings
from mlmodelscope.provision.setting import Place, applied
wish = MachineSettings.model_validate_json(sys.argv[3])
with applied(wish, 1, Place(Path(sys.argv[1]), Path(sys.argv[2]))):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_run(place: Place, wish: MachineSettings) -> None:
    command = [sys.executable, "-c", KILLED, str(place.home), str(place.root), wish.model_dump_json()]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


def test_what_a_killed_run_left_is_set_back_by_the_next(place: Place, wish: Wish) -> None:
    kill_a_run(place, wish(governor="performance", turbo=False, smt=False))
    assert state(place) == ["performance", "1", "off"]
    assert restore_left_behind(place) == ["governor", "turbo", "smt"]
    assert state(place) == BEFORE and restore_left_behind(place) == []


def test_a_run_after_a_killed_one_does_not_take_its_settings_for_the_machines(place: Place, wish: Wish) -> None:
    kill_a_run(place, wish(governor="performance"))
    with applied(wish(governor="performance"), 1, place) as (done,):
        assert done.before == "powersave"
    assert state(place) == BEFORE


def test_a_machine_that_was_started_again_has_nothing_to_be_set_back(place: Place, wish: Wish) -> None:
    kill_a_run(place, wish(turbo=False))
    (place.root / BOOT).write_text("second-boot\n")
    assert restore_left_behind(place) == [] and state(place)[1] == "1"
    assert not Journal(place.home, place.root).is_there


def test_a_run_that_is_still_alive_is_left_alone(place: Place, wish: Wish) -> None:
    with applied(wish(turbo=False), 1, place):
        assert restore_left_behind(place) == [] and state(place)[1] == "1"


def test_two_runs_do_not_set_a_machine_at_once(place: Place, wish: Wish) -> None:
    reasons: list[str] = []
    befores: list[Any] = []
    with ThreadPoolExecutor(1) as pool, contextlib.ExitStack() as first:
        first.enter_context(applied(wish(turbo=False), 1, place))
        asked = threading.Event()

        def wait(reason: str) -> None:
            reasons.append(reason)
            asked.set()

        def second() -> None:
            with applied(wish(turbo=False), 1, replace(place, waiting=wait)) as (done,):
                befores.append(done.before)

        waiting = pool.submit(second)
        assert asked.wait(300) and befores == []
        first.close()
        waiting.result()
    assert reasons == ["another process has set this machine for itself"] and befores == [True]


def test_a_journal_sets_processors_back_and_nothing_else(place: Place, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    undo = {str(tmp_path / "precious"): "x", f"{place.root}/{CPU}/../../../../../precious": "x"}
    Journal(place.home, place.root)  # the folder is made by whoever locks
    place.home.mkdir()
    Journal(place.home, place.root).write({"governor": undo})
    restore_left_behind(place)
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"undo": 3}'])
def test_a_journal_that_cannot_be_read_is_said(place: Place, content: str) -> None:
    place.home.mkdir()
    (place.home / "machine-settings.json").write_text(content)
    with pytest.raises(SetupError, match="which says what must be set back"):
        restore_left_behind(place)


def test_what_is_so_already_needs_no_root(place: Place, wish: Wish) -> None:
    (place.root / FILES[0]).chmod(0o444)
    with applied(wish(governor="powersave", smt=True), 1, place) as done:
        assert [each.after for each in done] == ["powersave", True]


@pytest.mark.parametrize(
    ("gone", "wanted", "reason"),
    [
        ("cpu*/cpufreq/scaling_governor", {"governor": "performance"}, "there is no .*scaling_governor"),
        ("intel_pstate/no_turbo", {"turbo": False}, "there is neither .*no_turbo nor .*boost"),
        ("smt/control", {"smt": False}, "there is no .*smt/control"),
        ("none", {"governor": "ondemand"}, "this kernel has no governor `ondemand`; known: perf"),
        ("none", {"cpu_affinity": "0,900"}, "there is no processor 900; there are 0-3"),
        ("none", {"numa": 7}, "there is no node 7; the nodes with memory are 0-1"),
    ],
)
def test_what_cannot_be_set_is_an_error_before_anything_is(
    place: Place, wish: Wish, gone: str, wanted: dict[str, Any], reason: str
) -> None:
    for path in place.root.glob(f"{CPU}/{gone}"):
        path.unlink()
    kept = {} if "turbo" in wanted else {"turbo": False}
    with (
        pytest.raises(SetupError, match=f"the setting {next(iter(wanted))} = .* cannot be applied: {reason}") as caught,
        applied(wish(**wanted, **kept), 1, place),
    ):
        pass
    assert "optional: true" in str(caught.value)
    assert "turbo" in wanted or (place.root / FILES[1]).read_text().strip() == "0"


def test_an_optional_setting_may_be_left_with_a_note(place: Place, wish: Wish) -> None:
    settings = wish(governor={"value": "ondemand", "optional": True}, turbo=False)
    with applied(settings, 1, place) as (governor, turbo):
        assert governor.after is None and "no governor `ondemand`" in (governor.note or "")
        assert turbo.after is False


def test_a_file_that_may_not_be_written_is_refused_with_a_hint(place: Place, wish: Wish) -> None:
    path = place.root / FILES[1]
    path.unlink()
    path.mkdir()  # root may write every file, but no folder
    with pytest.raises(SetupError, match="no_turbo"), applied(wish(turbo=False), 1, place):
        pass


@pytest.mark.parametrize(
    ("error", "words"),
    [(PermissionError(13, "no"), "only root may write .*run it as root"), (OSError(30, "ro"), "set it on the host")],
)
def test_what_would_help_is_said(
    place: Place, wish: Wish, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    def refuse(path: Path, flags: int) -> int:
        raise error

    monkeypatch.setattr("mlmodelscope.provision.setting.lever.os.open", refuse)
    with pytest.raises(SetupError, match=f"(?s){words}"), applied(wish(turbo=False), 1, place):
        pass


def test_half_a_setting_is_taken_back(place: Place, wish: Wish) -> None:
    broken = place.root / CPU / "cpu3/cpufreq/scaling_governor"
    broken.unlink()
    broken.mkdir()
    with applied(wish(governor={"value": "performance", "optional": True}), 1, place) as (done,):
        assert done.note and state(place)[0] == "powersave"


def test_a_machine_that_cannot_be_set_back_is_said(place: Place, wish: Wish) -> None:
    path = place.root / FILES[1]
    with pytest.raises(SetupError, match="could not be set back") as caught, applied(wish(turbo=False), 1, place):
        path.unlink()
        path.mkdir()
    assert "mlmodelscope machine --restore" in str(caught.value)
    path.rmdir()
    path.write_text("1")
    assert restore_left_behind(place) == ["turbo"] and state(place) == BEFORE


def test_a_processor_with_one_thread_a_core_has_smt_off(place: Place, wish: Wish) -> None:
    (place.root / FILES[2]).write_text("notsupported\n")
    with applied(wish(smt=False), 1, place) as (done,):
        assert done.after is False
    with pytest.raises(SetupError, match="no core runs more than one thread"), applied(wish(smt=True), 1, place):
        pass


# Our own process.


def test_a_worker_inherits_the_processors(wish: Wish, tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    last = str(max(before))
    code = "import os; print(sorted(os.sched_getaffinity(0)))"
    with applied(wish(cpu_affinity=last), 1, Place(tmp_path)) as (done,):
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert json.loads(child.stdout) == [int(last)]
    assert os.sched_getaffinity(0) == before
    assert (done.before, done.after) == (spell_cpus(before), last)
    assert not (tmp_path / "machine-settings.json").exists()  # it ends with us


def test_a_worker_inherits_the_memory_of_a_node(wish: Wish, tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    try:
        with applied(wish(numa="0"), 1, Place(tmp_path)) as (done,):
            policies = {line.split()[1] for line in Path("/proc/self/numa_maps").read_text().splitlines()}
            assert done.after == "0" and "bind:0" in policies
        with applied(wish(numa="interleave"), 1, Place(tmp_path)) as (done,):
            assert done.after == "interleave"
    except SetupError as error:
        pytest.skip(f"this machine binds no memory to nodes: {error.message}")
    assert os.sched_getaffinity(0) == before


def test_threads_are_what_the_plan_has(place: Place, wish: Wish) -> None:
    with applied(wish(threads=4), 4, place) as done:
        assert done == (Setting(name="threads", asked=4, after=4),)
    with pytest.raises(SetupError, match="the plan has 2"), applied(wish(threads=4), 2, place):
        pass
    with applied(wish(threads={"value": 4, "optional": True}), 2, place) as (only,):
        assert only.note == "the plan has 2"


def test_nothing_wished_is_nothing_done(place: Place) -> None:
    with applied(None, 1, place) as done:
        assert done == ()
    assert not place.home.exists()


# GPUs.


def test_clocks_are_locked_on_every_gpu_and_let_go(place: Place, wish: Wish, library: FakeNvml) -> None:
    with applied(wish(gpu_clocks={"graphics": 1410, "memory": 2619}), 1, place) as (done,):
        assert library.locked == {"graphics": 1410, "memory": 2619}
    assert done.after == {"graphics": 1405, "memory": 2614} and library.locked == {}


def test_a_gpu_that_idles_may_be_slower_and_says_so(
    place: Place, wish: Wish, library: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlmodelscope.provision.setting.gpu._PATIENCE_S", 0)
    monkeypatch.setattr(library, "_lock", lambda kind, clock, megahertz: 0)  # its clock stays at 345 MHz
    with pytest.raises(SetupError, match="345.* is read back"), applied(wish(gpu_clocks=1410), 1, place):
        pass
    library.throttled = 1
    with applied(wish(gpu_clocks=1410), 1, place) as (done,):
        assert done.after == {"graphics": 345, "idle": True}


def test_one_number_is_the_clock_of_the_cores(place: Place, wish: Wish, library: FakeNvml) -> None:
    with applied(wish(gpu_clocks=1410), 1, place) as (done,):
        assert library.locked == {"graphics": 1410} and done.asked == {"graphics": 1410}


def test_a_driver_that_forbids_it_is_quoted(place: Place, wish: Wish, library: FakeNvml) -> None:
    library.may_set = False
    with pytest.raises(SetupError, match="Insufficient Permissions"), applied(wish(gpu_clocks=1410), 1, place):
        pass
    assert restore_left_behind(place) == []  # nothing was locked


def test_clocks_may_be_optional(place: Place, wish: Wish) -> None:
    wished = wish(gpu_clocks={"value": 1410, "optional": True})
    with applied(wished, 1, replace(place, load_nvml=lambda: FakeNvml(gpus=0))) as (done,):
        assert done.note == "there is no NVIDIA GPU whose driver answers"
