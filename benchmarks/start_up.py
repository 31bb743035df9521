"""What a command costs before it does anything, beside an empty Python, and how many packages the core brings."""

from __future__ import annotations

import importlib.metadata
import sys
from statistics import median

import harness
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

GOAL_S, GOAL_PACKAGES = 0.3, 20
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "mlmodelscope --version": ["-m", "mlmodelscope", "--version"],
    "mlmodelscope --help": ["-m", "mlmodelscope", "--help"],
}


def core_packages(name: str = "mlmodelscope") -> set[str]:
    """Every distribution that a plain `pip install` of this one brings, itself included."""
    found, pending = set(), [name]
    while pending:
        current = canonicalize_name(pending.pop())
        if current in found:
            continue
        found.add(current)
        for text in importlib.metadata.requires(current) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                pending.append(requirement.name)
                # An extra that a core package asks for, such as `uvicorn[standard]`, is core as well.
                pending += _extra_requirements(requirement)
    return found


def _extra_requirements(requirement: Requirement) -> list[str]:
    texts = importlib.metadata.requires(requirement.name) or () if requirement.extras else ()
    wanted = [Requirement(text) for text in texts]
    return [
        each.name
        for each in wanted
        if each.marker is not None
        and not each.marker.evaluate({"extra": ""})
        and any(each.marker.evaluate({"extra": extra}) for extra in requirement.extras)
    ]


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    contenders = {
        name: lambda command=command: harness.run_child([sys.executable, *command])
        for name, command in COMMANDS.items()
    }
    harness.interleave(contenders, 2)  # uncounted: bytecode and page cache
    seen = harness.interleave(contenders, 5 if arguments.quick else 30)
    faults = []
    version = importlib.metadata.version("mlmodelscope")
    if version not in str(seen["mlmodelscope --version"][0].said):
        faults.append(f"--version says {seen['mlmodelscope --version'][0].said!r}, not {version}")
    if "evaluate" not in str(seen["mlmodelscope --help"][0].said):
        faults.append("--help does not mention `evaluate`")
    cpu_s = {name: median(run.cpu_s for run in runs) for name, runs in seen.items()}
    harness.print_table(
        ("", "CPU s", "wall s"),
        [
            (name, harness.spread([run.cpu_s for run in runs], 3), harness.spread([run.wall_s for run in runs], 3))
            for name, runs in seen.items()
        ],
    )
    packages = sorted(core_packages())
    print(f"\n{len(packages)} packages in the core install: {', '.join(packages)}\n")
    slowest = max(cpu_s.values())
    meaning = (
        f"CPU of --help or --version / CPU of an empty Python; goal <= {GOAL_S} s, seen {slowest:.2f} s; "
        f"packages: goal <= {GOAL_PACKAGES}, seen {len(packages)}"
    )
    results = {"cpu_s": cpu_s, "packages": packages}
    harness.finish("start_up", slowest / cpu_s["python -c pass"], meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
