"""What a recipe may say at all, and what of it counts as other people's code."""

from __future__ import annotations

from typing import Any

import pytest

from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.catalog import list_catalog
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.manifest.shipped import shipped_pins
from mlmodelscope.manifest.trust import code_of

HASH = "0" * 64
(NAME, VERSION), HASHES = sorted(shipped_pins().items())[0]
SHIPPED = f"{NAME}=={VERSION} --hash={sorted(HASHES)[0]}"


def software(stack: dict[str, Any]) -> SoftwareManifest:
    manifest = load_manifest({"kind": "software", "name": "mine", "version": "1.0.0", "stack": stack})
    assert isinstance(manifest, SoftwareManifest)
    return manifest


@pytest.mark.parametrize(
    ("stack", "carries"),
    [
        ({"requirements": [SHIPPED]}, False),
        ({"requirements": [SHIPPED.replace("==", "===")]}, False),
        ({"requirements": [SHIPPED.replace(" --", ' ; platform_machine == "x86_64" --')]}, False),
        ({"requirements": [SHIPPED.replace(NAME, NAME.upper().replace("-", "_"))]}, False),
        ({"root": "debian:bookworm", "system_packages": ["python3", "libc6:amd64", "libmpi40=4.1.4-3+b1"]}, False),
        ({"library_names": {"libmpi.so.12": "libmpi.so.40"}}, False),
        ({"requirements": ["numpy==2.0.0"]}, True),  # whatever the index has under that name
        ({"requirements": [f"numpy==2.0.0 --hash=sha256:{HASH}"]}, True),  # hashes of one's own choosing
        ({"requirements": [f"{SHIPPED} --hash=sha256:{HASH}"]}, True),
        ({"requirements": [SHIPPED.replace(VERSION, f"{VERSION}.1")]}, True),
        ({"requirements": [f"{NAME}>={VERSION}"]}, True),
        ({"requirements": [SHIPPED.replace(NAME, f"{NAME}[extra]")]}, True),
        ({"requirements": [SHIPPED], "index_url": "https://elsewhere.example/simple"}, True),
        ({"requirements": [SHIPPED], "find_links": ["https://elsewhere.example"]}, True),
        ({"requirements": ["numpy @ https://elsewhere.example/numpy.whl"]}, True),
        ({"root": "https://elsewhere.example/root.tar"}, True),
    ],
)
def test_only_what_shipped_stacks_have_too_needs_no_trust(stack: dict[str, object], carries: bool) -> None:
    assert bool(code_of(software(stack))) is carries


def test_no_shipped_stack_needs_trust() -> None:
    found = [load_manifest(entry.path) for entry in list_catalog("software")]
    assert len(found) > 30 and [each.name for each in found if code_of(each)] == []


@pytest.mark.parametrize(
    "line",
    [
        "numpy==1.0\n-r /etc/passwd",
        "numpy==1.0\n-e /somewhere",
        "numpy==1.0\r--index-url http:host/simple",
        "numpy==1.0\u2028-e .",
        "numpy==1.0\x0b-e .",
        "numpy==1.0 --index-url http:host/simple",
        "numpy==1.0 --global-option=install",
        "-r requirements.txt",
        "--index-url=https://elsewhere.example",
        "/path/of/a/project",
        "./project",
        "file:/path/of/a/project",
        "git+https://elsewhere.example/project",
        "",
        " ",
        "numpy==1.0 --hash=sha256:abc",
        "numpy==1.0; os.system('x')",
    ],
)
def test_a_requirement_is_a_package_and_no_more(line: str) -> None:
    with pytest.raises(ManifestError):
        software({"requirements": [line]})


@pytest.mark.parametrize(
    "name",
    [
        "-oAPT::Get::Simulate=false",
        "-oDPkg::Pre-Invoke::=touch MARKER; exit 1",
        "-c=/some/file",
        "/path/of/any.deb",
        "./any.deb",
        "libc6 -y",
        "libc6\n-y",
        "libc6/unstable",
        "Libc6",
        "libc6=1;id",
        "",
    ],
)
def test_a_system_package_is_a_name_and_no_more(name: str) -> None:
    with pytest.raises(ManifestError):
        software({"system_packages": [name]})


@pytest.mark.parametrize("name", ["../../place/link", "/etc/passwd", "a/b", "..", ".", "", "lib\n.so", "lib\x00"])
def test_a_library_is_a_file_name_and_no_more(name: str) -> None:
    for names in ({name: "libc.so.6"}, {"libold.so": name}):
        with pytest.raises(ManifestError):
            software({"library_names": names})


@pytest.mark.parametrize("root", ["debian:../..", "debian:", "debian:sid; id", "debian:--help", "debian:x\ny"])
def test_a_release_is_a_word(root: str) -> None:
    with pytest.raises(ManifestError):
        software({"root": root})
