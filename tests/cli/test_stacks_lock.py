"""`stacks lock`: a manifest that gives the same stack again, or says which file is another."""

import os
import platform
from pathlib import Path

import pytest

from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.schema import SoftwareManifest
from provision.stack.wheels import make_wheel

from .command import Run


@pytest.fixture
def stacks(run: Run, tmp_path: Path, environment: dict[str, str]) -> Run:
    """The verb, in a folder with a manifest of a stack and without any package index."""
    make_wheel(tmp_path / "wheels", "needed", "2.0")
    make_wheel(tmp_path / "wheels", "toy", "1.0", requires="needed")
    release = ".".join(platform.python_version_tuple()[:2])
    (tmp_path / "toys.yml").write_text(
        f"name: toys\nversion: 1.0.0\nframework: {{name: toy, version: '1'}}\nenv: {{OMP_NUM_THREADS: '1'}}\n"
        f"stack:\n  python: '{release}'\n  requirements: [toy]\n  find_links: [{tmp_path / 'wheels'}]\n"
    )
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}
    # Packages from a folder that a manifest names are other people's code.
    return lambda *words: run("stacks", *words, "--trust")


def test_a_locked_stack_is_the_same_stack(stacks: Run, tmp_path: Path) -> None:
    assert stacks("lock", "toys.yml", "-o", "locked.yml").stdout == "wrote locked.yml\n"
    locked = find_manifest(SoftwareManifest, tmp_path / "locked.yml")
    assert locked.env == {"OMP_NUM_THREADS": "1"} and locked.framework is not None and locked.stack is not None
    assert [line.partition(" --hash=sha256:")[0] for line in locked.stack.requirements] == ["needed==2.0", "toy==1.0"]
    assert stacks("diff", "toys.yml", "locked.yml").stdout == "the same packages\n"


def test_a_locked_stack_takes_no_other_file(stacks: Run, tmp_path: Path) -> None:
    stacks("lock", "toys.yml", "-o", "locked.yml")
    text = (tmp_path / "locked.yml").read_text()
    before, mark, digest = text.partition("needed==2.0 --hash=sha256:")
    (tmp_path / "locked.yml").write_text(before + mark + ("0" if digest[0] != "0" else "1") + digest[1:])
    done = stacks("build", "locked.yml")
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "needed" in done.stderr and "hash" in done.stderr.lower()


def test_a_file_that_is_there_is_not_overwritten(stacks: Run, tmp_path: Path) -> None:
    done = stacks("lock", "toys.yml", "-o", "toys.yml")
    assert done.returncode != 0 and "toys.yml is there already" in done.stderr
