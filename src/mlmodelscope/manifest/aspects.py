"""The four manifests that describe an evaluation, found by one rule for the command line, the server and agents."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, Manifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.splits import parted
from mlmodelscope.manifest.trust import code_of

Sought = TypeVar("Sought", bound=Manifest)

CURRENT = SoftwareManifest(name="current", version="1.0.0")
"""The running Python as it is."""
_IMAGE = "image:"


class Finder(Protocol):
    """Turns what a caller chose into a manifest: a path, a name, a text … A manifest stands for itself."""

    def __call__(self, sought: type[Sought], choice: Any, /) -> Sought: ...


@dataclass(frozen=True)
class Aspects:
    """The four manifests that describe an evaluation; one can be varied while the others stay."""

    model: ModelManifest
    dataset: DatasetManifest
    software: SoftwareManifest | None = None
    hardware: HardwareManifest | None = None
    image: str | None = None
    """A container image that was asked for by name, whatever the manifests say."""

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        found = (self.model, self.dataset, self.software, self.hardware)
        return tuple(each for each in found if each is not None)

    @property
    def software_word(self) -> str | None:
        """`current` or `image:NAME`, where no manifest describes the software."""
        if self.image is not None:
            return f"{_IMAGE}{self.image}"
        return CURRENT.name if self.software is CURRENT else None

    @property
    def carries_code(self) -> bool:
        """Whether using them would run code from the manifests or an image."""
        return self.image is not None or any(code_of(each) for each in self.manifests)


def find_aspects(
    model: Any,
    dataset: Any = None,
    software: Any = None,
    hardware: Any = None,
    *,
    find: Finder = find_manifest,
    split: str | None = None,
) -> Aspects:
    """Find the manifests; what is not named is what the model manifest names. `split` is one of the dataset's."""
    found = find(ModelManifest, model)
    dataset = dataset if dataset is not None else _beside(found, found.dataset)
    if dataset is None:
        raise UsageError(
            f"no dataset is named, and {found.name} names none", hint="mlmodelscope datasets shows what there is"
        )
    software = software if software is not None else _beside(found, found.software)
    if software == CURRENT.name:  # the running Python, whatever the manifest says
        software = CURRENT
    image = software.removeprefix(_IMAGE) if isinstance(software, str) and software.startswith(_IMAGE) else None
    hardware = hardware if hardware is not None else _beside(found, found.hardware)
    return Aspects(
        found,
        _find_dataset(find, dataset, found, split),
        find(SoftwareManifest, software) if software is not None and image is None else None,
        find(HardwareManifest, hardware) if hardware is not None else None,
        image,
    )


def _beside(model: ModelManifest, name: str | None) -> str | None:
    """What a manifest names: a path in it begins in its own folder, from wherever it is used."""
    if name is None or not os.path.isfile(model.file):
        return name
    path = os.path.join(os.path.dirname(os.path.abspath(model.file)), os.path.expanduser(name))
    is_path = parted(name)[0].endswith((".yml", ".yaml")) or (os.sep in name and os.path.isfile(path))
    return path if is_path else name


def _find_dataset(find: Finder, choice: Any, model: ModelManifest, split: str | None) -> DatasetManifest:
    """A dataset that the model's claims are about is that one or none: no other of a similar name will do."""
    try:
        return _find_split(find, choice, split)
    except UsageError as error:
        name = parted(choice)[0].partition("@")[0] if isinstance(choice, str) else None
        about = [each for each in model.claims if name and (each.dataset or "").partition("@")[0] == name]
        if not about or not error.message.startswith(f"there is no dataset `{name}`"):
            raise
        said = ", ".join(f"{each.metric} {each.value}" for each in about)
        raise UsageError(
            f"{model.name} claims {said} on {name}, and no manifest here describes that dataset",
            hint=f"write one that says where you have {name} (docs/manifest-dataset.md), and name its file, "
            "or put it into a folder of MLMODELSCOPE_MANIFESTS",
        ) from None


def _find_split(find: Finder, choice: Any, split: str | None) -> DatasetManifest:
    """`name@version:split`, or a manifest whose split is settled."""
    base, named = parted(choice) if isinstance(choice, str) else (choice, None)
    try:
        found = find(DatasetManifest, choice)
    except MLModelScopeError:
        if named is None:  # else the colon is not part of a name or an id
            raise
        found, split = find(DatasetManifest, base), named
    try:
        return found.for_split(split)
    except ValueError as error:
        known = next(iter(found.splits), None)
        hint = f"{found.name}:{known} names one of them" if known else f"its manifest can say so: `split: {split}`"
        raise UsageError(str(error), hint=hint) from None


def find_in_text(sought: type[Sought], text: str | Path | Sought) -> Sought:
    """A manifest that arrived as text, such as in a request."""
    return own_copy(parse_text(sought, text))


def parse_text(sought: type[Sought], text: str | Path | Sought) -> Sought:
    """The same, exactly as it arrived: there is no folder around it in which it could name files."""
    if isinstance(text, sought):
        return text
    manifest = parse_document(str(text), "<request>", Path(os.devnull)).manifest()
    if not isinstance(manifest, sought):
        raise UsageError(f"this is a {type(manifest).__name__}, a {sought.__name__} is asked for")
    return manifest


def own_copy(manifest: Sought) -> Sought:
    """The catalogue's manifest of the same content, if there is one: its files lie beside it."""
    try:
        own = find_manifest(type(manifest), f"{manifest.name}@{manifest.version}")
    except MLModelScopeError:
        return manifest
    return own if own.digest == manifest.digest else manifest
