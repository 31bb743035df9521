"""Write docs/reference/ and docs/pitfalls.md from what the code says, so that they cannot drift. A test compares."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import typer.main

from mlmodelscope.cli.main import app
from mlmodelscope.measure.normalization import Normalization
from mlmodelscope.replicate.pitfall import PITFALLS
from mlmodelscope.replicate.pitfall.explanation import PAPERS, explanation_of
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.task import TASKS
from mlmodelscope_worker.output import ANSWER_STEPS, OUTPUT_STEPS
from mlmodelscope_worker.parameters import (
    Choice,
    Declaration,
    Dimensions,
    File,
    Flag,
    Integer,
    Mapping,
    Names,
    Number,
    Numbers,
    PerChannel,
    Words,
)
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.column_values import Categories, Codes, PerColumn
from mlmodelscope_worker.pipeline.library import (
    AUDIO_DECODERS,
    DCT_METHODS,
    PACKAGES,
    RESAMPLERS,
    SCALE_METHODS,
    antialias_choices,
)
from mlmodelscope_worker.predictor import OURS, PREDICTORS
from mlmodelscope_worker.predictor.device import Device
from mlmodelscope_worker.predictor.predictor import PredictorDeclaration
from mlmodelscope_worker.training.augmentation import AUGMENTATIONS

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
WRITTEN = "<!-- written by tools/make_docs.py -->\n"


def kind_of(parameter: object) -> str:
    if isinstance(parameter, Choice):
        return ", ".join(f"`{value}`" for value in parameter.values)
    if isinstance(parameter, Words):
        return "one or several of " + ", ".join(f"`{value}`" for value in parameter.values)
    if isinstance(parameter, Device):
        return ", ".join(f"`{value}`" for value in parameter.examples()) + ", …"
    names = {Integer: "whole number", Number: "number", Numbers: "list of numbers", Flag: "true or false"}
    names |= {
        Normalization: "list of steps",
        PerChannel: "number, or one per channel",
        Dimensions: "[height, width], [channels, height, width] or a number",
        File: "name of a file",
        Names: "list of names",
        Mapping: "values by name",
        Categories: "lists by column",
        Codes: "numbers by column and category",
    }
    if isinstance(parameter, PerColumn):
        return "number or text, or one by column" if parameter.texts else "number, or one by column"
    return names.get(type(parameter), "text")


def table(declaration: Declaration) -> str:
    if not declaration.kinds:
        return "No parameters.\n"
    rows = ["| parameter | values | default | meaning |", "|---|---|---|---|"]
    for name, kind in declaration.kinds.items():
        default = declaration.defaults[name]
        shown = "required" if default is inspect.Parameter.empty else "" if default is None else f"`{spell(default)}`"
        rows.append(f"| `{name}` | {kind_of(kind)} | {shown} | {kind.meaning} |")
    shorthand = f"\n`{declaration.name}: value` is short for `{declaration.main}`.\n" if declaration.main else ""
    return "\n".join(rows) + "\n" + shorthand


def spell(value: object) -> str:
    if isinstance(value, tuple):
        return str(list(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def section(declaration: Declaration) -> str:
    text = inspect.getdoc(declaration.function) or ""
    return f"## {declaration.name}\n\n{text}\n\n{table(declaration)}"


def steps_page() -> str:
    libraries = ["| library | packages | DCT | resize methods | antialias |", "|---|---|---|---|---|"]
    for name, packages in PACKAGES.items():
        if name not in SCALE_METHODS and name not in DCT_METHODS:
            continue
        smooth = antialias_choices(name, "bilinear") if name in SCALE_METHODS else ()
        words = {(True,): "always", (False,): "never", (False, True): "if asked", (True, False): "unless asked not to"}
        antialias = words.get(smooth, "")
        methods = ", ".join(SCALE_METHODS.get(name, ())) or "decodes only"
        decodes = ", ".join(DCT_METHODS.get(name, ())) or "resizes only"
        libraries.append(f"| {name} | {packages[0]} | {decodes} | {methods} | {antialias} |")
    return (
        f"# Steps\n\n{WRITTEN}\nPre-processing steps (`inputs[].processing`), run in the order written.\n\n"
        + "\n".join(section(STEPS[name]) for name in sorted(STEPS))
        + "\n# Output steps\n\nPost-processing steps (`outputs[].processing`).\n\n"
        + "\n".join(section(OUTPUT_STEPS[name]) for name in sorted(OUTPUT_STEPS))
        + "\n# Answer steps\n\nSteps over all outputs of a sample together (`answer`).\n\n"
        + "\n".join(section(ANSWER_STEPS[name]) for name in sorted(ANSWER_STEPS))
        + "\n# Image libraries\n\n"
        + "\n".join(libraries)
        + "\n\n# Sound libraries\n\n"
        + "\n".join(sound_libraries())
        + "\n"
    )


def sound_libraries() -> list[str]:
    rows = ["| library | packages | reads files | resamples, first by default |", "|---|---|---|---|"]
    for name in (*AUDIO_DECODERS, *RESAMPLERS):
        reads = "yes" if name in AUDIO_DECODERS else ""
        rows.append(f"| {name} | {PACKAGES[name][0]} | {reads} | {', '.join(RESAMPLERS.get(name, ()))} |")
    return rows


def predictors_page() -> str:
    pages = "\n".join(section(PREDICTORS[name]) + releases(PREDICTORS[name]) for name in sorted(OURS))
    about = (
        "Frameworks. Options are given as `--option KEY=VALUE`. Other releases than those that are named are refused."
    )
    return f"# Predictors\n\n{WRITTEN}\n{about}\n\n{pages}"


def releases(declaration: PredictorDeclaration) -> str:
    if declaration.versions is None:
        return ""
    return f"\nReleases of `{declaration.packages[0]}` that it runs: `{declaration.versions}`.\n"


def metrics_page() -> str:
    rows = []
    for name, each in sorted(MEASURES.all().items()):
        unit = each.unit.published or each.unit.name
        facts = [f"tasks: {', '.join(each.tasks)}", f"published in {unit}", f"{each.better} is better"]
        facts += [f"also called {', '.join(f'`{alias}`' for alias in each.aliases)}"] if each.aliases else []
        rows.append(f"## {name}\n\n{each.meaning}\n\n{each.title}; {'; '.join(facts)}.\n")
    about = "Numbers that records keep and claims are about. Failed samples are counted and listed, never part of one."
    return f"# Metrics\n\n{WRITTEN}\n{about}\n\n" + "\n".join(rows)


def tasks_page() -> str:
    parts = []
    for name in sorted(TASKS):
        task = TASKS[name]
        measures = ", ".join(f"[{each.name}](metrics.md#{each.name})" for each in task.measures)
        roles = " or ".join(" + ".join(f"`{role}`" for role in roles) for roles in task.roles)
        text = f"## {name}\n\n{inspect.getdoc(sys.modules[TASKS.built_in[name]])}\n\nMeasures: {measures}.\n"
        text += f"\nOutputs: {roles}.\n" if roles else ""
        if task.options:
            rows = ["| option of `measure` | values | default | meaning |", "|---|---|---|---|"]
            for key, option in task.options.items():
                rows.append(f"| `{key}` | {kind_of(option.kind)} | `{spell(option.default)}` | {option.kind.meaning} |")
            text += "\n" + "\n".join(rows) + "\n"
        parts.append(text)
    about = "What models do, what is measured, and what a manifest's `measure` may say about it."
    return f"# Tasks\n\n{WRITTEN}\n{about}\n\n" + "\n".join(parts)


def cli_page() -> str:
    parts = [f"# Command line\n\n{WRITTEN}\n{app.info.epilog}\n"]
    root = typer.main.get_command(app)
    for name, command in sorted(root.commands.items()):  # type: ignore[attr-defined]
        parts.append(command_section(f"mlmodelscope {name}", command))
        for inner, subcommand in sorted(getattr(command, "commands", {}).items()):
            parts.append(command_section(f"mlmodelscope {name} {inner}", subcommand))
    return "\n".join(parts)


def command_section(title: str, command: object) -> str:
    rows = ["| argument or option | meaning |", "|---|---|"]
    for parameter in command.params:  # type: ignore[attr-defined]
        options = [option for option in parameter.opts if option.startswith("-")]
        shown = ", ".join(f"`{option}`" for option in options) or f"`{parameter.name.upper()}`"
        if options != ["--help"]:
            rows.append(f"| {shown} | {getattr(parameter, 'help', None) or ''} |")
    body = "\n".join(rows) + "\n" if len(rows) > 2 else ""
    return f"## {title}\n\n{inspect.cleandoc(command.help or '')}\n\n{body}"  # type: ignore[attr-defined]


PICTURES = REFERENCE.parent / "images" / "pitfalls"
ABOUT_PITFALLS = """\
What people get wrong when they evaluate somebody else's model. `mlmodelscope replicate` tries each of them where a
number does not hold, `mlmodelscope sensitivity` says what each would cost, and `mlmodelscope pitfalls NAME` shows one
of these pages.

