"""`check`: is a manifest right?"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from mlmodelscope.cli.plugins import warn_of_broken
from mlmodelscope.cli.server_choice import text_of
from mlmodelscope.cli.terminal import AsJson, print_json, verb
from mlmodelscope.errors import ManifestError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.lint.finding import Finding
    from mlmodelscope.lint.subject import Subject

Format = Literal["human", "json", "sarif", "github"]
_STDIN = "<stdin>"


@dataclass(frozen=True)
class Result:
    """One file and what there is to say about it."""

    file: str
    findings: tuple[Finding, ...] = ()
    mended: tuple[Finding, ...] = ()
    text: str = ""
    mended_text: str = ""
    skipped: bool = False

    def count(self, severity: str) -> int:
        return sum(found.severity == severity for found in self.findings)


@verb
def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, folders, globs such as 'models/**/*.yml', or - for standard input.",
            metavar="PATH... | --explain CODE",
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Fix what has only one meaning; comments stay.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and write nothing.")] = False,
    explain: Annotated[
        str | None, typer.Option(help="Explain a rule by its code or name, or `all`.", metavar="CODE")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="For people, programs, code hosts or GitHub.")] = "human",
    select: Annotated[
        str | None,
        typer.Option(help="Only these rules: codes, beginnings of codes, names; by commas.", metavar="CODES"),
    ] = None,
    ignore: Annotated[str | None, typer.Option(help="Not these rules.", metavar="CODES")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings as well.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show everything, also what is only good to know.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check manifests, say exactly what is wrong with them, and fix what can be fixed."""
    if explain is not None:
        return _explain(explain)
    if not paths:
        raise UsageError("which manifests? Name files or folders", hint="`mlmodelscope check .` checks this folder")
    from mlmodelscope.lint.files import find_files

    codes = _wanted(select, ignore, verbose)
    on_server = [path for path in paths if text_of(path) is not None]
    if on_server and fix:
        raise UsageError("a version on a server never changes", hint="--diff shows what to put there as a new one")
    results = [_check(name, True, codes, fix, diff) for name in on_server]
    here = [_described(path) for path in paths if path not in on_server]
    results += [_check(each.name, each.explicit, codes, fix, diff) for each in (find_files(here) if here else ())]
    everything = verbose or select is not None  # who asks for a rule wants to see it
    _show(results, "json" if as_json else form, everything, diff, to_stdout="-" in paths and fix and not diff)
    if select is None:  # what was asked for by name is there, or was refused
        from mlmodelscope.lint.rule import REGISTRY

        warn_of_broken(REGISTRY)
    failing = ("error", "warning") if strict else ("error",)
    return int(any(result.count(severity) for result in results for severity in failing))


def _described(path: str) -> str:
    """A file, or for `SOURCE:NAME` the manifest that is made of the catalog's facts."""
    from mlmodelscope.manifest.catalog import described_model

    found = described_model(path) if not os.path.exists(path) else None
    return path if found is None else str(found)


def _explain(word: str) -> int:
    from mlmodelscope.lint.rule import all_rules, find_rules
    from mlmodelscope.lint.rule_pages import lints_page, rule_page

    if word == "all":
        print(lints_page(), end="")
        return 0
    codes = find_rules(word.split(","), "--explain")
    print("\n".join(rule_page(rule) for rule in all_rules() if rule.code in codes), end="")
    return 0


def _wanted(select: str | None, ignore: str | None, verbose: bool) -> set[str]:
    from mlmodelscope.lint.rule import all_rules, find_rules

    wanted = {rule.code for rule in all_rules() if verbose or not rule.quiet}
    if select is not None:
        wanted = find_rules(_words(select, "--select"), "--select")
    if ignore is not None:
        wanted -= find_rules(_words(ignore, "--ignore"), "--ignore")
    return wanted


def _words(text: str, option: str) -> list[str]:
    words = [word for word in text.replace(",", " ").split() if word]
    if not words:
        raise UsageError(f"{option} needs at least one code")
    return words


def _check(name: str, explicit: bool, codes: set[str], fix: bool, diff: bool) -> Result:
    from mlmodelscope.lint.check import check_text, check_unreadable
    from mlmodelscope.lint.files import is_manifest
    from mlmodelscope.lint.subject import NOWHERE
    from mlmodelscope.manifest.source import read_bytes

    file = _STDIN if name == "-" else name
    try:
        raw = sys.stdin.buffer.read() if name == "-" else text_of(name) or read_bytes(Path(name))
    except ManifestError as error:
        return Result(file, tuple(check_unreadable(error, file)[1]))
    folder = None if name == "-" else NOWHERE if text_of(name) else Path(name).absolute().parent
    wants_all = fix or diff  # a fix is judged by every rule, whichever are shown
    subject, findings = check_text(raw, file, folder, None if wants_all else codes)
    if not explicit and not is_manifest(subject):
        return Result(file, skipped=True)
    result = Result(file, tuple(found for found in findings if found.code in codes), text=subject.text)
    return _mend(result, subject, findings, codes, diff) if wants_all else result


