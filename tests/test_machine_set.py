"""An evaluation on a machine that its hardware manifest has set: recorded, needing trust, and set back."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Options, Record, Settings, Store, evaluate, load_manifest, running
from mlmodelscope.errors import SetupError, TrustError, UsageError
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest
from mlmodelscope.provision.setting import Place
from mlmodelscope.provision.setting.journal import Journal

Run = Callable[..., Record]


def hardware(**settings: Any) -> HardwareManifest:
    found = load_manifest({"kind": "hardware", "name": "h", "version": "1.0.0", "settings": settings})
    assert isinstance(found, HardwareManifest)
    return found


@pytest.fixture
def run(
    settings: Settings,
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Callable[..., Path],
) -> Run:
    model, dataset = make_model(), make_dataset(make_pictures(count=4))

    def evaluate_on(machine: HardwareManifest | None, options: Options | None = None, **more: Any) -> Record:
        return evaluate(model, dataset, options, hardware=machine, settings=settings, **more)

    return evaluate_on


def no_frequencies(root: Path) -> Path:
    (root / "sys/devices/system/cpu").mkdir(parents=True)
    return root


def test_a_worker_runs_on_the_processors_that_were_chosen(run: Run) -> None:
    last = str(max(os.sched_getaffinity(0)))
    record = run(hardware(cpu_affinity=last))
    assert [(each.name, each.after) for each in record.settings] == [("cpu_affinity", last)]
    assert record.machine.cores == len(os.sched_getaffinity(0))  # as it was before, and is again
    assert record.plan_digest != run(None).plan_digest


def test_the_store_answers_the_same_settings_again(run: Run) -> None:
    assert run(hardware(cpu_affinity="0")).id == run(hardware(cpu_affinity="0")).id


def test_threads_are_the_manifests_where_the_command_says_nothing(run: Run) -> None:
    record = run(hardware(threads=2))
    assert record.plan.predictor.options["threads"] == 2 and record.settings[0].after == 2
    with pytest.raises(UsageError, match="h@1.0.0 sets 2 threads, the command 3"):
        run(hardware(threads=2), Options(threads=3))
    left = run(hardware(threads={"value": 2, "optional": True}), Options(threads=3))
    assert left.notes == ("threads = 2 was not set: the plan has 3",)


def test_what_others_feel_needs_trust(run: Run) -> None:
    with pytest.raises(TrustError, match="h@1.0.0 carries machine-setting code that is not trusted: settings"):
        run(hardware(governor="performance"))


def test_what_cannot_be_set_ends_it_and_leaves_no_record(
    run: Run, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = no_frequencies(tmp_path / "root")
    monkeypatch.setattr(running, "Place", lambda home, **more: Place(home, root, **more))
    with pytest.raises(SetupError, match="the setting turbo = False cannot be applied"):
        run(hardware(turbo=False), trust=True)
    assert Store(settings).list() == []
    record = run(hardware(turbo={"value": False, "optional": True}), trust=True)
    assert record.status == "finished" and "turbo = False was not set: there is neither" in record.notes[0]


def test_a_run_that_was_killed_is_set_back_before_the_machine_is_looked_at(
    run: Run, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    turbo = root / "sys/devices/system/cpu/intel_pstate/no_turbo"
    turbo.parent.mkdir(parents=True)
    turbo.write_text("1\n")
    monkeypatch.setattr(running, "Place", lambda home, **more: Place(home, root, **more))
    settings.home.mkdir(parents=True, exist_ok=True)
    Journal(settings.home, root).write({"turbo": {str(turbo): "0"}})
    run(None)
    assert turbo.read_text() == "0" and not Journal(settings.home, root).is_there


def test_an_old_record_has_no_settings(run: Run) -> None:
    record = run(None)
    old = record.model_dump(mode="json", exclude={"settings": True, "machine": {"details"}, "plan": {"settings"}})
    assert Record.model_validate(old).settings == () and Record.model_validate(old).plan.digest == record.plan_digest


def test_a_record_with_settings_is_kept(run: Run, settings: Settings) -> None:
    record = run(hardware(cpu_affinity="0", numa={"value": 99, "optional": True}))
    found = Store(settings).get(record.id)
    assert found.settings == record.settings and found.plan.settings == record.plan.settings
