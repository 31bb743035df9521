"""The forms of sources by name: what each recognizes in a folder, and how it reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from mlmodelscope.catalog.entry import Entry
from mlmodelscope.catalog.files import Files
from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.plugins.registry import Registry
from mlmodelscope_worker.registry import add


@dataclass
class Reading:
    """A source while it is read: its files, and what was left out with the reason."""

    files: Files
    left_out: Counter[str] = field(default_factory=Counter)
    """How often, by reason."""
    examples: dict[str, str] = field(default_factory=dict)
    """One place for each reason."""

    def leave_out(self, reason: str, place: str) -> None:
        """Nothing is dropped silently: it is counted, and the first place is kept."""
        self.left_out[reason] += 1
        self.examples.setdefault(reason, place)

    def pages(self, pattern: str) -> Iterator[tuple[str, str]]:
        """Every text whose name matches, behind its name; what cannot be read is left out."""
        for name in self.files.matching(pattern):
            try:
                yield name, self.files.read(name).decode("utf-8-sig", errors="replace")
            except ManifestError:
                self.leave_out("a page that cannot be read", name)


Recognize = Callable[[Files], bool]
Read = Callable[[Reading], Iterator[Entry]]


@dataclass(frozen=True)
class Form:
    name: str
    meaning: str
    recognize: Recognize
    read: Read


FORMS: dict[str, Form] = {}
_HERE = "mlmodelscope.catalog.source"
REGISTRY: Registry[Form] = Registry(
    "form of a source",
    "catalog_sources",
    FORMS,
    Form,
    attrgetter("read"),
    named=attrgetter("name"),
    built_in={
        "timm": f"{_HERE}.timm",
        "torchvision": f"{_HERE}.torchvision",
        "openmmlab": f"{_HERE}.openmmlab",
        "onnx": f"{_HERE}.onnx_hub",
        "keras": f"{_HERE}.keras",
        "detectron2": f"{_HERE}.detectron2",
        "tensorflow": f"{_HERE}.tensorflow",
        "open_model_zoo": f"{_HERE}.open_model_zoo",
        "huggingface": f"{_HERE}.huggingface",
        "manifests": f"{_HERE}.manifests",
        "results": f"{_HERE}.results",
    },
)


def source_form(name: str, recognize: Recognize) -> Callable[[Read], Read]:
    """Register a reader of one form; the first line of its docstring says what it reads."""

    def register(read: Read) -> Read:
        made = Form(name, (read.__doc__ or "").split("\n")[0].rstrip("."), recognize, read)
        add(FORMS, name, made, REGISTRY.code)
        return read

    return register


def find_form(files: Files, name: str | None = None) -> Form:
    """The form of this name, or the first that recognizes the files."""
    if name is not None:
        found = REGISTRY.find(name)
        if found is None:
            raise UsageError(f"there is no form of source `{name[:60]}`\nknown: {', '.join(REGISTRY)}")
        return found
    known = REGISTRY.all()
    for each in known.values():
        with REGISTRY.blaming(each.name):
            if each.recognize(files):
                return each
    described = ", ".join(f"{each.name} ({each.meaning})" for each in known.values())
    raise UsageError(f"{files.place} is not a source of a known form\nknown: {described}")


def read_entries(form: Form, reading: Reading) -> list[Entry]:
    """Every entry, with names that are unique in the source."""
    with REGISTRY.blaming(form.name):
        found = list(form.read(reading))
    seen: Counter[str] = Counter()
    unique = []
    for entry in found:
        seen[entry.name.lower()] += 1
        unique.append(entry if seen[entry.name.lower()] == 1 else _renamed(entry, seen))
    return unique


def _renamed(entry: Entry, seen: Counter[str]) -> Entry:
    """A second model of the same name gets the start of its weights' digest, or a number."""
    from dataclasses import replace

    start = next((each.sha256_start or each.sha256[:8] for each in entry.weights), "")
    name = f"{entry.name}.{start or seen[entry.name.lower()]}"
    while seen[name.lower()]:
        name = f"{entry.name}.{start or ''}{seen[entry.name.lower()]}"
        seen[entry.name.lower()] += 1
    seen[name.lower()] += 1
    return replace(entry, name=name)
