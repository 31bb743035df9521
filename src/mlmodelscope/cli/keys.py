"""`keys`: our own key, and those of others whose records are taken in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.hub.keys import Keyring

app = typer.Typer(help="Keys that records are signed with.", no_args_is_help=True)


@app.command("show")
@verb
def show(as_json: AsJson = False) -> None:
    """This home's own key, for others to add; it is made the first time."""
    key = _ring().own().key
    print_json({"key": key}) if as_json else print(key)


@app.command("list")
@verb
def list_keys(as_json: AsJson = False) -> None:
    """Keys of others whose records are taken in."""
    known = _ring().known()
    if as_json:
        print_json([{"name": name, "key": key} for key, name in known.items()])
        return
    for key, name in sorted(known.items(), key=lambda pair: pair[1]):
        print(f"{name}  {key}")
    if not known:
        print("no keys yet; mlmodelscope keys add NAME KEY takes one for good")


@app.command("add")
@verb
def add(
    name: Annotated[str, typer.Argument(help="Whose it is.")],
    key: Annotated[str, typer.Argument(help="The key, as `keys show` prints it on their side.")],
) -> None:
    """Take in what this key signs from now on."""
    _ring().add(name, key)
    print(f"{name} is known by {key}")


@app.command("remove")
@verb
def remove(name: Annotated[str, typer.Argument(help="Its name, or the key itself.")]) -> None:
    """Take in nothing more of a key; records that are here stay."""
    _ring().remove(name)
    print(f"{name} is not known any more")


def _ring() -> Keyring:
    from mlmodelscope.hub.keys import Keyring

    return Keyring(settings(False).home)
