"""`init`: a manifest from what an author has."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.terminal import AsJson, print_json, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.author.make import Written
    from mlmodelscope.author.request import Request


def _option(flag: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, help=text, metavar=metavar)


@verb
def init(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="A model file or folder, or SOURCE:NAME of the catalog; a configuration will do alone.",
            metavar="MODEL | --from PATH",
        ),
    ] = None,
    configs: Annotated[
        list[Path] | None, _option("--from", "Configuration that came with the model; may be repeated.", "PATH")
    ] = None,
    output: Annotated[Path | None, _option("--output", "Write the manifest here rather than print it.", "FILE")] = None,
    force: Annotated[bool, _option("--force", "Overwrite what is there.")] = False,
    yes: Annotated[bool, _option("--yes", "Ask nothing; guesses stay guesses.")] = False,
    name: Annotated[str | None, _option("--name", "Name of the model.")] = None,
    version: Annotated[str | None, _option("--version", "Version of the manifest.")] = None,
    task: Annotated[str | None, _option("--task", "What the model does.")] = None,
    color: Annotated[str | None, _option("--color", "Order of the colours: RGB, BGR or GRAY.")] = None,
    scale: Annotated[str | None, _option("--scale", "Pixels are divided by this first, for example 255.")] = None,
    mean: Annotated[str | None, _option("--mean", "What is subtracted: one number, or one per channel.")] = None,
    std: Annotated[str | None, _option("--std", "What is divided by after that.")] = None,
    resize: Annotated[
        str | None, _option("--resize", "256 (shorter side), 224x320 (height x width) or max:640 (longer side).")
    ] = None,
    crop: Annotated[str | None, _option("--crop", "Centre to cut out: 224, 224x320 or 87.5%.")] = None,
    library: Annotated[str | None, _option("--library", "Image library that decodes and resizes.")] = None,
    method: Annotated[str | None, _option("--method", "Interpolation, for example bicubic.")] = None,
    labels: Annotated[str | None, _option("--labels", "File with one class name a line.", "FILE")] = None,
    label_offset: Annotated[int | None, _option("--label-offset", "Output number of the dataset's class 0.")] = None,
    license: Annotated[str | None, _option("--license", "License of the model's files.")] = None,
    former_license: Annotated[str | None, typer.Option("--licence", hidden=True)] = None,
    description: Annotated[str | None, _option("--description", "What the model is.")] = None,
    framework_version: Annotated[
        str | None, _option("--framework-version", "Which versions of the framework will do, for example ^1.10.")
    ] = None,
    dataset: Annotated[str | None, _option("--dataset", "Dataset to use when none is named.")] = None,
    claim: Annotated[
        list[str] | None, _option("--claim", "Published number, as top1=75.1@imagenet-val:SOURCE.", "CLAIM")
    ] = None,
    model_name: Annotated[str | None, _option("--model-name", "Which of several models of a configuration.")] = None,
    launcher: Annotated[
        str | None, _option("--launcher", "Which of a model's frameworks in accuracy-check.yml.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a manifest from a model file, from the configuration that came with it, or from both."""
    from mlmodelscope.author.make import make_manifest, write_files
    from mlmodelscope.author.request import Request

    license = license if license is not None else former_license
    if model is not None and (described := _described(model)) is not None:
        answers = (configs, name, version, task, color, scale, mean, std, resize, crop, library, method, labels)
        more = (label_offset, license, description, framework_version, dataset, claim, model_name, launcher)
        if any(each is not None for each in (*answers, *more)):
            raise UsageError(
                f"{model} is a model of a catalog source, whose facts take no other options",
                hint=f"mlmodelscope init {model} --output FILE, then edit the file",
            )
        _write_described(described, output, force, as_json)
        return
    given = list(configs or [])
    named = _library_of(str(model)) if model is not None else None
    place = tempfile.TemporaryDirectory(prefix="mlmodelscope-init-") if named is not None else None
    if named is not None and place is not None:
        given.insert(0, _asked_of(*named, Path(place.name)))
        model = None
    if model is not None and _is_config(model):
        given.insert(0, model)
        model = None
    request = Request(
        model=model,
        configs=tuple(given),
        name=name,
        version=version,
        task=task,
        color=color,
        mean=mean,
        std=std,
        scale=scale,
        resize=resize,
        crop=crop,
        library=library,
        method=method,
        labels=labels,
        label_offset=label_offset,
        license=license,
        description=description,
        framework_version=framework_version,
        dataset=dataset,
        claims=tuple(claim or ()),
        model_name=model_name,
        launcher=launcher,
        output=output,
    )
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} exists already", hint="--force overwrites it")
    written = make_manifest(request)
    if sys.stdin.isatty() and not yes and not as_json and written.draft.questions:
        written = make_manifest(_ask(request, written))
    paths = write_files(written, output, force) if output is not None else []
    if as_json:
        print_json(_report(written, paths))
    else:
        _tell(written, paths)


