"""Stacks inside root file systems: unpacked, described, entered in every way that this machine allows."""

import io
import os
import platform
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from mlmodelscope.errors import ArtifactError, OfflineError, StackError
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack import Built, Needs, StackStore
from mlmodelscope.provision.stack.architecture import find_architecture
from mlmodelscope.provision.stack.debian import packages_of
from mlmodelscope.provision.stack.root import unpack_root
from mlmodelscope.provision.stack.root_files import find_python, library_path
from mlmodelscope.settings import Settings
from plugins.packages import step_named
from provision.stack.running import environment_of

TRIPLET = find_architecture(None).triplet


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


# What lies where.


def test_of_several_makes_of_one_library_the_fastest_comes_first(tmp_path: Path) -> None:
    libraries = tmp_path / "usr/lib" / TRIPLET
    touch(libraries / "blas/libblas.so.3", libraries / "openblas-pthread/libblas.so.3", libraries / "libz.so.1")
    touch(libraries / "odbc/libmyodbc.so", libraries / "gconv/readme", tmp_path / "lib" / TRIPLET / "libc.so.6")
    found = [str(each) for each in library_path(tmp_path, find_architecture(None))]
    here = f"usr/lib/{TRIPLET}"
    assert found == [f"{here}/openblas-pthread", f"{here}/blas", f"lib/{TRIPLET}", here, "usr/lib", f"{here}/odbc"]


def test_the_newest_python_is_found(tmp_path: Path) -> None:
    touch(*(tmp_path / "usr/bin" / name for name in ("python3.9", "python3.11", "python3.11-config", "python3")))
    assert find_python(tmp_path).name == "python3.11"


def test_a_root_without_python_says_so(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="no Python 3"):
        find_python(tmp_path)


def test_packages_are_read_as_debian_keeps_them(tmp_path: Path) -> None:
    status = tmp_path / "root/var/lib/dpkg/status"
    touch(status)
    status.write_text(
        "Package: a\nStatus: install ok installed\nVersion: 1:2.0-1\n\n"
        "Package: b\nStatus: deinstall ok config-files\nVersion: 3\n"
    )
    assert packages_of(tmp_path) == {"a": "1:2.0-1"}


# Archives of root file systems are other people's.


