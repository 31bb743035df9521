"""timm: the configurations in `timm/models/*.py` of its wheel, and its tables of results in CSV files."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mlmodelscope.catalog.entry import ClaimFact, Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.python_facts import Called, Module, Opaque, TooMuch, open_module
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import number_text
from mlmodelscope.errors import ManifestError
from mlmodelscope.model_file.limit import clean

_RESULTS = {
    "results-imagenet.csv": ("imagenet-val", "ImageNet-1k, all 50,000 samples", True),
    "results-imagenet-real.csv": ("imagenet-real", "ImageNet-ReaL", True),
    "results-imagenetv2-matched-frequency.csv": ("imagenet-v2", "ImageNet-V2 matched frequency", True),
    "results-imagenet-a.csv": ("imagenet-a", "ImageNet-A", True),
    "results-imagenet-r.csv": ("imagenet-r", "ImageNet-R", True),
    "results-sketch.csv": ("imagenet-sketch", "ImageNet-Sketch", True),
    "results-imagenet-a-clean.csv": ("imagenet-a-clean", "ImageNet-1k, the classes of ImageNet-A", False),
    "results-imagenet-r-clean.csv": ("imagenet-r-clean", "ImageNet-1k, the classes of ImageNet-R", False),
}
_CODE_LICENSE = "Apache-2.0"
_ABOUT = "results and configurations of timm"
_MAX_ROWS = 20_000
# What decides the pixels that a model sees; layers and loading do not.
_KEPT = (
    *("input_size", "test_input_size", "interpolation", "crop_pct", "test_crop_pct", "crop_mode", "mean", "std"),
    *("num_classes", "label_offset"),
)


@dataclass
class _Result:
    """What the tables say of one model."""

    claims: list[ClaimFact]
    parameters: int | None = None
    size: int = 0
    crop: str = ""
    interpolation: str = ""
    place: str = ""


def _recognize(files: Files) -> bool:
    return bool(files.matching("timm/models/*.py", "models/_registry.py", "*/timm/models/_registry.py")) or bool(
        _tables(files)
    )


@source_form("timm", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """timm's wheel and its results-*.csv."""
    results = _results(reading)
    speeds = _complexities(reading)
    seen: set[str] = set()
    for name, config, place in _configurations(reading):
        seen.add(name)
        entry = _with_results(_entry(name, config, place), results.get(name), speeds.get(name))
        if not entry.weights and not entry.claims:
            reading.leave_out("an architecture without published weights", place)
            continue
        yield entry
    for name, result in results.items():
        if name not in seen:  # of another version of timm: its configuration is what the table says of it
            yield _with_results(_entry(name, _from_row(result), result.place), result, speeds.get(name))


def _tables(files: Files) -> dict[str, str]:
    return {name.rpartition("/")[2]: name for name in files.matching("*results-*.csv") if _short(name) in _RESULTS}


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _configurations(reading: Reading) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(name, pretrained_cfg, place) of every model that the wheel has."""
    constants = _constants(reading)
    for name in reading.files.matching("*models/*.py"):
        if _short(name).startswith("_"):
            continue
        try:
            raw = reading.files.read(name)
            if b"default_cfgs" not in raw:
                continue
            module = open_module(raw, name, constants)
            yield from _of_module(reading, module, name)
        except (ManifestError, TooMuch) as error:
            reading.leave_out(f"a file that cannot be read: {type(error).__name__}", name)


def _constants(reading: Reading) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in reading.files.matching("*data/constants.py"):
        try:
            module = open_module(reading.files.read(name), name)
            for key in list(module.assigned)[:500]:
                found[key] = module.value(module.assigned[key])
        except (ManifestError, TooMuch):
            reading.leave_out("a file of constants that cannot be read", name)
    return found


def _of_module(reading: Reading, module: Module, file: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if node.targets[0].id != "default_cfgs":
            continue
        table = node.value
        if isinstance(table, ast.Call) and table.args:
            table = table.args[0]
        if not isinstance(table, ast.Dict):
            continue
        for key, value in zip(table.keys, table.values, strict=True):
            place = f"{file}:{value.lineno}"
            name = module.value(key) if key is not None else None
            config = module.value(value)
            if not isinstance(name, str) or not isinstance(config, dict):
                reading.leave_out("a configuration that is more than data", place)
                continue
            yield from _variants(name, config, place)


def _variants(name: str, config: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield _named(name), _plain(config, name), place
    notes = config.get("notes") or []
    if "_clip_" in name and isinstance(notes, list) and notes and "quickgelu" in str(notes[0]):
        # timm makes these in a loop: the same weights and pixels, the activation that they were trained with.
        yield _named(name.replace("_clip_", "_clip_quickgelu_")), _plain(config, name), place


def _named(name: str) -> str:
    return clean(name)[:100]


def _plain(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Data only, and where timm finds the weights."""
    found = {key: value for key, value in config.items() if not isinstance(value, (Opaque, Called))}
    hub = str(found.get("hf_hub_id") or "")
    if hub.endswith("/"):
        found["hf_hub_id"] = hub + name
    return found


