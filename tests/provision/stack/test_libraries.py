"""Libraries that packages expect of the operating system."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlmodelscope.errors import OfflineError, StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack import Needs, StackStore
from mlmodelscope.provision.stack.architecture import find_architecture
from mlmodelscope.settings import Settings

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
TRIPLET = find_architecture(None).triplet
SMALL = "libcaca0"  # a library that few machines have, with few dependencies


@pytest.fixture
def store(tmp_path: Path) -> StackStore:
    return StackStore(Settings(tmp_path / "home", tmp_path / "cache"))


def test_a_library_gets_the_name_that_it_is_asked_for_by(store: StackStore) -> None:
    recipe = StackRecipe(python=HERE, library_names={"libold.so.1": "libc.so.6"})
    stack = store.build(recipe, "toys")
    launch = stack.launch(("-c", "import ctypes; print(ctypes.CDLL('libold.so.1').getpid())"), Needs())
    said = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, text=True, check=True)
    assert said.stdout.strip().isdigit()
    assert os.readlink(stack.folder / "library_names" / "libold.so.1").endswith("libc.so.6")


def test_a_library_that_is_nowhere_is_named(store: StackStore) -> None:
    with pytest.raises(StackError, match=r"libnowhere\.so\.9, which is to be called libold\.so\.1"):
        store.build(StackRecipe(python=HERE, library_names={"libold.so.1": "libnowhere.so.9"}), "toys")
    assert not list(store.list())


def test_system_packages_are_unpacked_inside_the_stack(store: StackStore) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("this machine has no apt")
    if shutil.which("dpkg-query") and not subprocess.run(["dpkg-query", "-W", SMALL], capture_output=True).returncode:
        pytest.skip(f"{SMALL} is installed here")
    try:
        stack = store.build(StackRecipe(python=HERE, system_packages=(SMALL,)), "toys")
    except StackError as error:
        pytest.skip(f"Debian's packages cannot be had: {error.message.splitlines()[-1]}")
    launch = stack.launch(("-c", "import ctypes; print(ctypes.CDLL('libcaca.so.0')._name)"), Needs())
    said = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "libcaca.so.0"
    assert (stack.folder / "system/usr/lib" / TRIPLET).is_dir()


def test_system_packages_need_the_network(tmp_path: Path) -> None:
    store = StackStore(Settings(tmp_path / "home", tmp_path / "cache", offline=True))
    if shutil.which("apt-get") is None:
        pytest.skip("this machine has no apt")
    with pytest.raises(OfflineError, match="no-such-package"):
        store.build(StackRecipe(python=HERE, system_packages=("no-such-package",)), "toys")


def test_a_package_that_nobody_has_is_named(store: StackStore) -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("this machine has no apt")
    with pytest.raises(StackError, match="no-such-package"):
        store.build(StackRecipe(python=HERE, system_packages=("no-such-package",)), "toys")


def test_a_stack_for_another_machine_is_refused(store: StackStore) -> None:
    other = "ppc64le" if TRIPLET.startswith("x86") else "x86_64"
    with pytest.raises(StackError, match=f"the stack is for {other}"):
        store.build(StackRecipe(python=HERE, architecture=other), "toys")
