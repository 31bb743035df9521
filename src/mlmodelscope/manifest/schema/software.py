"""A software environment: framework, container images, environment variables, or a Python stack to build."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mlmodelscope.manifest.schema.model import Framework, Images
from mlmodelscope.manifest.schema.part import ChecksumText, ConstraintText, Items, Manifest, OpenAddress, Part, RootText
from mlmodelscope.manifest.schema.recipe import LibraryText, PackageText, RequirementText


class Stack(Part):
    """A Python environment, exactly."""

    python: Annotated[ConstraintText, Field(description="Which Python, for example `3.11` or `>=3.9 <3.12`.")] = "*"
    requirements: Annotated[
        Items[RequirementText],
        Field(description="Packages as pip takes them, locked to a version and better to hashes as well."),
    ] = ()
    find_links: Annotated[
        Items[OpenAddress], Field(description="Pages or folders with packages, beside the index.")
    ] = ()
    index_url: Annotated[OpenAddress | None, Field(description="Package index, where it is not the user's own.")] = None
    system_packages: Annotated[
        Items[PackageText],
        Field(description="Packages of the operating system; with a root, those that it is made of."),
    ] = ()
    library_names: Annotated[
        dict[LibraryText, LibraryText],
        Field(description="Shared libraries that are asked for by an old name: that name, and today's."),
    ] = {}
    root: Annotated[
        RootText | None,
        Field(description="A root file system to run in: `debian:` and a release, or an archive or folder of one."),
    ] = None
    root_checksum: Annotated[ChecksumText | None, Field(description="Checksum of the archive.")] = None
    architecture: Annotated[
        str | None,
        Field(description="Instruction set that it is for, where it is just one: x86_64, aarch64, ppc64le."),
    ] = None


class SoftwareManifest(Manifest):
    """The software that a task runs in."""

    framework: Annotated[Framework | None, Field(description="The framework that it brings, and its version.")] = None
    container: Annotated[
        dict[str, Images],
        Field(description="Container images by architecture; the architecture `any` fits all."),
    ] = {}
    env: Annotated[dict[str, str], Field(description="Environment variables that must be set.")] = {}
    stack: Annotated[Stack | None, Field(description="The Python environment, where it is not a container.")] = None
