"""A lock names every package with the hashes of the files that fit."""

import hashlib
import io
import platform
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from mlmodelscope.errors import MLModelScopeError, StackError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.manifest.schema.software import Stack
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.pip_settings import IndexSettings
from mlmodelscope.provision.stack import StackStore, lock
from mlmodelscope.provision.stack.interpreter import find_uv
from mlmodelscope.provision.stack.lock import Lock, lock_requirements, lock_stack, package_of
from mlmodelscope.settings import Settings
from provision.stack.wheels import make_wheel

PYTHON = platform.python_version()
RELEASE = f"{sys.version_info.major}.{sys.version_info.minor}"
TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the stories are told from x86_64")
with_uv = pytest.mark.skipif(find_uv() is None, reason="uv is not installed")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    make_wheel(tmp_path / "wheels", "needed", "2.0")
    make_wheel(tmp_path / "wheels", "toy", "1.0", requires="needed")
    return tmp_path / "wheels"


@pytest.fixture
def store(tmp_path: Path) -> StackStore:
    return StackStore(Settings(tmp_path / "home", tmp_path / "cache", offline=True))


def wheel_for(folder: Path, tag: str, requires: str = "") -> Path:
    """A wheel of `toy` for some machines, unlike those for others."""
    plain = make_wheel(folder / "aside", "toy", "1.0", requires)
    with zipfile.ZipFile(plain, "a") as packed:
        packed.comment = tag.encode()
    return plain.rename(folder / plain.name.replace("py3-none-any", tag))


def source_of(folder: Path) -> Path:
    path = folder / "toy-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name, text in (
            ("PKG-INFO", "Metadata-Version: 2.2\nName: toy\nVersion: 1.0\n"),
            ("pyproject.toml", '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'),
        ):
            entry = tarfile.TarInfo(f"toy-1.0/{name}")
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
    return path


def locked(folder: Path, *requirements: str) -> Lock:
    return lock_requirements(requirements, PYTHON, settings=IndexSettings((), (str(folder),), None))


