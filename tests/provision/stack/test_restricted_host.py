"""Containers where the host does not let engines set limits; errors of engines; images without packages' metadata."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mlmodelscope.errors import StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack import Needs, StackStore
from mlmodelscope.provision.stack.container import find_python
from mlmodelscope.provision.stack.engine import Docker, engine_error, find_engine, is_about_limits, modest_limits
from mlmodelscope.provision.stack.provisioner import Launch, Progress
from mlmodelscope.settings import Settings

ENGINE = """#!/bin/sh
# As podman 4.3 in a virtual machine whose root may not raise limits.
case "$*" in
  *"image inspect"*) echo '[{"Id": "sha256:5"}]'; exit 0 ;;
esac
echo "$*" >> "$0.log"
case "$*" in
  *--ulimit=nofile=*--ulimit=nproc=*) ;;
  *) echo "Error: runc: runc create failed: unable to start container process: error during container init: \
error setting rlimits for ready process: error setting rlimit type 7: operation not permitted: OCI permission \
denied" >&2
     exit 126 ;;
esac
case "$*" in
  *"command -v"*) echo /usr/bin/python3 ;;
  *describe*) echo '{"python": "3.11.2", "architecture": "x86_64", "packages": {"numpy": "1.24.2"}}' ;;
  *unpackaged_modules*) echo '{}' ;;