def archive(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w") as packed:
        for member in members:
            packed.addfile(member, io.BytesIO(b"x" * member.size) if member.isfile() else None)
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


def test_links_stay_as_they_are_and_devices_are_left_out(tmp_path: Path) -> None:
    unpack_root(
        archive(
            tmp_path / "root.tar",
            member("usr/bin/tool", size=3),
            member("bin", tarfile.SYMTYPE, "usr/bin"),
            member("etc/absolute", tarfile.SYMTYPE, "/usr/bin/tool"),
            member("dev/null", tarfile.CHRTYPE),
        ),
        tmp_path / "root",
    )
    root = tmp_path / "root"
    assert (root / "bin/tool").read_bytes() == b"xxx" and os.readlink(root / "etc/absolute") == "/usr/bin/tool"
    assert not (root / "dev/null").exists()


@pytest.mark.parametrize(
    "members",
    [
        [member("../outside", size=1)],
        [member("out", tarfile.SYMTYPE, ".."), member("out/outside", size=1)],
        [member("out", tarfile.SYMTYPE, "/"), member("out/outside", size=1)],
        [member("out", tarfile.LNKTYPE, "../../root.tar"), member("out", size=1)],
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a Python that has filters wants one to be named
@pytest.mark.parametrize("filters", [True, False])
def test_a_member_that_would_land_outside_is_refused(
    tmp_path: Path, members: list[tarfile.TarInfo], filters: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the filters of tarfile, and as with a Python that has none."""
    if not filters:
        monkeypatch.setattr("mlmodelscope.provision.stack.root._FILTERS", False)
    target = tmp_path / "a" / "root"
    with pytest.raises(ArtifactError, match="cannot be unpacked"):
        unpack_root(archive(tmp_path / "root.tar", *members), target)
    assert not (tmp_path / "a" / "outside").exists() and not Path("/outside").exists()


def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "root.tar").write_bytes(b"no tar")
    with pytest.raises(ArtifactError, match="root.tar cannot be unpacked"):
        unpack_root(tmp_path / "root.tar", tmp_path / "root")


def test_a_release_needs_the_network(tmp_path: Path) -> None:
    store = StackStore(Settings(tmp_path / "home", tmp_path / "cache", offline=True))
    with pytest.raises(OfflineError, match="Debian bookworm"):
        store.build(StackRecipe(python="*", root="debian:bookworm"), "toys")
    assert not list(store.list())


# Real ones.


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StackStore:
    if shutil.which("mmdebstrap") is None:
        pytest.skip("there is no mmdebstrap here, which makes Debian roots")
    place = tmp_path_factory.mktemp("roots")
    return StackStore(Settings(place / "home", place / "cache"))


def built(store: StackStore, architecture: str) -> Built:
    recipe = StackRecipe(
        python="3.11", root="debian:bookworm", architecture=architecture, system_packages=("python3", "python3-numpy")
    )
    try:
        return store.build(recipe, f"bookworm on {architecture}")
    except StackError as error:
        if "could not be unpacked" in error.message:
            pytest.skip(f"Debian's packages cannot be had: {error.message.splitlines()[-1]}")
        raise


@pytest.fixture(scope="module")
def bookworm(store: StackStore) -> Built:
    return built(store, platform.machine())


@pytest.mark.parametrize(
    ("entrance", "tool"),
    [("loader", "sh"), ("bubblewrap", "bwrap"), ("chroot", "unshare"), ("container", "podman")],
)
def test_a_worker_runs_inside_by_every_entrance(
    bookworm: Built, entrance: str, tool: str, monkeypatch: pytest.MonkeyPatch, engine_settings: None, tmp_path: Path
) -> None:
    """With what it uses of other packages, a file and a folder, of which nothing else inside knows."""
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool} here")
    if entrance == "chroot" and os.geteuid() != 0:
        pytest.skip("only root may chroot")
    monkeypatch.setenv("MLMODELSCOPE_ROOT_ENTRANCE", entrance)
    if entrance != "loader" and not starts(bookworm):
        pytest.skip(f"{entrance} is not allowed here")
    names = {"odd": tmp_path / "odd.py", "acme.even": tmp_path / "even" / "__init__.py"}
    for name, path in names.items():
        touch(path)
        path.write_text(step_named(name.rpartition(".")[2]))
    needs = Needs(modules={"odd.py": names["odd"], "acme/even": names["acme.even"].parent})
    about = {"kind": "steps", "package": "odd-package", "version": "0.1"}
    plugins = [{**about, "module": name, "name": name.rpartition(".")[2]} for name in names]
    seen = environment_of(bookworm, needs, plugins)
    assert seen["python"] == bookworm.version and seen["architecture"] == platform.machine()


def starts(stack: Built) -> bool:
    launch = stack.launch(("-c", "pass"), Needs())
    done = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, check=False)
    return done.returncode == 0


def test_a_root_says_what_its_system_brought(bookworm: Built) -> None:
    assert bookworm.version.startswith("3.11") and bookworm.packages["numpy"].startswith("1.24")
    assert bookworm.system_packages["python3-numpy"].startswith("1:1.24")


def test_a_closed_root_sees_only_what_is_needed(
    bookworm: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLMODELSCOPE_ROOT_ENTRANCE", "bubblewrap")
    if shutil.which("bwrap") is None or not starts(bookworm):
        pytest.skip("bubblewrap is not here or not allowed")
    (tmp_path / "seen").write_text("yes")
    (tmp_path / "hidden").write_text("no")
    code = (
        "import os,socket,sys; print(open(sys.argv[1]).read(), os.path.exists(sys.argv[2]));\n"
        "try: open(sys.argv[1], 'w')\n"
        "except OSError: print('read-only')\n"
        "try: socket.create_connection(('127.0.0.1', 9), 1)\n"
        "except OSError as error: print('no network')\n"
    )
    arguments = ("-c", code, str(tmp_path / "seen"), str(tmp_path / "hidden"))
    launch = bookworm.launch(arguments, Needs(reads=(tmp_path / "seen",)))
    done = subprocess.run(launch.command, env=dict(launch.environment), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["yes False", "read-only", "no network"]


@pytest.mark.slow(reason="a root file system is unpacked and run by an emulator")
@pytest.mark.parametrize("architecture", ["aarch64", "ppc64le"])
def test_another_architecture_runs_under_emulation(store: StackStore, architecture: str) -> None:
    if shutil.which(f"qemu-{architecture}-static") is None and platform.machine() != architecture:
        pytest.skip(f"there is no emulator for {architecture} here")
    seen = environment_of(built(store, architecture))
    assert seen["architecture"] == architecture


def test_without_an_emulator_another_architecture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    other = "ppc64le" if platform.machine() != "ppc64le" else "x86_64"
    with pytest.raises(StackError, match=f"for {other}, this machine is .*qemu-{other}"):
        find_architecture(other).emulator  # noqa: B018


def test_a_folder_is_used_where_it_lies_and_an_archive_is_unpacked(
    bookworm: Built, store: StackStore, tmp_path: Path
) -> None:
    root = bookworm.folder / "root"
    there = store.build(StackRecipe(python="*", root=str(root)), "folder")
    assert (there.folder / "root").resolve() == root.resolve() and there.version == bookworm.version
    with tarfile.open(tmp_path / "root.tar", "w") as packed:
        packed.add(root, ".")
    unpacked = store.build(StackRecipe(python="*", root=str(tmp_path / "root.tar")), "archive")
    assert environment_of(unpacked)["python"] == bookworm.version
