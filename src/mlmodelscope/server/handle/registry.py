"""What there is to evaluate with, by what the agents publish: frameworks, stacks and machines, and who has them."""

from __future__ import annotations

from typing import Any

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.errors import VersionError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.provision.machine.manifest import hardware_manifest
from mlmodelscope.server.desk import Desk, demand


def agents_of(desk: Desk) -> list[AgentDescription]:
    """Those that are there and take work."""
    return [AgentDescription.model_validate_json(row["description"]) for row in desk.agents.list(alive=True)]


def frameworks(desk: Desk, person: Person, name: str | None = None, version: str | None = None) -> list[dict[str, Any]]:
    """Each framework and version, with the agents that have it or can build it; of one that is named also releases
    that no stack is described for and an agent can make one of."""
    demand(person, "read")
    constraint = Constraint(version or "*")
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for agent in agents_of(desk):
        for offer in agent.offers:
            if name is not None and offer.framework != name.lower():
                continue
            if version is not None and not _matches(constraint, offer.version):
                continue
            places = found.setdefault((offer.framework, offer.version), _nowhere())
            if agent.id not in places[offer.state]:
                places[offer.state].append(agent.id)
            if offer.stack not in places["stacks"]:
                places["stacks"].append(offer.stack)
        word = name.lower() if name is not None else ""
        for release in agent.makes.get(word, ()):
            if version is None or _matches(constraint, release):
                found.setdefault((word, release), _nowhere())["makeable"].append(agent.id)
    return [{"name": name, "version": version, **places} for (name, version), places in sorted(found.items())]


def _nowhere() -> dict[str, list[str]]:
    return {"built": [], "buildable": [], "stacks": [], "makeable": []}


def stacks(desk: Desk, person: Person, q: str | None = None) -> list[dict[str, Any]]:
    """Software manifests and the Pythons that agents run in, each with where it is built and where it can be."""
    demand(person, "read")
    offered: dict[str, dict[str, list[str]]] = {}
    for agent in agents_of(desk):
        for offer in agent.offers:
            places = offered.setdefault(offer.stack, {"built": [], "buildable": []})
            if agent.id not in places[offer.state]:
                places[offer.state].append(agent.id)
    found = []
    for name, versions in sorted(desk.catalogue.by_name("software").items()):
        software = versions[0].manifest
        assert isinstance(software, SoftwareManifest)
        facts: dict[str, Any] = {"name": name, "version": software.version, "description": software.description}
        facts["kind"] = "container" if software.container else "root" if _is_root(software) else "venv"
        facts["framework"] = framework_word(software.framework) if software.framework else None
        facts["framework_version"] = software.framework.version if software.framework else None
        facts["python"] = software.stack.python if software.stack else None
        found.append({**facts, **offered.pop(name, {"built": [], "buildable": []})})
    nothing = dict.fromkeys(("version", "description", "kind", "framework", "framework_version", "python"))
    found += [{"name": name, **nothing, **places} for name, places in sorted(offered.items())]
    words = (q or "").lower().split()
    return [each for each in found if all(word in " ".join(map(str, each.values())).lower() for word in words)]


def machines(desk: Desk, person: Person) -> list[dict[str, Any]]:
    """Every agent's machine, in short and as a hardware manifest that it meets."""
    demand(person, "read")
    found = []
    for agent in agents_of(desk):
        machine = agent.machine
        found.append(
            {
                "agent": agent.id,
                "architecture": machine.architecture,
                "cpu": agent.cpu,
                "cores": machine.cpu.usable,
                "memory_bytes": machine.memory.total_bytes,
                "gpus": [gpu.name for gpu in machine.gpus],
                "labels": agent.labels,
                "slots": agent.slots,
                "trusts": agent.trusts,
                "manifest": write_manifest(hardware_manifest(machine), "hardware"),
            }
        )
    return found


def _is_root(software: SoftwareManifest) -> bool:
    return software.stack is not None and software.stack.root is not None


def _matches(constraint: Constraint, version: str) -> bool:
    try:
        return constraint.matches(Version(version), allow_prerelease=True)
    except VersionError:
        return False  # a constraint of a stack that is not built yet
