"""What is in deploy/ is what the tools that read it accept, and names settings that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlmodelscope.server.config import Config

DEPLOY = Path(__file__).parent.parent / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
TEXTS = [path for path in sorted(DEPLOY.rglob("*")) if path.is_file()]


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_accepts_the_units_and_finds_little_exposed(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    copy = tmp_path / unit.name  # the program itself need not be here
    copy.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", unit.read_text()))
    verified = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    assessed = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", copy], capture_output=True, text=True, check=False
    )
    level = re.search(r"exposure level for \S+: ([\d.]+)", assessed.stdout)
    if level is None:
        pytest.skip("this systemd-analyze does not assess files")
    assert float(level[1]) < 4


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.name)
def test_kubernetes_accepts_the_manifests(path: Path) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    for document in yaml.safe_load_all(path.read_text()):
        if document["apiVersion"].startswith("ray.io/"):
            _check_pods_of_ray(document, validate)  # its own schema is KubeRay's
        else:
            validate.validate(document, "1.31", strict=True)


def _check_pods_of_ray(document: dict[str, Any], validate: Any) -> None:
    groups = [document["spec"]["headGroupSpec"], *document["spec"]["workerGroupSpecs"]]
    for group in groups:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, **group["template"]}
        validate.validate(pod, "1.31", strict=True)


def test_containers_have_no_more_rights_than_they_need() -> None:
    for path in KUBERNETES:
        for document in yaml.safe_load_all(path.read_text()):
            if document["kind"] not in ("Deployment", "DaemonSet"):
                continue
            pod = document["spec"]["template"]["spec"]
            assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
            for container in pod["containers"]:
                rights = container["securityContext"]
                assert rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
                assert rights["capabilities"] == {"drop": ["ALL"]}
    services = yaml.safe_load((DEPLOY / "compose.yml").read_text())["services"]
    assert services["server"]["read_only"] and services["server"]["cap_drop"] == ["ALL"]
    assert services["server"]["ports"] == ["127.0.0.1:8642:8642"]
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    assert "USER 10001:10001" in lines and any(line.startswith("HEALTHCHECK") for line in lines)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_settings_that_are_named_exist(path: Path) -> None:
    for name in re.findall(r"MLMODELSCOPE_SERVER_([A-Z_]+)", path.read_text()):
        assert name.lower() in Config.model_fields, name