esac
"""


def engine_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    place = tmp_path / "docker"
    place.write_text(script)
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("MLMODELSCOPE_CONTAINER_ENGINE", str(place))
    monkeypatch.delenv("MLMODELSCOPE_CONTAINER_OPTIONS", raising=False)
    return place


def test_limits_that_may_not_be_raised_are_kept_and_that_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = engine_at(tmp_path, monkeypatch, ENGINE)
    store, told = StackStore(Settings(tmp_path / "home", tmp_path / "cache")), list[str]()
    recipe = StackRecipe(python="*", image="some/image@sha256:5")
    stack = store.build(recipe, "image", told.append)
    assert stack.packages == {"numpy": "1.24.2"} and any("may not raise limits here" in line for line in told)
    first, *later = Path(f"{place}.log").read_text().splitlines()
    assert "--ulimit" not in first and all("--ulimit=nofile=" in line for line in later)
    again = store.find(recipe)  # as another process would
    assert again is not None and "--ulimit=nproc=" in " ".join(again.launch(("-V",), Needs()).command)


def test_podman_without_the_right_to_raise_limits_is_not_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlmodelscope.provision.stack.engine.may_raise_limits", lambda: False)
    command = Docker(("podman",), is_podman=True).launch(Path("/"), ("true",), Needs(), {}).command
    most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 4096)
    assert f"--ulimit=nofile={most}:{most}" in command
    assert not any(
        "ulimit" in each for each in Docker(("docker",), is_podman=False).launch("i", (), Needs(), {}).command
    )
    monkeypatch.setenv("MLMODELSCOPE_CONTAINER_OPTIONS", "--ulimit nofile=512:512")
    command = Docker(("podman",), is_podman=True).launch("i", ("true",), Needs(), {}).command
    assert not any(each.startswith("--ulimit=") for each in command), "a user's own limits are all there are"


@pytest.mark.parametrize(("hard", "most"), [(resource.RLIM_INFINITY, 4096), (1 << 20, 4096), (1000, 1000)])
def test_modest_limits_are_never_above_those_of_this_process(
    monkeypatch: pytest.MonkeyPatch, hard: int, most: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (512, hard))
    assert modest_limits() == [f"--ulimit=nofile={most}:{most}", f"--ulimit=nproc={most}:{most}"]


@pytest.mark.parametrize(
    ("code", "said", "shown"),
    [
        (125, "Error: short-name resolution enforced\n", "short-name resolution enforced"),
        (125, "", "it says nothing"),
        (126, "warning: x\nError: runc: permission denied\n", "runc: permission denied"),
        (127, 'docker: Error response from daemon: "sh": not found.\n', 'Error response from daemon: "sh": not found.'),
        (127, "", None),  # a shell that finds no Python ends so, too
        (1, "Error: of the program", None),
        (137, "Error: killed", None),
    ],
)
def test_the_engine_is_quoted_where_the_program_never_ran(code: int, said: str, shown: str | None) -> None:
    assert engine_error(code, said) == shown


def test_the_headline_is_what_the_engine_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine_at(tmp_path, monkeypatch, "#!/bin/sh\necho 'Error: no space left on device' >&2\nexit 125\n")
    with pytest.raises(StackError) as caught:
        find_python(find_engine(), "some/image:1")
    assert caught.value.message == "docker cannot start a program in some/image:1: no space left on device"
    engine_at(tmp_path, monkeypatch, "#!/bin/sh\nexit 127\n")
    with pytest.raises(StackError, match="^no Python was found in some/image:1"):
        find_python(find_engine(), "some/image:1")


def test_limits_refused_for_another_reason_are_not_tried_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = engine_at(
        tmp_path, monkeypatch, '#!/bin/sh\necho "$*" >> "$0.log"\necho "Error: bad rlimit" >&2\nexit 125\n'
    )
    with pytest.raises(StackError, match="bad rlimit"):
        find_python(find_engine(), "some/image:1")
    assert len(Path(f"{place}.log").read_text().splitlines()) == 1 and not is_about_limits("bad rlimit")


def test_a_real_podman_runs_here_whatever_it_may_set(small_image: str) -> None:
    launch = find_engine().launch(small_image, ("sh", "-c", "ulimit -n; echo ran"), Needs(), {})
    done = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, text=True, check=False)
    if done.returncode and not is_about_limits(done.stderr):
        pytest.skip(f"podman may not run anything here: {done.stderr.strip()[-200:]}")
    assert done.stdout.splitlines()[-1:] == ["ran"], done.stderr


def test_a_real_image_without_python_says_so(small_image: str) -> None:
    with pytest.raises(StackError) as caught:
        find_python(find_engine(), small_image)
    if "cannot start a program" in caught.value.message:
        pytest.skip(f"podman may not run anything here: {caught.value.message[-200:]}")
    assert caught.value.message.startswith(f"no Python was found in {small_image}")


# Frameworks that no package's metadata tells of.


class Here:
    """This Python as the one of a root file system, with a folder of modules that nobody packaged."""

    def __init__(self, modules: Path) -> None:
        self._modules = modules

    def build(self, recipe: StackRecipe, folder: Path, progress: Progress) -> None:
        folder.mkdir(parents=True)

    def launch(self, recipe: StackRecipe, folder: Path, arguments: tuple[str, ...], needs: Needs) -> Launch:
        return Launch((sys.executable, *arguments), {**os.environ, "PYTHONPATH": str(self._modules)}, is_confined=True)

    def system_packages(self, folder: Path) -> dict[str, str]:
        return {}

    def is_whole(self, folder: Path) -> bool:
        return True


def test_frameworks_without_metadata_are_asked_for_their_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = tmp_path / "modules"
    for name, code in {
        "caffe": "__version__ = '1.0.0'",
        "mxnet": "import os; os.kill(os.getpid(), 11)",
        "cntk": "raise ImportError('no library')",
        "tensorrt": "",
        "xgboost": "print('noise'); __version__ = 'v2.1.0-dev+abc'",
        "numpy": "__version__ = '9.9'",
    }.items():
        (modules / name).mkdir(parents=True)
        (modules / name / "__init__.py").write_text(code)
    (modules / "jax").mkdir()  # a folder without code
    monkeypatch.setattr(StackStore, "provisioner", lambda store, recipe: Here(modules))
    store = StackStore(Settings(tmp_path / "home", tmp_path / "cache"))
    packages = store.build(StackRecipe(python="*", root="/some/root"), "root").packages
    assert packages["caffe"] == "1.0.0" and packages["xgboost"] == "2.1.0"
    assert not {"mxnet", "cntk", "tensorrt", "jax"} & packages.keys()
    assert packages["numpy"] != "9.9", "what has metadata is what that says"
