"""Planted faults: does `replicate` name what is wrong with a manifest?

    python tools/acceptance.py                                  every fault that was not tried yet
    python tools/acceptance.py --model squeezenet --fault BGR   some of them
    python tools/acceptance.py --again                          all of them anew
    python tools/acceptance.py --write docs/acceptance.md       and write the page
    python tools/acceptance.py --known --write docs/acceptance.md   of what was found so far

The number of a right manifest is measured and taken for the claim; then the manifest is made wrong, as a person would,
and `replicate` is asked. What was found goes to `reports/acceptance.jsonl` at once, so that a run that was interrupted
resumes where it left off. Beds that need data which is not here are left out, and that is said.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from acceptance import planted, planted_data
from acceptance import planted_results as results
from mlmodelscope.errors import ArtifactError, DatasetError, StackError
from mlmodelscope.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
BY_HAND = "## Right manifests and their known numbers"
RESULTS = ROOT / "reports" / "acceptance.jsonl"


def main() -> None:
    options = _options()
    beds, faults = planted.read_faults()
    if options.again:
        RESULTS.unlink(missing_ok=True)
    known = {f"{each.bed}: {each.fault}": each for each in results.read(RESULTS)}
    ground, commit = planted.Ground(_settings()), _commit()
    for fault in faults:
        if not _is_wanted(fault, options) or (options.known and fault.key not in known):
            continue
        bed = beds[fault.bed]
        if fault.key not in known:
            try:
                known[fault.key] = replace(ground.try_fault(bed, fault), commit=commit)
            except (ArtifactError, DatasetError, StackError, FileNotFoundError) as error:
                print(f"left out, what it needs is not here: {fault.key}: {error}", flush=True)
                continue
            planted.keep(known[fault.key], RESULTS)
        print(results.line(known[fault.key]), flush=True)
    shown = [known[fault.key] for fault in faults if fault.key in known and _is_wanted(fault, options)]
    print("\n".join(("", *results.summary(shown))))
    if options.write is not None:
        text = results.page(beds, shown, len(faults) - len(shown), _made(shown))
        options.write.write_text(text + _by_hand(options.write), encoding="utf-8")


def _by_hand(page: Path) -> str:
    """What stands at the end of the page since another command was run, which this one does not repeat."""
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    return f"\n{BY_HAND}{old.partition(BY_HAND)[2]}" if BY_HAND in old else ""


def _made(shown: Sequence[planted.Outcome]) -> str:
    """When and of which source."""
    commits = sorted({each.commit for each in shown if each.commit})
    source = f", commit {', '.join(commits)}" if commits else ""
    return f"{datetime.now(UTC):%Y-%m-%d}{source}, ONNX Runtime {version('onnxruntime')}."


def _commit() -> str:
    """Of the source as it is now, where it is a checkout."""
    asked = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _is_wanted(fault: planted.Fault, options: argparse.Namespace) -> bool:
    return all(
        not wanted or any(each in text for each in wanted)
        for wanted, text in ((options.model, fault.bed), (options.fault, fault.name))
    )


def _settings() -> Settings:
    """Models and records stay in `build`; what was downloaded for other runs is used."""
    settings = Settings.from_environment()
    return replace(
        settings, home=ROOT / "build" / "acceptance", mirrors=(*settings.mirrors, planted_data.SHARED / "models")
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="only beds whose name holds this; may be repeated")
    parser.add_argument("--fault", action="append", help="only faults whose name holds this; may be repeated")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    parser.add_argument("--known", action="store_true", help="try nothing, only show what was found before")
    parser.add_argument("--write", type=Path, help="write the page with the table here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
