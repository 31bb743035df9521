"""Stacks in containers: with a real engine where there is one, by their command lines for those that are not."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlmodelscope.errors import StackError, TrustError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import Images, ModelManifest
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack import Needs, StackStore, choose_stack
from mlmodelscope.provision.stack.choose import find_image
from mlmodelscope.provision.stack.container import pin_image
from mlmodelscope.provision.stack.engine import Apptainer, Docker, find_engine
from mlmodelscope.settings import Settings
from provision.stack.running import environment_of

NAME = "localhost/mlmodelscope-test:1"
NEEDS = Needs(reads=(Path("/data"),), writes=(Path("/data/out"),), folder=Path("/data/out"), gpu=True)


# What each engine is told.


def test_docker_is_told_to_close_everything_that_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    launch = Docker(("docker",), is_podman=False).launch("image@sha256:1", ("python3", "-c", "pass"), NEEDS, {"A": "b"})
    command = list(launch.command)
    assert command[-4:] == ["image@sha256:1", "python3", "-c", "pass"]
    for option in ("--network=none", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--gpus=all"):
        assert option in command
    assert f"--user={os.getuid()}:{os.getgid()}" in command and "--env=A=b" in command
    assert "--mount=type=bind,source=/data,target=/data,readonly" in command
    assert "--mount=type=bind,source=/data/out,target=/data/out" in command
    assert command.index("--mount=type=bind,source=/data,target=/data,readonly") < command.index(
        "--mount=type=bind,source=/data/out,target=/data/out"
    )
    name = next(each for each in command if each.startswith("--name=")).partition("=")[2]
    assert launch.stop == ("docker", "rm", "--force", name)


def test_podman_maps_its_user_and_names_gpus_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command = Docker(("podman",), is_podman=True).launch("image", ("python3",), NEEDS, {}).command
    assert "--userns=keep-id" in command and "--device=nvidia.com/gpu=all" in command


def test_apptainer_speaks_otherwise() -> None:
    command = Apptainer(("apptainer",)).launch("image@sha256:1", ("python3",), NEEDS, {"A": "b"}).command
    assert command[-2:] == ("docker://image@sha256:1", "python3")
    assert {"--containall", "--cleanenv", "--nv", "/data:/data:ro", "/data/out:/data/out", "A=b"} <= set(command)


def test_apptainer_wants_a_digest() -> None:
    with pytest.raises(StackError, match=r"cannot say which some/image:1"):
        Apptainer(("apptainer",)).resolve("some/image:1", offline=False)


def test_options_of_the_users_own_go_to_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLMODELSCOPE_CONTAINER_OPTIONS", "--runtime runc")
    command = Docker(("docker",), is_podman=False).launch("image", ("python3",), Needs(), {}).command
    assert command[-4:] == ("--runtime", "runc", "image", "python3")


def test_a_machine_without_an_engine_says_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLMODELSCOPE_CONTAINER_ENGINE", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StackError, match="no container engine") as caught:
        find_engine()
    assert "podman" in (caught.value.hint or "")


def test_a_client_without_its_service_is_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.delenv("MLMODELSCOPE_CONTAINER_ENGINE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StackError, match="docker is here but does not answer"):
        find_engine()


def test_the_image_is_chosen_by_architecture_and_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    images = {"ppc64le": Images(cpu="power"), "amd64": Images(cpu="cpu", gpu="gpu")}
    assert find_image(images, gpu=False) == "cpu" and find_image(images, gpu=True) == "gpu"
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert find_image(images, gpu=False) is None and find_image({"any": Images(cpu="all")}, gpu=False) == "all"


def test_an_image_that_a_manifest_names_needs_trust(tmp_path: Path) -> None:
    model = load_manifest(
        {
            "name": "net",
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": "onnxruntime", "version": ">=99"},
            "inputs": [{"type": "image"}],
            "outputs": [{"type": "probability"}],
            "source": {"graph_path": "net.onnx"},
            "container": {"any": {"cpu": "somebody/image:1"}},
        }
    )
    assert isinstance(model, ModelManifest)
    with pytest.raises(TrustError, match="somebody/image:1, which is not trusted"):
        choose_stack(model, None, Settings(tmp_path / "home", tmp_path / "cache"))


# A real engine.


@pytest.fixture(scope="module")
def image_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Debian with Python and NumPy."""
    if shutil.which("mmdebstrap") is None:
        pytest.skip("there is no mmdebstrap here, which makes the image")
    from mlmodelscope.provision.stack.debian import _mirror

    path = tmp_path_factory.mktemp("image") / "image.tar"
    folders = '--customize-hook=mkdir -p "$1"/proc "$1"/sys "$1"/tmp "$1"/dev'
    command = ["mmdebstrap", "--quiet", "--variant=extract", "--include=python3,python3-numpy,dash,coreutils"]
    command += ['--extract-hook=mkdir -p "$1"/proc "$1"/sys; ln -sf dash "$1"/bin/sh', folders]
    done = subprocess.run([*command, "bookworm", str(path), *_mirror()], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"Debian's packages cannot be had: {done.stderr.strip()[-200:]}")
    return path


