"""`stacks`: software environments, built for what software manifests describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import Trust
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.errors import StackError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.manifest.schema import SoftwareManifest
    from mlmodelscope.provision.stack import Built, Progress

app = typer.Typer(help="List, build, show, lock, compare and remove software stacks.", invoke_without_command=True)

StackName = Annotated[str, typer.Argument(help="A software manifest, by name or path; or `current`.", metavar="STACK")]


@app.callback()
def default(context: typer.Context, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is None:
        list_stacks(as_json=as_json)


@app.command("list")
@verb
def list_stacks(as_json: AsJson = False) -> None:
    """List known and built stacks."""
    there = remote()
    if there is not None:
        _show_rows([_row(each) for each in there.client.stacks()], as_json)
        return
    from mlmodelscope.errors import MLModelScopeError
    from mlmodelscope.manifest.catalog import find_manifest, list_catalog
    from mlmodelscope.manifest.schema import SoftwareManifest
    from mlmodelscope.provision.stack import StackStore, digest_of, recipe_of

    built = {each.digest: each for each in StackStore(settings(False)).list()}
    rows: list[dict[str, object]] = []
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue
        recipe = recipe_of(software) if software.stack else None
        found = built.pop(digest_of(recipe), None) if recipe else None
        framework = f"{software.framework.name} {software.framework.version}" if software.framework else ""
        python = software.stack.python if software.stack else ""
        kind = recipe.kind if recipe else "container" if software.container else ""
        rows.append(
            {
                "name": software.reference,
                "kind": kind,
                "framework": framework,
                "python": python,
                "built": found is not None,
            }
        )
    rows += [
        {
            "name": each.name,
            "kind": each.recipe.kind,
            "framework": "",
            "python": each.version,
            "built": True,
            "digest": each.digest,
        }
        for each in built.values()
    ]
    _show_rows(rows, as_json)


def _row(stack: dict[str, Any]) -> dict[str, object]:
    """A stack of a server, as one of this machine is shown; and who has it."""
    name = f"{stack['name']}@{stack['version']}" if stack["version"] else stack["name"]
    framework = f"{stack['framework']} {stack['framework_version']}" if stack["framework"] else ""
    facts = {"name": name, "kind": stack["kind"] or "", "framework": framework, "python": stack["python"] or ""}
    return {**facts, "built": bool(stack["built"]), "agents": stack["built"], "buildable": stack["buildable"]}


def _show_rows(rows: list[dict[str, object]], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("stack", "kind", "framework", "python", "built"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        texts = (str(row[column]) for column in ("name", "kind", "framework", "python"))
        table.add_row(*texts, "yes" if row["built"] else "")
    console().print(table)


@app.command("build")
@verb
def build(
    names: Annotated[list[str], typer.Argument(help="Software manifests, by name or path.", metavar="STACK...")],
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Build stacks ahead of their first use."""
    import sys

    made = []
    for name in names:
        stack = _build(name, offline, lambda line: print(line, file=sys.stderr), trust=trust)
        made.append({"name": stack.name, "python": stack.version, "folder": str(stack.folder)})
        if not as_json:
            print(f"{stack.name}: Python {stack.version}, {len(stack.packages)} packages")
    if as_json:
        print_json(made)


@app.command("show")
@verb
def show(name: StackName, trust: Trust = False, as_json: AsJson = False) -> None:
    """Show a stack's Python, packages and size."""
    python, packages, folder = _describe(name, trust)
    from mlmodelscope.provision.stack.holding import size_of

    held = size_of(Path(folder)) if folder else None
    size, own = (held.bytes, held.own_bytes) if held else (None, None)
    if as_json:
        print_json({"python": python, "packages": packages, "folder": folder, "size_bytes": size, "own_bytes": own})
        return
    print(f"Python {python}" + (f", {folder}" if folder else ", the running one"))
    if size is not None and own is not None:
        print(f"{size / 1e6:.0f} MB, of which {own / 1e6:.0f} MB are not shared with the package cache")
    for package, version in sorted(packages.items()):
        print(f"{package}=={version}")


