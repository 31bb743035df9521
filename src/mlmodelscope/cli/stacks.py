"""`stacks`: software environments, built for what software manifests describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.errors import StackError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.manifest.schema import SoftwareManifest
    from mlmodelscope.provision.stack import Venv

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
    from mlmodelscope.errors import MLModelScopeError
    from mlmodelscope.manifest.catalog import find_manifest, list_catalog
    from mlmodelscope.manifest.schema import SoftwareManifest
    from mlmodelscope.provision.stack import VenvStore, digest_of, recipe_of

    built = {each.digest: each for each in VenvStore(settings(False)).list()}
    rows = []
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue
        digest = digest_of(recipe_of(software)) if software.stack else None
        found = built.pop(digest, None) if digest else None
        framework = f"{software.framework.name} {software.framework.version}" if software.framework else ""
        python = software.stack.python if software.stack else ""
        rows.append({"name": software.reference, "framework": framework, "python": python, "built": found is not None})
    rows += [
        {"name": each.name, "framework": "", "python": each.version, "built": True, "digest": each.digest}
        for each in built.values()
    ]
    if as_json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("stack", "framework", "python", "built"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(str(row["name"]), str(row["framework"]), str(row["python"]), "yes" if row["built"] else "")
    console().print(table)


@app.command("build")
@verb
def build(
    names: Annotated[list[str], typer.Argument(help="Software manifests, by name or path.", metavar="STACK...")],
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Build stacks ahead of their first use."""
    import sys

    made = []
    for name in names:
        venv = _build(name, offline, lambda line: print(line, file=sys.stderr))
        made.append({"name": venv.name, "python": venv.version, "folder": str(venv.folder)})
        if not as_json:
            print(f"{venv.name}: Python {venv.version}, {len(venv.packages)} packages")
    if as_json:
        print_json(made)


@app.command("show")
@verb
def show(name: StackName, as_json: AsJson = False) -> None:
    """Show a stack's Python, packages and size."""
    python, packages, folder = _describe(name)
    size, own = _sizes(folder) if folder else (None, None)
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
    as_json: AsJson = False,
) -> None:
    """Write a software manifest with every package of a stack pinned to the version that is there."""
    from mlmodelscope.manifest.write import write_manifest

    python, packages, _ = _describe(name)
    pinned = [f"{package}=={version}" for package, version in sorted(packages.items()) if package not in _OURS]
    data: dict[str, object] = {"name": f"{_plain(name)}-locked", "version": "1.0.0"}
    data["description"] = f"{name}, with every package pinned."
    software = _software(name) if name != "current" else None
    if software is not None and software.framework is not None:
        data["framework"] = software.framework.model_dump()
    data["stack"] = {"python": ".".join(python.split(".")[:2]), "requirements": pinned}
    if software is not None and software.env:
        data["env"] = dict(software.env)
    text = write_manifest(data, "software")
    if output is not None:
        if output.exists():
            raise UsageError(f"{output} is there already")
        output.write_text(text, encoding="utf-8")
    if as_json:
        print_json(data)
    else:
        print(f"wrote {output}" if output else text, end="" if not output else "\n")


@app.command("diff")
@verb
def diff(first: StackName, second: StackName, as_json: AsJson = False) -> int:
    """Say in which packages two stacks differ; exit code 1 where they do."""
    (python, before, _), (other_python, after, _) = _describe(first), _describe(second)
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


@app.command("remove")
@verb
def remove(
    names: Annotated[
        list[str], typer.Argument(help="Stacks, by name or the beginning of a digest.", metavar="STACK...")
    ],
    as_json: AsJson = False,
) -> None:
    """Remove built stacks; they are built again when they are needed."""
    from mlmodelscope.provision.stack import VenvStore

    store = VenvStore(settings(False))
    for name in names:
        found = [each for each in store.list() if each.digest.startswith(name) or name in _names(each)]
        if len(found) != 1:
            raise StackError(f"{'no built stack is' if not found else 'several built stacks are'} called {name}")
        store.remove(found[0].digest)
        if not as_json:
            print(f"removed {found[0].name}")
    if as_json:
        print_json({"removed": names})


_OURS = ("mlmodelscope",)


def _names(venv: Venv) -> tuple[str, str]:
    """With its version, and without."""
    return venv.name, venv.name.partition("@")[0]


def _software(name: str) -> SoftwareManifest:
    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import SoftwareManifest

    found = find_manifest(SoftwareManifest, name)
    if found.stack is None:
        raise UsageError(f"{found.reference} describes no Python stack, so there is nothing to build")
    return found


def _build(name: str, offline: bool, progress: object = None) -> Venv:
    from mlmodelscope.provision.stack import VenvStore, recipe_of

    software = _software(name)
    told = progress if callable(progress) else (lambda line: None)
    return VenvStore(settings(offline)).build(recipe_of(software), software.reference, told)


def _describe(name: str) -> tuple[str, dict[str, str], str | None]:
    """(Python, packages, folder) of a stack, which is built where it is not there."""
    if name == "current":
        from mlmodelscope.provision.stack import describe_current

        current = describe_current()
        return current.python, dict(current.packages), None
    venv = _build(name, False)
    return venv.version, venv.packages, str(venv.folder)


def _sizes(folder: str) -> tuple[int, int]:
    """(all files, files that nobody else has a link to)."""
    whole = own = 0
    for path in Path(folder).rglob("*"):
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            whole += status.st_size
            own += status.st_size if status.st_nlink == 1 else 0
    return whole, own


def _plain(name: str) -> str:
    return Path(name).stem if name.endswith((".yml", ".yaml")) else name.partition("@")[0]