A picture of three parts shows what the model gets: as it should be, with the pitfall, and the difference between the
two, stretched until the largest is white. They are of efficientnet-lite0 and photographs of imagenet-70. A picture of
two parts shows what a model answers: as it should be, and with the pitfall; the model and the picture are named below
it. All are drawn and counted by `python tools/make_pitfall_pictures.py`. The portrait of an astronaut is NASA's, in
the public domain; the wheel of scikit-image 0.26.0 carries it.

What a pitfall costs these models was measured by `mlmodelscope sensitivity MODEL DATASET --pitfall NAME`, with
manifests of `tests/acceptance/manifests`: FastestDet is `fastestdet.yml` on `coco-first-128.yml` (the first 128
pictures of val2017), DeepLabv3 is `deeplabv3-mnv2.yml` on `coco-100-voc.yml` (100 of them); bicubic interpolation is
`bicubic-x2.yml` and `bicubic-x4.yml`, VDSR `vdsr-x2.yml` and SRResNet `srresnet-x4.yml`, all on the five pictures of
`set5.yml`. Regressions of tables are linear models that `tests/table_world.py` fits to a part of the datasets of
scikit-learn 1.9 and measures on the rest. These are small samples, and another model may move otherwise.
"""


def pitfalls_page() -> str:
    """A page of all pitfalls; the pictures and what was seen with them come from tools/make_pitfall_pictures.py."""
    drawn = json.loads((PICTURES / "pictures.json").read_text())
    papers = "\n".join(f"- {name}: [{title}]({url})" for name, (title, url) in PAPERS.items())
    parts = [f"# Pitfalls\n\n{WRITTEN}\n{ABOUT_PITFALLS}\n{papers}\n"]
    for each in sorted(PITFALLS.values(), key=lambda each: not each.paper):  # those that the papers show come first
        parts.append(f"## {each.title}\n\n`{each.name}`{f' · {each.paper}' if each.paper else ''}\n")
        if each.name in drawn:
            parts.append(f"![{each.title}](images/pitfalls/{each.name}.jpg)\n\n*{caption(drawn[each.name])}*\n")
        parts.append(f"{explanation_of(each.name)}\n")
    return "\n".join(parts)


def caption(seen: dict[str, Any]) -> str:
    title = f"{seen['words'][:1].upper()}{seen['words'][1:]}" + (f" ({seen['about']})" if seen["about"] else "")
    if seen.get("kind") == "answers":
        return answers_caption(title, seen)
    said = f"{title}: values differ by {seen['largest']:.3g} at most, {seen['mean']:.3g} on average; "
    said += f"the difference is drawn {seen['stretched']}."
    if seen["right"] is not None:
        which = f"{seen['compared']} samples" + (" that can be read both ways" * (seen["compared"] < seen["samples"]))
        said += f" Of {which}, {seen['right_before']} are right as it should be, {seen['right']} with the pitfall."
    return said


def answers_caption(title: str, seen: dict[str, Any]) -> str:
    """Of a picture that has the answer as it should be on the left, and with the pitfall on the right."""
    both = f"{seen['right']} as it should be (left), {seen['wrong']} with the pitfall (right)"
    found = [both if seen["right"] else "as it should be (left) and with the pitfall (right)", seen["apart"]]
    return f"{title}, {seen['model']} on {seen['picture']}: {'; '.join(each for each in found if each)}."


def augmentation_page() -> str:
    return (
        f"# Augmentation\n\n{WRITTEN}\nWhat is changed at random in samples of a [training](../training.md) "
        "(`training: {augmentation: …}`), in the order written.\n\n"
        + "\n".join(section(AUGMENTATIONS[name]) for name in sorted(AUGMENTATIONS))
    )


PAGES = {
    "../pitfalls.md": pitfalls_page,
    "steps.md": steps_page,
    "predictors.md": predictors_page,
    "tasks.md": tasks_page,
    "metrics.md": metrics_page,
    "cli.md": cli_page,
    "augmentation.md": augmentation_page,
}

if __name__ == "__main__":
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())
    sys.stdout.write(f"wrote {', '.join(PAGES)}\n")
