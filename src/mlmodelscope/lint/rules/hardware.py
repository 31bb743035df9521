"""Commands that set a machine up."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.trust import code_digest


@rule("M112", "runs-commands", "info", ("hardware",), always=True)
def runs_commands(subject: Subject) -> Iterator[Finding]:
    """Using this manifest runs shell commands on the machine itself.

    They set the machine up, outside any container, often as root: clock rates, power limits, huge pages. Nothing of it
    runs before somebody has read it and said `mlmodelscope trust`. The same holds for `settings` that everybody on the
    machine feels, such as the governor; those are at least set back afterwards.

    Wrong:

        setup: curl https://example.org/setup.sh | sh

    Right:

        setup: nvidia-smi --lock-gpu-clocks=1410
    """
    setup = subject.hardware.setup
    if setup and setup.strip():
        lines = [line.strip() for line in setup.splitlines() if line.strip() and not line.strip().startswith("#")]
        shown = "; ".join(lines[:5]) + (f"; and {len(lines) - 5} more" if len(lines) > 5 else "")
        yield subject.finding(
            ("setup",),
            f"this manifest runs shell commands: {shown[:400]}",
            f"read them; their digest is sha256:{code_digest(subject.hardware)}",
        )
    settings = subject.hardware.settings
    if settings and settings.reaches_beyond_us:
        names = ", ".join(settings.reaches_beyond_us)
        yield subject.finding(
            ("settings",),
            f"this manifest changes the machine for everybody on it while something runs: {names}",
            f"read them; the digest is sha256:{code_digest(subject.hardware)}",
        )