@pytest.fixture
def image(podman: list[str], image_archive: Path) -> Iterator[str]:
    subprocess.run([*podman, "import", str(image_archive), NAME], capture_output=True, check=True)
    try:
        launch = find_engine().launch(NAME, ("sh", "-c", "exit 0"), Needs(), {})
        tried = subprocess.run(
            launch.command, env=dict(launch.environment), capture_output=True, text=True, check=False
        )
        if tried.returncode:
            pytest.skip(f"podman is here but may not run anything: {tried.stderr.strip()[-200:]}")
        yield NAME
    finally:
        subprocess.run([*podman, "rmi", "--force", NAME], capture_output=True, check=False)


@pytest.fixture
def store(tmp_path: Path) -> StackStore:
    return StackStore(Settings(tmp_path / "home", tmp_path / "cache", offline=True))


LINEAR_ALGEBRA = {"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu/blas:/usr/lib/x86_64-linux-gnu/lapack"}
"""Where an unpacked Debian has them, whose own scripts never ran."""


@pytest.mark.slow(reason="a Debian is unpacked and made into an image")
def test_a_worker_runs_in_a_container_that_has_no_network_and_cannot_be_written_to(
    image: str, store: StackStore, tmp_path: Path, podman: list[str]
) -> None:
    pinned = pin_image(image, offline=True)
    assert "@sha256:" in pinned
    stack = store.build(StackRecipe(python="*", image=pinned), image)
    assert stack.packages["numpy"].startswith("1.24")
    assert environment_of(stack, Needs(environment=LINEAR_ALGEBRA))["python"] == stack.version
    code = (
        "import os, socket\n"
        "for path in ('/usr/new', '/etc/new'):\n"
        "    try: open(path, 'w'); print('written')\n"
        "    except OSError: print('read-only')\n"
        "print(sorted(os.listdir('/sys/class/net')) if os.path.exists('/sys/class/net') else ['lo'])\n"
    )
    launch = stack.launch(("-c", code), Needs())
    done = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["read-only", "read-only", "['lo']"]
    listed = subprocess.run([*podman, "ps", "--all", "--quiet"], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == ""


def test_an_image_without_a_shell_says_so(podman: list[str], tmp_path: Path, store: StackStore) -> None:
    (tmp_path / "root").mkdir()
    subprocess.run(["tar", "-C", str(tmp_path / "root"), "-cf", str(tmp_path / "empty.tar"), "."], check=True)
    name = "localhost/mlmodelscope-empty:1"
    subprocess.run([*podman, "import", str(tmp_path / "empty.tar"), name], capture_output=True, check=True)
    try:
        with pytest.raises(StackError, match=r"podman cannot start a program in .*: .*sh"):
            store.build(StackRecipe(python="*", image=pin_image(name, offline=True)), name)
    finally:
        subprocess.run([*podman, "rmi", "--force", name], capture_output=True, check=False)