def _library_of(text: str) -> tuple[str, str] | None:
    """(library, architecture) of `timm:resnet50.a1_in1k`; nothing for a path."""
    from mlmodelscope.provision.library_configuration import ASKED

    library, colon, architecture = text.partition(":")
    return (library, architecture) if colon and library in ASKED else None


def _asked_of(library: str, architecture: str, place: Path) -> Path:
    """A file with what the library says of one of its architectures."""
    from mlmodelscope.provision.library_configuration import library_configuration

    found = library_configuration(
        library, architecture, settings(False), lambda line: print(line, file=sys.stderr, flush=True)
    )
    path = place / f"{library}.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def _described(model: Path) -> str | None:
    """The manifest's text, where the model is named as `SOURCE:NAME` of the catalog."""
    from mlmodelscope.manifest.catalog import described_model

    found = described_model(str(model)) if not model.exists() else None
    return found.read_text(encoding="utf-8") if found is not None else None


def _write_described(text: str, output: Path | None, force: bool, as_json: bool) -> None:
    from mlmodelscope.author.draft import Draft
    from mlmodelscope.author.make import Written, write_files

    paths = write_files(Written(Draft(), text, {}), output, force) if output is not None else []
    if as_json:
        print_json({"files": [str(path) for path in paths], "manifest": text})
        return
    if not paths:
        print(text, end="")
    for path in paths:
        print(path)


def _is_config(path: Path) -> bool:
    """Told by the name: what a configuration holds is looked at later."""
    if path.is_dir():
        return not (path / "saved_model.pb").exists()
    if path.suffix.lower() == ".json" and path.is_file():
        from mlmodelscope.model_file.mxnet import is_mxnet_symbol
        from mlmodelscope.model_file.weights_alone import is_index

        with path.open("rb") as file:  # a symbol of MXNet and an index of shards are JSON, too
            return not is_mxnet_symbol(memoryview(file.read(1 << 12))) and not is_index(path)
    return path.suffix.lower() in (".json", ".yml", ".yaml", ".txt", ".cfg")


def _ask(request: Request, written: Written) -> Request:
    from dataclasses import replace

    print("Enter keeps what stands in brackets.", file=sys.stderr)
    for question in written.draft.questions:
        choices = f" ({', '.join(question.choices)})" if 0 < len(question.choices) <= 6 else ""
        while True:
            default = f" [{question.default}]" if question.default else ""
            # Not typer's prompt: that writes to standard output, where the manifest goes.
            print(f"{question.text}{choices}{default}: ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            answer = line.strip() or question.default or ""
            if not answer or not line:
                break
            try:
                answers: dict[str, Any] = {question.key: answer}
                request = replace(request, **answers).checked()
                break
            except UsageError as error:
                print(f"error: {error}", file=sys.stderr)
    return request


def _tell(written: Written, paths: list[Path]) -> None:
    if not paths:
        print(written.text, end="")
    for path in paths:
        print(path)
    draft = written.draft
    said = []
    if draft.guesses:
        said.append(f"{len(draft.guesses)} guesses are marked in it")
    if draft.unknown:
        said.append(f"{len(draft.unknown)} things could not be expressed and are named at its head")
    flags = ", ".join(question.flag for question in draft.questions)
    if flags:
        said.append(f"answer with {flags}")
    if said:
        print("; ".join(said), file=sys.stderr)


def _report(written: Written, paths: list[Path]) -> dict[str, Any]:
    draft = written.draft
    return {
        "files": [str(path) for path in paths],
        "manifest": written.text,
        "found": [
            {"where": key, "value": fact.value, "because": fact.because}
            for key, fact in draft.facts.items()
            if not fact.guess
        ],
        "guessed": [vars(guess) for guess in draft.guesses],
        "questions": [{"flag": question.flag, "text": question.text} for question in draft.questions],
        "not_expressed": draft.unknown,
        "notes": draft.notes,
        "labels": len(draft.labels),
    }
