"""A software environment: framework, container images, environment variables, or a Python stack to build."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mlmodelscope.manifest.schema.model import Framework, Images
from mlmodelscope.manifest.schema.part import ConstraintText, Items, Manifest, Part, Reference


class Stack(Part):
    """A Python environment, exactly."""

    python: Annotated[ConstraintText, Field(description="Which Python, for example `3.11` or `>=3.9 <3.12`.")] = "*"
    requirements: Annotated[
        Items[str], Field(description="Packages as pip takes them, locked to a version and better to hashes as well.")
    ] = ()
    find_links: Annotated[Items[str], Field(description="Pages or folders with packages, beside the index.")] = ()
    index_url: Annotated[str | None, Field(description="Package index, where it is not the user's own.")] = None
    system_packages: Annotated[Items[str], Field(description="Packages of the operating system.")] = ()
    root: Annotated[Reference | None, Field(description="A root file system to run in, as a folder or archive.")] = None


class SoftwareManifest(Manifest):
    """The software that a task runs in."""

    framework: Annotated[Framework | None, Field(description="The framework that it brings, and its version.")] = None
    container: Annotated[
        dict[str, Images],
        Field(description="Container images by architecture; the architecture `any` fits all."),
    ] = {}
    env: Annotated[dict[str, str], Field(description="Environment variables that must be set.")] = {}
    stack: Annotated[Stack | None, Field(description="The Python environment, where it is not a container.")] = None