def _entry(name: str, config: Mapping[str, Any], place: str) -> Entry:
    architecture, _, tag = name.partition(".")
    size = config.get("input_size")
    is_size = isinstance(size, list) and len(size) == 3 and all(isinstance(each, int) for each in size)
    classes = config.get("num_classes", 1000)
    kept = {key: _number(config[key]) for key in _KEPT if config.get(key) is not None}
    return Entry(
        name,
        "embedding" if classes == 0 else "classification",
        architecture=name,
        builder="timm",
        framework="pytorch",
        description=clean(str(config.get("paper_name") or ""))[:200],
        input_size=tuple(int(each) for each in size) if is_size and isinstance(size, list) else (),
        code_license=_CODE_LICENSE,
        weights_license=clean(str(config.get("license") or ""))[:100],
        weights=_weights(config),
        importer="timm",
        config={"pretrained_cfg": {"architecture": architecture, **({"tag": tag} if tag else {}), **kept}},
        references=tuple(_references(config)),
        place=place,
    )


def _number(value: Any) -> Any:
    """Plain data for JSON: what remembers its digits is written with them by the entry's claims only."""
    if isinstance(value, list):
        return [_number(each) for each in value]
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _weights(config: Mapping[str, Any]) -> tuple[WeightsFact, ...]:
    found = []
    hub = str(config.get("hf_hub_id") or "")
    if re.fullmatch(r"[\w.-]+/[\w.-]+", hub):
        file = str(config.get("hf_hub_filename") or "model.safetensors")
        if re.fullmatch(r"[\w./-]{1,200}", file):
            found.append(WeightsFact(f"https://huggingface.co/{hub}/resolve/main/{file}"))
    url = config.get("url")
    if isinstance(url, str) and re.match(r"https?://[^\s]{4,1000}$", url):
        start = re.search(r"-([0-9a-f]{8})\.(?:pth|pt|npz)", url)
        found.append(WeightsFact(url, sha256_start=start[1] if start else ""))
    return tuple(found)


def _references(config: Mapping[str, Any]) -> Iterator[str]:
    papers = config.get("paper_ids")
    for each in papers if isinstance(papers, list) else [papers]:
        if isinstance(each, str) and each.lower().startswith("arxiv:"):
            yield f"https://arxiv.org/abs/{clean(each[6:])[:40]}"
    origin = config.get("origin_url")
    if isinstance(origin, str) and origin.startswith("https://"):
        yield clean(origin)[:300]


def _results(reading: Reading) -> dict[str, _Result]:
    found: dict[str, _Result] = {}
    for table, (dataset, described, is_known) in _RESULTS.items():
        file = _tables(reading.files).get(table)
        if file is None:
            continue
        for line, row in _rows(reading, file):
            name = _named(row.get("model") or "")
            if not name:
                reading.leave_out("a row of results without a model", f"{file}:{line}")
                continue
            result = found.setdefault(name, _Result([]))
            if not result.place:
                result.place = f"{file}:{line}"
            _learn(result, row)
            conditions = f"{row.get('img_size')} pixels, crop_pct {row.get('crop_pct')}, {row.get('interpolation')}"
            for metric in ("top1", "top5"):
                text = number_text(row.get(metric))
                if text is None:
                    reading.leave_out(f"a {metric} that is no number", f"{file}:{line}")
                    continue
                result.claims.append(
                    ClaimFact(
                        metric,
                        text,
                        "percent",
                        "timm's tables are in percent: top1 + top1_err is 100",
                        f"{file}:{line}",
                        dataset,
                        conditions=clean(conditions)[:100],
                        dataset_as_written=described,
                        is_known_dataset=is_known,
                    )
                )
    return found


