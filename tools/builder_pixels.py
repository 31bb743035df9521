"""Check that the steps we write for a library's configuration make the pixels that the library makes.

    python tools/builder_pixels.py             every configuration of timm and torchvision in the catalogued stack
    python tools/builder_pixels.py --python P  the same in another Python that has both

Configurations that say the same are compared once. Prints one line for each library, and those that differ by name;
fails where there are any.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlmodelscope.author.preprocessing import timm_processing, torchvision_processing
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.provision.stack.choose import build_stack
from mlmodelscope.provision.stack.provisioner import Needs
from mlmodelscope.settings import Settings

SOURCE = Path(__file__).parent.parent / "src"
INSIDE = Path(__file__).parent / "builders"
OTHER_INPUTS = {"OpticalFlow": "a pair of pictures", "VideoClassification": "a clip of frames"}
"""Presets whose input is not one picture."""


@dataclass
class Compared:
    """What came of one library's configurations."""

    names: int = 0
    distinct: int = 0
    different: dict[str, float] = field(default_factory=dict)
    """The largest difference of those that are not the same to the bit."""
    left_out: dict[str, str] = field(default_factory=dict)


def inside(python: str, script: str, given: str = "") -> Any:
    done = subprocess.run(
        [python, str(INSIDE / script)], input=given, capture_output=True, text=True, env={"PYTHONPATH": str(SOURCE)}
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout)


def explicit_steps(processing: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What a manifest with this processing would do, every parameter explicit."""
    model = load_manifest(
        {
            "name": "any",
            "version": "1.0.0",
            "task": "general",
            "framework": {"name": "pytorch"},
            "inputs": [{"type": "image", "processing": processing}],
            "outputs": [{"type": "tensor"}],
            "source": {"graph_path": "any.pt"},
        }
    )
    assert isinstance(model, ModelManifest)
    return [(step.name, step.parameters) for step in model.inputs[0].processing]


def items(found: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(library, name, what is compared) of every configuration that takes one picture."""
    for each in found["timm"]:
        steps = timm_processing(each["config"], use_test_size=each["test_size"])
        yield "timm", each["name"], {"effective": each["effective"], "steps": steps}
    for each in found["torchvision"]:
        if each["preset"] not in OTHER_INPUTS:
            steps = torchvision_processing(each["preset"], each["fields"])
            yield "torchvision", each["name"], {"preset": [each["preset"], each["fields"]], "steps": steps}


def compare(python: str) -> dict[str, Compared]:
    found = inside(python, "configurations.py")
    results = {"timm": Compared(), "torchvision": Compared()}
    distinct: dict[str, tuple[str, list[str], dict[str, Any]]] = {}
    for library, name, item in items(found):
        key = json.dumps([library, item], sort_keys=True)
        distinct.setdefault(key, (library, [], item))[1].append(name)
        results[library].names += 1
    asked = []
    for library, names, item in distinct.values():
        results[library].distinct += 1
        asked.append({**item, "library": library, "weights": names[0], "steps": explicit_steps(item["steps"])})
    answers = inside(python, "same_pixels.py", json.dumps(asked))
    for (library, names, _), answer in zip(distinct.values(), answers, strict=True):
        if answer["difference"]:
            results[library].different |= dict.fromkeys(names, answer["difference"])
    for each in found["torchvision"]:
        if each["preset"] in OTHER_INPUTS:
            results["torchvision"].left_out[each["name"]] = f"takes {OTHER_INPUTS[each['preset']]}"
    return results


def catalogued_python() -> str:
    software = find_manifest(SoftwareManifest, "pytorch-libraries-2.13")
    return build_stack(software, Settings.from_environment(), print).launch((), Needs()).command[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="a Python that has timm and torchvision")
    found = compare(parser.parse_args().python or catalogued_python())
    for library, result in found.items():
        same = result.names - len(result.different)
        print(f"{library}: {same} of {result.names} configurations the same ({result.distinct} distinct)")
        for name, difference in sorted(result.different.items()):
            print(f"  {name} differs by up to {difference:g}")
        for name, why in sorted(result.left_out.items()):
            print(f"  {name} {why}")
    sys.exit(any(result.different for result in found.values()))


if __name__ == "__main__":
    main()
