"""The folders spell the data flow, and imports point one way."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PACKAGES = ("mlmodelscope", "mlmodelscope_worker")

# A module imports only what stands above it. ARCHITECTURE.md has a row for each.
ORDER = [
    "errors",
    "types",
    "settings",
    "extras",
    "waiting",
    "confine",
    "plugins",
    "statistic",
    "layer",
    "measure",
    "task",
    "tensor_file",
    "model_file",
    "manifest",
    "lint",
    "author",
    "plan",
    "provision",
    "catalog",
    "dataset",
    "connection",
    "worker",
    "record",
    "report",
    "trace",
    "analysis",
    "inspection",
    "bench",
    "suggestion",
    "watcher",
    "preparation",
    "several_stacks",
    "running",
    "evaluation",
    "model_input",
    "prediction",
    "prompting",
    "diff",
    "profiling",
    "benching",
    "training",
    "replay",
    "exporting",
    "replicate",
    "reproduction",
    "study",
    "sharding",
    "inference",
    "ledger",
    "upkeep",
    "hub",
    "cluster",
    "client",
    "claim",
    "server",
    "cli",
    "__main__",
]

# A library is imported in exactly one file of the worker.
ONE_HOME = ["PIL", "cv2", "simplejpeg", "turbojpeg", "tensorflow", "torch", "torchvision", "onnxruntime"]
ONE_HOME += [
    "openvino",
    "ncnn",
    "sklearn",
    "xgboost",
    "lightgbm",
    "jax",
    "mxnet",
    "caffe",
    "caffe2",
    "cntk",
    "tensorrt",
]


def modules(package: str) -> list[Path]:
    return sorted((SOURCE / package).rglob("*.py"))


@cache
def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def reached(path: Path, known: set[str]) -> Iterator[str]:
    """The modules that a file imports anywhere: in functions and for type checkers, too."""
    name = name_of(path)
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield from ({f"{source}.{alias.name}"} & known or {source} & known)


def import_graph() -> dict[str, set[str]]:
    """What each module of both packages imports. A package that Python runs on the way to a module is not counted."""
    paths = {name_of(path): path for package in PACKAGES for path in modules(package)}
    return {name: set(reached(path, paths.keys())) - {name} for name, path in paths.items()}


def a_cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def stage_of(path: Path) -> str:
    return path.relative_to(SOURCE / "mlmodelscope").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules("mlmodelscope"), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_stands_above_it(path: Path) -> None:
    stage = stage_of(path)
    if stage == "__init__":  # the library's front door re-exports from every stage, lazily
        return
    assert stage in ORDER, f"{stage} has no place in the order of stages"
    allowed = set(ORDER[: ORDER.index(stage) + 1])
    used = {name.split(".")[1] for name in imported(path) if name.startswith("mlmodelscope.")}
    assert used <= allowed, f"{path.name} reaches down to {used - allowed}"


def test_the_table_of_the_architecture_has_this_order() -> None:
    text = (SOURCE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| folder or file of `src/mlmodelscope/` |")
    rows = [line.split("|")[1] for line in table.partition("\n\n")[0].splitlines()[2:]]
    assert [name for row in rows for name in re.findall(r"`(\w+)(?:/|\.py)`", row)] == ORDER


def test_every_module_has_its_place() -> None:
    assert {stage_of(path) for path in modules("mlmodelscope")} - {"__init__"} == set(ORDER)


def test_no_modules_import_one_another() -> None:
    """Even inside of functions: whoever reads a module can stop at what it imports."""
    graph = import_graph()
    graph["mlmodelscope.lint.rule"] -= {"mlmodelscope.lint.rules"}  # the registry imports the rules that register there
    assert a_cycle(graph) == []


def test_imports_in_functions_and_for_type_checkers_count() -> None:
    path = SOURCE / "mlmodelscope" / "client" / "connect.py"
    assert {"mlmodelscope.client.client", "mlmodelscope.client.async_client"} <= import_graph()[name_of(path)]
    assert a_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) != []


def test_nothing_inside_imports_the_front_door() -> None:
    assert [name for name, found in import_graph().items() if "mlmodelscope" in found] == []


@pytest.mark.parametrize("path", modules("mlmodelscope_worker"), ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_worker_never_imports_the_host(path: Path) -> None:
    assert not {name for name in imported(path) if name == "mlmodelscope" or name.startswith("mlmodelscope.")}


@pytest.mark.parametrize("library", ONE_HOME)
def test_a_library_is_imported_in_one_file(library: str) -> None:
    """One file where it handles images, and one where it runs models."""
    files = modules("mlmodelscope") + modules("mlmodelscope_worker")
    homes = [path for path in files if any(name.split(".")[0] == library for name in imported(path))]
    if library == "torch":  # torchvision's tensors are torch's
        homes = [path for path in homes if path.stem != "torchvision"]
    folders = [path.relative_to(SOURCE).parts[1] for path in homes]
    assert homes and len(folders) == len(set(folders)), homes


def test_there_is_no_module_for_odds_and_ends() -> None:
    names = {path.stem for path in SOURCE.rglob("*")}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


def test_a_module_is_called_by_what_it_does() -> None:
    """These names have each stood for several ideas, or for none."""
    names = {path.stem for path in SOURCE.rglob("*.py")}
    assert not names & {"again", "beside", "earlier", "elsewhere", "late", "page", "sampling", "sweep"}


def test_the_glossary_points_to_what_is_there() -> None:
    text = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Glossary")[2]
    places = re.findall(r"^\| .* \| `([\w/.]+)` \|$", text, re.MULTILINE)
    folders = (SOURCE, SOURCE / "mlmodelscope")
    assert len(places) > 50 and [each for each in places if not any((at / each).exists() for at in folders)] == []


def test_the_network_is_reached_from_provision_and_a_server_from_client_only() -> None:
    network = {"urllib.request", "http.client", "fsspec", "requests", "httpx"}
    homes = {
        stage_of(path)
        for path in modules("mlmodelscope")
        if any(n.split(".Request")[0] in network for n in imported(path))
    }
    assert homes == {"provision", "client"}


def test_printing_happens_in_the_command_line_only() -> None:
    for path in modules("mlmodelscope"):
        calls = [
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        ]
        assert not calls or stage_of(path) in ("cli", "__main__"), path
