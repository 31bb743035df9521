"""Which stack a model runs in: the running Python where it will do, one that is described, or one that is known."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping

from mlmodelscope.errors import MLModelScopeError, TrustError, UsageError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import Images, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.make import StackDescription, framework_word, misfits, provides, same_framework
from mlmodelscope.plan.match import normal_architecture
from mlmodelscope.plan.plan import StackRecipe
from mlmodelscope.provision.stack.container import pin_image
from mlmodelscope.provision.stack.current import describe_current
from mlmodelscope.provision.stack.provisioner import Progress
from mlmodelscope.provision.stack.store import Built, StackStore
from mlmodelscope.settings import Settings
from mlmodelscope.types import Checksum
from mlmodelscope_worker.environment import normalise
from mlmodelscope_worker.predictor import PREDICTORS


def choose_stack(
    model: ModelManifest,
    software: SoftwareManifest | None,
    settings: Settings,
    progress: Progress = lambda line: None,
    *,
    gpu: bool = False,
    trust: bool = False,
) -> tuple[SoftwareManifest | None, StackDescription]:
    """The stack for a model, built where it is not there yet, and the software manifest that describes it.

    `trust` lets an image run that a manifest names: what is in it is other people's code.
    """
    current = describe_current()
    image = None
    if software is None and not provides(model, None, current):
        software = known_software(model)
        if software is not None:
            progress(f"this Python does not have what {model.name} needs; {software.reference} does")
        else:
            image = find_image(model.container, gpu)
    elif software is not None and software.stack is None and not _satisfied(model, software, current):
        image = find_image(software.container, gpu)
    if image is not None:
        if not trust:
            raise TrustError(
                f"{(software or model).reference} would run in the container image {image}, which is not trusted",
                hint=f"--trust lets it run this once; --stack image:{image} names it yourself",
            )
        return software, build_image(image, settings, progress).description
    if software is None or software.stack is None:
        return software, current
    if not misfits(software, current) and provides(model, software.framework, current):
        return software, current
    return software, build_stack(software, settings, progress).description


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
        if architecture == "any" or _is_for_this_machine(architecture):
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


def known_software(model: ModelManifest) -> SoftwareManifest | None:
    """The catalogued stack whose framework satisfies the model's constraint: of several, the newest.

    Where a framework comes in several packages, whose versions cannot be compared, the predictor's first choice wins.
    """
    if model.framework is None:
        return None
    constraint = Constraint(model.framework.version)
    fitting: list[tuple[int, Version, SoftwareManifest]] = []
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is not what was asked for
        if software.framework is None or not same_framework(software.framework, model.framework):
            continue
        if software.stack is not None and not _is_for_this_machine(software.stack.architecture):
            continue  # emulation is for those who ask for it
        brought = _brings(software)
        if brought is not None and constraint.matches(brought[1], allow_prerelease=True):
            fitting.append((-brought[0], brought[1], software))
    return max(fitting, key=lambda each: each[:2])[2] if fitting else None


def _is_for_this_machine(architecture: str | None) -> bool:
    return architecture is None or normal_architecture(architecture) == normal_architecture(platform.machine())


def _brings(software: SoftwareManifest) -> tuple[int, Version] | None:
    """(which of the framework's packages, its version) of a stack, as its requirements pin it."""
    if software.framework is None or software.stack is None:
        return None
    declaration = PREDICTORS.get(framework_word(software.framework))
    names = [normalise(name) for name in declaration.packages] if declaration else []
    for line in software.stack.requirements:
        name, _, version = line.partition(";")[0].partition(" --")[0].partition("==")
        if version and normalise(name.strip()) in names:
            return names.index(normalise(name.strip())), Version(version.strip(" ="))
    for package in software.stack.system_packages:  # Debian's python3-caffe is Caffe; its release fixes the version
        name = normalise(package.partition("=")[0].removeprefix("python3-"))
        number = re.search(r"\d[\d.]*", software.framework.version)
        if name in names and number:
            return names.index(name), Version(number[0].rstrip("."))
    return None
