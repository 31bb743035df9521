"""Run every benchmark, one after the other, and show what each says last."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import harness

BENCHMARKS = (
    "start_up",
    "short_commands",
    "timed_region",
    "tracing",
    "analyses",
    "scenarios",
    "check",
    "functions",
    "remote",
    "inference_protocol",
    "predictor_overhead",
    "stacks",
    "detection",
    "store",
    "segmentation",
    "sound_steps",
    "table_steps",
    "tokenizing",
    "database",
    "artifacts",
    "guards",
    "web_samples",
    "overview",
    "web_catalogue",
    "memory",
    "diff",
    "prompt_variants",
    "dataset_evaluation",
    "replicate",
)  # the quick ones first


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    lines, failed = {}, []
    for name in BENCHMARKS:
        print(f"=== {name}", flush=True)
        command = [sys.executable, str(Path(__file__).parent / f"{name}.py"), *(["--quick"] if arguments.quick else [])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                lines[name] = line.strip()
        if process.returncode:
            failed.append(name)
        print()
    print("=== all")
    width = max(map(len, BENCHMARKS))
    for name in BENCHMARKS:
        print(f"{name.ljust(width)}  {'FAILED' if name in failed else lines[name]}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