def _learn(result: _Result, row: Mapping[str, str]) -> None:
    millions = number_text((row.get("param_count") or "").replace(",", ""))
    if result.parameters is None and millions is not None:
        result.parameters = round(float(millions) * 1e6)
    size = row.get("img_size") or ""
    if not result.size and re.fullmatch(r"\d{1,5}", size):
        result.size, result.crop = int(size), number_text(row.get("crop_pct")) or ""
        result.interpolation = clean(row.get("interpolation") or "")[:20]


def _from_row(result: _Result) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if 0 < result.size <= 65535:
        config["input_size"] = [3, result.size, result.size]
    if result.crop:
        config["crop_pct"] = float(result.crop)
    if result.interpolation:
        config["interpolation"] = result.interpolation
    return config


def _rows(reading: Reading, file: str) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, row) of a CSV file; a row of another length is left out."""
    try:
        text = reading.files.read(file).decode("utf-8-sig", errors="replace")
        rows = csv.reader(io.StringIO(text))
        header = next(rows, [])
        for count, row in enumerate(rows):
            if count >= _MAX_ROWS:
                reading.leave_out("rows beyond the first 20,000", file)
                return
            if len(row) != len(header):
                reading.leave_out("a row of another length than its header", f"{file}:{rows.line_num}")
                continue
            yield rows.line_num, dict(zip(header, row, strict=True))
    except (ManifestError, csv.Error) as error:
        reading.leave_out(f"a table that cannot be read: {type(error).__name__}", file)


def _complexities(reading: Reading) -> dict[str, tuple[float, int]]:
    """(billions of multiplications and additions, parameters) by model, from the tables of speed."""
    found: dict[str, tuple[float, int]] = {}
    for file in reading.files.matching("*benchmark-infer-*.csv"):
        for line, row in _rows(reading, file):
            macs = number_text((row.get("infer_gmacs") or "").replace(",", ""))
            millions = number_text((row.get("param_count") or "").replace(",", ""))
            if macs is None or millions is None:
                reading.leave_out("a row of speed without its size", f"{file}:{line}")
                continue
            found.setdefault(_named(row.get("model") or ""), (float(macs), round(float(millions) * 1e6)))
    return found


def _at_measured_size(entry: Entry, claims: list[ClaimFact]) -> Entry:
    """Claims beside the pixels that they were measured with: those of training, or else timm's `test_input_size`."""
    config = dict(entry.config["pretrained_cfg"])
    plain = _conditions(config.get("input_size"), config.get("crop_pct"))
    if config.get("test_input_size") is not None and all(_at(claim) != plain for claim in claims):
        test = {
            "input_size": config["test_input_size"],
            "crop_pct": config.get("test_crop_pct", config.get("crop_pct")),
        }
        tested = _conditions(test["input_size"], test["crop_pct"])
        if any(_at(claim) == tested for claim in claims):
            size = tuple(test["input_size"]) if isinstance(test["input_size"], list) else entry.input_size
            kept = {key: value for key, value in config.items() if not key.startswith("test_")}
            entry = replace(entry, input_size=size, config={"pretrained_cfg": {**kept, **test}})
            plain = tested
    return replace(entry, claims=tuple(replace(claim, fits=_at(claim) == plain) for claim in claims))


def _conditions(size: Any, crop: Any) -> tuple[int, float]:
    """The side and the share that a row of results is about."""
    side = size[-1] if isinstance(size, list) and size and isinstance(size[-1], int) else 224
    return side, round(float(crop), 3) if isinstance(crop, (int, float)) else 0.875


def _at(claim: ClaimFact) -> tuple[int, float]:
    found = re.match(r"(\d{1,5}) pixels, crop_pct ([\d.]{1,8}),", claim.conditions)
    return (int(found[1]), round(float(found[2]), 3)) if found and number_text(found[2]) else (0, 0.0)


def _with_results(entry: Entry, result: _Result | None, complexity: tuple[float, int] | None) -> Entry:
    parameters = result.parameters if result is not None else None
    if complexity is not None:
        entry = replace(entry, gflops=complexity[0])
        parameters = parameters or complexity[1]
    entry = replace(entry, parameters=parameters)
    return _at_measured_size(entry, result.claims) if result is not None else entry