def hashes(*paths: Path) -> str:
    return " ".join("--hash=sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)


@with_uv
def test_what_a_package_needs_is_in_the_lock(wheels: Path) -> None:
    found = locked(wheels, "toy")
    assert found.requirements == (
        f"needed==2.0 {hashes(wheels / 'needed-2.0-py3-none-any.whl')}",
        f"toy==1.0 {hashes(wheels / 'toy-1.0-py3-none-any.whl')}",
    )
    assert found.architectures == ("x86_64", "aarch64")


def test_without_uv_pip_gives_the_same_for_this_machine(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "find_uv", lambda: None)
    found = locked(wheels, "toy")
    assert found.requirements == (
        f"needed==2.0 {hashes(wheels / 'needed-2.0-py3-none-any.whl')}",
        f"toy==1.0 {hashes(wheels / 'toy-1.0-py3-none-any.whl')}",
    )
    assert found.architectures == ("x86_64",) and found.refused == {"aarch64": "only uv can tell"}


@with_uv
def test_files_for_other_pythons_and_systems_are_left_out(tmp_path: Path) -> None:
    tags = (f"{TAG}-{TAG}-manylinux_2_17_x86_64", f"{TAG}-{TAG}-manylinux_2_28_aarch64")
    fitting = [wheel_for(tmp_path, tag) for tag in tags]
    for tag in ("cp36-cp36m-manylinux_2_17_x86_64", f"{TAG}-{TAG}-win_amd64", f"{TAG}-{TAG}-macosx_11_0_arm64"):
        wheel_for(tmp_path, tag)
    assert locked(tmp_path, "toy").requirements == (f"toy==1.0 {hashes(*fitting)}",)


@with_uv
def test_what_one_architecture_needs_is_marked(wheels: Path) -> None:
    folder = wheels.parent / "more"
    for name in wheels.glob("needed*"):
        wheel_for(folder, f"{TAG}-{TAG}-manylinux_2_17_x86_64", requires="needed")
        wheel_for(folder, f"{TAG}-{TAG}-manylinux_2_17_aarch64")
        name.rename(folder / name.name)
    needed, toy = locked(folder, "toy").requirements
    assert needed.startswith('needed==2.0 ; platform_machine == "x86_64" --hash=sha256:')
    assert toy.startswith("toy==1.0 --hash")


@with_uv
def test_an_architecture_without_a_file_is_left_out_with_the_reason(tmp_path: Path) -> None:
    wheel_for(tmp_path, f"{TAG}-{TAG}-manylinux_2_17_x86_64")
    found = locked(tmp_path, "toy==1.0")
    assert found.architectures == ("x86_64",)
    assert "toy==1.0 has no wheels" in found.refused["aarch64"]


@with_uv
def test_this_machine_without_a_file_is_an_error(tmp_path: Path) -> None:
    wheel_for(tmp_path, f"{TAG}-{TAG}-manylinux_2_17_aarch64")
    with pytest.raises(StackError, match=r"cannot be locked:\n.*toy==1\.0 has no wheels"):
        locked(tmp_path, "toy==1.0")


@with_uv
def test_what_others_have_ready_is_compiled_nowhere_else(tmp_path: Path) -> None:
    wheel = wheel_for(tmp_path, f"{TAG}-{TAG}-manylinux_2_17_x86_64")
    source_of(tmp_path)
    found = locked(tmp_path, "toy==1.0")
    assert found.refused == {"aarch64": "no wheel for aarch64: toy==1.0"}
    assert found.requirements == (f"toy==1.0 {hashes(wheel)}",)


@with_uv
def test_a_source_is_taken_where_there_is_no_wheel_at_all(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    found = locked(tmp_path, "toy==1.0")
    assert found.requirements == (f"toy==1.0 {hashes(source)}",) and not found.refused


@with_uv
def test_an_exact_requirement_stays_exact(wheels: Path) -> None:
    make_wheel(wheels, "toy", "1.0+cpu")
    assert locked(wheels, "toy===1.0").requirements[1].startswith("toy===1.0 --hash")


def test_a_stack_is_locked_to_what_is_in_it(wheels: Path) -> None:
    make_wheel(wheels, "needed", "3.0")
    stack = Stack(requirements=("toy",), find_links=(str(wheels),), system_packages=("libtoy1",))
    described, _ = lock_stack(stack, PYTHON, {"needed": "2.0", "toy": "1.0"}, offline=True)
    assert [line.partition(" --")[0] for line in described.pop("requirements")] == ["needed==2.0", "toy==1.0"]
    described.pop("architecture", None)  # where there is no uv
    assert described == {"python": RELEASE, "find_links": [str(wheels)], "system_packages": ["libtoy1"]}


def test_what_was_pinned_stays_as_it_was_written(wheels: Path) -> None:
    """CNTK 2.7.post2 calls itself 2.7."""
    stack = Stack(requirements=(f"toy==1.0 --hash=sha256:{'0' * 64}",), find_links=(str(wheels),))
    described, _ = lock_stack(stack, PYTHON, {"needed": "2.0", "toy": "0.9"}, offline=True)
    assert described["requirements"][1] == f"toy==1.0 {hashes(wheels / 'toy-1.0-py3-none-any.whl')}"


def test_a_lock_builds_the_stack_again(wheels: Path, store: StackStore) -> None:
    recipe = StackRecipe(python=PYTHON, requirements=locked(wheels, "toy").requirements, find_links=(str(wheels),))
    assert {"toy": "1.0", "needed": "2.0"}.items() <= store.build(recipe, "toys").packages.items()


def test_other_bytes_than_the_locked_ones_are_refused_by_name(wheels: Path, store: StackStore) -> None:
    lines = locked(wheels, "toy").requirements
    other = wheels.parent / "other"
    make_wheel(other, "needed", "2.0", requires="toy")
    (other / "toy-1.0-py3-none-any.whl").write_bytes((wheels / "toy-1.0-py3-none-any.whl").read_bytes())
    with pytest.raises(MLModelScopeError, match=r"(?is)hash.*needed==2\.0|needed==2\.0.*hash"):
        store.build(StackRecipe(python=PYTHON, requirements=lines, find_links=(str(other),)), "toys")


def test_a_package_that_is_missing_from_the_lock_is_not_installed_unseen(wheels: Path, store: StackStore) -> None:
    (toy,) = (line for line in locked(wheels, "toy").requirements if line.startswith("toy"))
    with pytest.raises(MLModelScopeError, match="(?is)hash.*needed|needed.*hash"):
        store.build(StackRecipe(python=PYTHON, requirements=(toy,), find_links=(str(wheels),)), "toys")


def test_a_shipped_manifest_is_locked_altogether_or_not_at_all() -> None:
    """The installer demands hashes where every line has one: a forgotten one would turn that off."""
    for entry in list_catalog("software"):
        stack = find_manifest(SoftwareManifest, entry.path).stack
        lines = stack.requirements if stack else ()
        assert len({"--hash=sha256:" in line for line in lines}) < 2, entry.name


@pytest.mark.parametrize("package", ["torch", "torchvision"])
def test_no_locked_stack_leaves_open_which_build_of_pytorch_it_means(package: str) -> None:
    """2.13.0+cpu of another index satisfies `==2.13.0`, and has none of the hashes."""
    for entry in list_catalog("software"):
        stack = find_manifest(SoftwareManifest, entry.path).stack
        for line in stack.requirements if stack else ():
            assert package_of(line) != package or line.startswith(f"{package}==="), f"{entry.name}: {line[:40]}"
