"""lm-evaluation-harness and we give the same numbers; needs an environment with both (tools/language_peer.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PEER = os.environ.get("MLMODELSCOPE_LM_EVAL", "")
LM = Path(os.environ.get("MLMODELSCOPE_SHARED") or ROOT.parent / "shared") / "tasks" / "lm"
sys.path.insert(0, str(ROOT / "tools"))

from language_peer import Compared  # noqa: E402
from language_peer_tasks import TASKS, write_tasks  # noqa: E402

from mlmodelscope.manifest.load import open_document  # noqa: E402


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_of_the_comparison_is_read(name: str, tmp_path: Path) -> None:
    write_tasks(tmp_path, [name], 4)
    found = open_document(tmp_path / f"{name}.yaml").manifest()
    assert found.name == f"peer_{name}" and found.attributes["lm_eval"]["metrics"]


def test_what_differs_does_not_agree() -> None:
    assert Compared("a", {"acc": 0.5}, {"acc": 0.5}, 1e-5, 0).agrees
    for ours, apart, texts in (({"acc": 0.6}, 0.0, 0), ({}, 0.0, 0), ({"acc": 0.5}, 1e-3, 0), ({"acc": 0.5}, 0.0, 1)):
        assert not Compared("a", {"acc": 0.5}, ours, apart, texts).agrees
    assert Compared("a", {"perplexity": 1000.0}, {"perplexity": 1000.01}, 2e-5, 0).agrees
    assert not Compared("a", {"perplexity": 1000.0}, {"perplexity": 1000.1}, 2e-5, 0).agrees
    assert not Compared("a", {}, {}, 0.0, 0).agrees


@pytest.mark.nightly
@pytest.mark.shared
@pytest.mark.slow(reason="a process with PyTorch for each of many tasks")
@pytest.mark.skipif(not PEER, reason="MLMODELSCOPE_LM_EVAL names no Python with lm_eval and torch")
@pytest.mark.skipif(not LM.is_dir(), reason="needs stories260K")
def test_the_harness_and_we_agree(tmp_path: Path) -> None:
    made = [str(LM / "stories260K.bin"), str(LM / "tok512.bin"), str(tmp_path / "model")]
    subprocess.run([PEER, ROOT / "tools" / "stories_model.py", *made], check=True)
    command = [sys.executable, ROOT / "tools" / "language_peer.py", tmp_path / "model", "--work", tmp_path / "work"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