@app.command("lock")
@verb
def lock(
    name: StackName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write a software manifest with every package of a stack pinned to what is there, by the hashes of its files."""
    import sys

    from mlmodelscope.manifest.schema.software import Stack
    from mlmodelscope.manifest.write import write_manifest
    from mlmodelscope.provision.stack.lock import lock_stack

    if output is not None and output.exists():
        raise UsageError(f"{output} is there already")
    software = _software(name) if name != "current" else None
    if software is not None and software.stack is None:
        raise UsageError(f"{software.reference} is a container image, which its own digest locks")
    python, packages, _ = _describe(name, trust)
    installed = {package: version for package, version in packages.items() if package not in _OURS}
    stack = software.stack if software is not None and software.stack is not None else Stack()
    described, locked = lock_stack(stack, python, installed, settings(False).offline)
    data: dict[str, object] = {"name": f"{_plain(name)}-locked", "version": "1.0.0"}
    data["description"] = f"{name}, with every package locked to the hashes of its files."
    if software is not None and software.framework is not None:
        data["framework"] = software.framework.model_dump()
    if software is not None and software.env:
        data["env"] = dict(software.env)
    data["stack"] = described
    text = write_manifest(data, "software")
    if output is not None:
        output.write_text(text, encoding="utf-8")
    for architecture, reason in locked.refused.items():
        print(f"not for {architecture}: {reason}", file=sys.stderr)
    if as_json:
        print_json(data)
    else:
        print(f"wrote {output}" if output else text, end="" if not output else "\n")


@app.command("diff")
@verb
def diff(first: StackName, second: StackName, trust: Trust = False, as_json: AsJson = False) -> int:
    """Say in which packages two stacks differ; exit code 1 where they do."""
    (python, before, _), (other_python, after, _) = _describe(first, trust), _describe(second, trust)
    changed = {
        package: (before.get(package), after.get(package))
        for package in sorted({*before, *after})
        if before.get(package) != after.get(package)
    }
    if python != other_python:
        changed = {"python": (python, other_python), **changed}
    if as_json:
        print_json({name: {"first": old, "second": new} for name, (old, new) in changed.items()})
    else:
        for package, (old, new) in changed.items():
            print(f"{package}: {old or 'none'} → {new or 'none'}")
        if not changed:
            print("the same packages")
    return int(bool(changed))


@app.command("run", context_settings={"ignore_unknown_options": True})
@verb
def run(
    name: StackName,
    command: Annotated[
        list[str], typer.Argument(help="The command, after `--`: `python script.py`.", metavar="-- COMMAND...")
    ],
    trust: Trust = False,
    offline: Offline = False,
) -> int:
    """Run a command in a stack, such as a script that writes a model in the stack's framework.

    Its files and the network are those of this terminal, and its exit code is the command's.
    """
    from mlmodelscope.provision.stack.command import run_command

    if name == "current":
        return run_command(None, command, {})
    software = _software(name)
    return run_command(_build(name, offline, _to_stderr, trust=trust), command, software.env)


def _to_stderr(line: str) -> None:
    import sys

    print(line, file=sys.stderr)


@app.command("remove")
@verb
def remove(
    names: Annotated[
        list[str], typer.Argument(help="Stacks, by name or the beginning of a digest.", metavar="STACK...")
    ],
    cache: Annotated[
        bool, typer.Option("--cache", help="Also from uv's cache: packages that no other stack has.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove built stacks, and say how much that freed; they are built again when they are needed."""
    from mlmodelscope.provision.stack import StackStore
    from mlmodelscope.provision.stack.holding import clean_uv_cache, size_of
    from mlmodelscope.report.words import size

    store = StackStore(settings(False))
    removed: list[dict[str, object]] = []
    for name in names:
        found = [each for each in store.list() if each.digest.startswith(name) or name in _names(each)]
        if len(found) != 1:
            raise StackError(f"{'no built stack is' if not found else 'several built stacks are'} called {name}")
        (stack,) = found
        forgotten = clean_uv_cache(stack, store) if cache else []  # first: then it is seen what the stack alone holds
        held = size_of(stack.folder)
        store.remove(stack.digest)
        facts: dict[str, object] = {"freed_bytes": held.own_bytes, "shared_bytes": held.shared_bytes}
        removed.append({"name": stack.name, **facts, "forgotten": forgotten})
        if not as_json:
            print(f"removed {stack.name}: {size(held.own_bytes)} freed")
            if held.shared_bytes:
                print(f"{size(held.shared_bytes)} have further links {_elsewhere(cache)}")
    if as_json:
        print_json({"removed": names, "stacks": removed})


def _elsewhere(is_clean: bool) -> str:
    """Who else holds the files of a stack that was removed."""
    if is_clean:
        return "in other stacks and are not freed"
    return "in uv's cache or other stacks and are not freed; --cache removes them from the cache, too"


_OURS = ("mlmodelscope",)


def _names(stack: Built) -> tuple[str, str]:
    """With its version, and without."""
    return stack.name, stack.name.partition("@")[0]


def _software(name: str) -> SoftwareManifest:
    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import SoftwareManifest

    return find_manifest(SoftwareManifest, name)


def _build(name: str, offline: bool, progress: Progress = lambda line: None, *, trust: bool = False) -> Built:
    from mlmodelscope.provision.stack import build_stack
    from mlmodelscope.provision.trust import require_trust

    software, found = _software(name), settings(offline)
    require_trust((software,), found, trust=trust)
    return build_stack(software, found, progress)


def _describe(name: str, trust: bool) -> tuple[str, dict[str, str], str | None]:
    """(Python, packages, folder) of a stack, which is built where it is not there."""
    if name == "current":
        from mlmodelscope.provision.stack import describe_current

        current = describe_current()
        return current.python, dict(current.packages), None
    stack = _build(name, False, trust=trust)
    return stack.version, {**stack.system_packages, **stack.packages}, str(stack.folder)


def _plain(name: str) -> str:
    return Path(name).stem if name.endswith((".yml", ".yaml")) else name.partition("@")[0]
