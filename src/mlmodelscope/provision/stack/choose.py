"""Which stack a model runs in: the running Python where it will do, or one that is described, known, or made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlmodelscope.errors import PlanError, StackError, TrustError, UsageError
from mlmodelscope.manifest.schema import Images, ModelManifest, SoftwareManifest
from mlmodelscope.plan.framework import choose_framework
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.plan.stack import StackDescription, misfits, provides, refuse_release
from mlmodelscope.provision.stack.architecture import find_architecture
from mlmodelscope.provision.stack.container import pin_image
from mlmodelscope.provision.stack.current import describe_current
from mlmodelscope.provision.stack.known import brings, is_for_this_machine, known_software
from mlmodelscope.provision.stack.provisioner import Progress
from mlmodelscope.provision.stack.step_libraries import refuse_lacking, with_libraries
from mlmodelscope.provision.stack.store import Built, StackStore
from mlmodelscope.settings import Settings
from mlmodelscope.types import Checksum


def choose_stack(
    model: ModelManifest,
    software: SoftwareManifest | None,
    settings: Settings,
    progress: Progress = lambda line: None,
    *,
    gpu: bool = False,
    trust: bool = False,
    relax: bool = False,
) -> tuple[SoftwareManifest | None, StackDescription]:
    """The stack for a model, built where it is not there yet, and the software manifest that describes it.

    `trust` lets an image run that a manifest names: what is in it is other people's code. `relax` takes the nearest
    release of the framework where no stack has the one that the model pins.
    """
    if software is not None:
        check_stack(model, software, gpu=gpu, trust=trust, relax=relax)
    current = describe_current()
    image, is_named, why_none = None, software is not None, None
    if software is None and not provides(model, None, current):
        try:
            software = find_software(model, settings, progress, relax=relax)
        except StackError as error:
            image, why_none = find_image(model.container, gpu), error
            if image is None:
                raise
        if software is not None:
            progress(f"this Python does not have what {model.name} needs; {software.reference} does")
        else:
            image = find_image(model.container, gpu)
    elif software is not None and software.stack is None and not _satisfied(model, software, current):
        image = find_image(software.container, gpu)
    if image is not None:
        if not trust:
            raise _untrusted((software or model).reference, image, why_none)
        return software, build_image(image, settings, progress).description
    if software is None or software.stack is None:
        return software, current
    if not misfits(software, current) and provides(model, software.framework, current):
        return software, current
    if not is_named:
        software = with_libraries(model, software, settings, progress)
    return software, build_stack(software, settings, progress).description


def check_stack(
    model: ModelManifest, software: SoftwareManifest, *, gpu: bool = False, trust: bool = False, relax: bool = False
) -> None:
    """Refuse a stack that a user names and that would not run the model, as far as its manifest tells.

    Nothing is built, fetched or started to find out.
    """
    current = describe_current()
    if software.stack is None:
        image = None if _satisfied(model, software, current) else find_image(software.container, gpu)
        if image is not None and not trust:
            raise _untrusted(software.reference, image, None)
        return
    if not misfits(software, current) and provides(model, software.framework, current):
        return
    refuse_lacking(model, software)
    if software.stack.root is not None:
        _ = find_architecture(software.stack.architecture).emulator  # which is there, or StackError says how to get it
    brought, framework = brings(software), choose_framework(model, software)
    if brought is not None and framework is not None:
        package, version = brought
        promised = StackDescription(software.name, "", {package: str(version)}, recipe_of(software))
        refuse_release(model, framework, promised, relax)


def missing_stack(
    model: ModelManifest, software: SoftwareManifest | None, settings: Settings, *, gpu: bool = False
) -> str | None:
    """Why no stack of this machine runs a model as it is: nothing is built, fetched or started to find out."""
    current = describe_current()
    if software is None and provides(model, None, current):
        return None
    is_named = software is not None
    if software is None:
        try:
            software = find_software(model, replace(settings, offline=True), _silent)
        except StackError as error:
            return error.message
        if software is None:
            image, framework = find_image(model.container, gpu), model.framework
            if image is not None:
                return f"only the container image {image} runs it"
            if framework is None:
                return "its manifest names no framework"
            return f"no stack here runs {framework.name} {framework.version}"
    if software.stack is None:
        image = find_image(software.container, gpu)
        return None if image is None or _satisfied(model, software, current) else f"only the image {image} runs it"
    if not misfits(software, current) and provides(model, software.framework, current):
        return None
    try:
        software = software if is_named else with_libraries(model, software, replace(settings, offline=True), _silent)
    except PlanError as error:
        return error.message
    if software.stack is None or StackStore(settings).find(recipe_of(software)) is None:
        return f"the stack {software.reference} is not built here"
    return None


def _silent(line: str) -> None:
    """Nobody is told of what is only looked at."""


def find_software(
    model: ModelManifest, settings: Settings, progress: Progress = lambda line: None, *, relax: bool = False
) -> SoftwareManifest | None:
    """The software manifest for a model that names none: a known one, or one that is made. Nothing is built.

    StackError where no release satisfies the model's constraint; nothing where no stack of its framework is known.
    """
    software = known_software(model)
    if software is not None or model.framework is None:
        return software
    from mlmodelscope.provision.stack.made import make_software
    from mlmodelscope.provision.stack.relaxed import relaxed_framework

    try:
        software = make_software(model.framework, settings, progress)
        refused = None
    except StackError as error:
        refused = error
    if software is not None or not relax:
        if refused is not None:
            raise refused
        return software
    near = relaxed_framework(model.framework, settings)
    if near is None:
        return None
    progress(f"{model.framework.name} {model.framework.version} cannot be had; taking {near.version.lstrip('=')}")
    other = model.model_copy(update={"framework": near})
    return known_software(other) or make_software(near, settings, progress)


def _untrusted(reference: str, image: str, why_none: StackError | None) -> TrustError:
    message = f"{reference} would run in the container image {image}, which is not trusted"
    hint = f"--trust lets it run this once; --stack image:{image} names it yourself"
    if why_none is not None:
        message += f"\nNo stack does instead: {why_none.message}"
        hint += f"; {why_none.hint}" if why_none.hint else ""
    return TrustError(message, hint=hint)


def _satisfied(model: ModelManifest, software: SoftwareManifest, current: StackDescription) -> bool:
    """Whether the running Python is what a manifest without a stack asks for: one that names just an image is not."""
    return software.framework is not None and provides(model, software.framework, current)


def build_stack(software: SoftwareManifest, settings: Settings, progress: Progress = lambda line: None) -> Built:
    """What a software manifest describes, made where it is not there yet: its stack, or its image for this machine."""
    if software.stack is not None:
        return StackStore(settings).build(recipe_of(software), software.reference, progress)
    image = find_image(software.container, gpu=False) or find_image(software.container, gpu=True)
    if image is None:
        raise UsageError(f"{software.reference} describes neither a stack nor a container image for this machine")
    return build_image(image, settings, progress)


def build_image(image: str, settings: Settings, progress: Progress) -> Built:
    recipe = StackRecipe(python="*", image=pin_image(image, settings.offline))
    return StackStore(settings).build(recipe, image, progress)


def find_image(images: Mapping[str, Images], gpu: bool) -> str | None:
    """The container image for this machine and device."""
    for architecture, each in images.items():
        if architecture == "any" or is_for_this_machine(architecture):
            image = each.gpu if gpu else each.cpu
            if image is not None:
                return image
    return None


def recipe_of(software: SoftwareManifest) -> StackRecipe:
    stack = software.stack
    assert stack is not None
    return StackRecipe(
        python=stack.python,
        requirements=stack.requirements,
        find_links=stack.find_links,
        index_url=stack.index_url,
        system_packages=stack.system_packages,
        library_names=stack.library_names,
        root=stack.root,
        root_sha256=Checksum.parse(stack.root_checksum).hex if stack.root_checksum else None,
        architecture=stack.architecture,
    )