def _mend(result: Result, subject: Subject, findings: list[Finding], codes: set[str], diff: bool) -> Result:
    from mlmodelscope.lint.fix import mend, write_text

    mended = mend(subject, findings, codes)
    if mended.applied and not diff and result.file != _STDIN:
        write_text(Path(result.file), mended.text)
    result = replace(result, mended=mended.applied, mended_text=mended.text)
    if diff:  # the file stays as it is, and so does what there is to say about it
        return result
    return replace(result, findings=tuple(found for found in mended.left if found.code in codes))


def _show(results: list[Result], form: str, verbose: bool, diff: bool, to_stdout: bool) -> None:
    checked = [result for result in results if not result.skipped]
    if form == "json":
        from mlmodelscope.lint.plain import plain_result

        print_json([plain_result(each.file, each.findings, each.mended) for each in checked])
    elif form == "sarif":
        from mlmodelscope.lint.rule import all_rules
        from mlmodelscope.lint.sarif import sarif_log

        print_json(sarif_log([found for result in checked for found in result.findings], all_rules()))
    elif form == "github":
        from mlmodelscope.lint.annotation import annotation

        for result in checked:
            for found in result.findings:
                if _is_shown(found, verbose):
                    print(annotation(found))
    else:
        _show_to_people(results, verbose, diff, to_stdout)


def _is_shown(found: Finding, verbose: bool) -> bool:
    from mlmodelscope.lint.rule import RULES

    return verbose or found.severity != "info" or RULES[found.code].always


def _show_to_people(results: list[Result], verbose: bool, diff: bool, to_stdout: bool) -> None:
    """A file that fails goes to standard error, as every failure does; the rest is the result that was asked for."""
    calm = sys.stderr if to_stdout else sys.stdout
    for result in results:
        stream = sys.stderr if result.count("error") else calm
        if result.skipped:
            if verbose:
                print(f"{result.file}: skipped, not a manifest", file=stream)
            continue
        _show_result(result, verbose, stream)
        if diff:
            _show_diff(result)
        elif to_stdout and result.file == _STDIN:
            print(result.mended_text or result.text, end="")
        else:
            for found in result.mended:
                print(_printable(f"{found.place}  {found.code} fixed  {found.message}"), file=stream)
    failed = any(result.count("error") for result in results)
    shown = [found for result in results if not result.skipped for found in result.findings]
    hidden = sum(not _is_shown(found, verbose) for found in shown)
    print(_summary(results, diff, hidden), file=sys.stderr if failed else calm)


def _show_result(result: Result, verbose: bool, stream: TextIO) -> None:
    if not result.count("error"):
        warned = _number(result.count("warning"), "warning")
        print(f"{result.file}: OK{f', {warned}' if result.count('warning') else ''}", file=stream)
    for found in result.findings:
        if not _is_shown(found, verbose):
            continue
        where = f" at {found.path}" if found.path else ""
        lines = [f"{found.place}  {found.code} {found.severity}  {found.message}{where}"]
        lines += [f"    known: {', '.join(found.known)}"] if found.known else []
        lines += [f"    hint: {found.hint}"] if found.hint else []
        for line in lines:
            print(_printable(line), file=stream)


def _show_diff(result: Result) -> None:
    import difflib

    if result.mended:
        before, after = (text.splitlines(keepends=True) for text in (result.text, result.mended_text))
        for line in difflib.unified_diff(before, after, result.file, f"{result.file} (fixed)"):
            print(_printable(line.rstrip("\r\n")))


def _summary(results: list[Result], diff: bool, hidden: int) -> str:
    checked = [result for result in results if not result.skipped]
    counts = {severity: sum(result.count(severity) for result in checked) for severity in ("error", "warning", "info")}
    wrong = sum(1 for result in checked if result.count("error"))
    parts = [_number(counts[severity], severity) for severity in ("error", "warning", "info")]
    text = f"{_number(len(checked), 'manifest')}: {', '.join(parts)}"
    if hidden:
        text += f" ({hidden} not shown: --verbose)"
    if wrong:
        text += f"; {wrong} of {len(checked)} manifests have problems"
    mended = sum(len(result.mended) for result in checked)
    if mended:
        text += f"; {mended} {'fixable' if diff else 'fixed'}"
    skipped = len(results) - len(checked)
    if skipped:
        text += f"; {_number(skipped, 'file')} skipped, not manifests"
    return text


def _printable(text: str) -> str:
    """A manifest is a stranger's: nothing in it may command the terminal."""
    return "".join(each if each.isprintable() or each == "\t" else ascii(each)[1:-1] for each in text)


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
