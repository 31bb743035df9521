"""Which agents a request fits, before anything runs; and if none, which constraint stands in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlmodelscope.cluster.description import AgentDescription, Offer
from mlmodelscope.errors import VersionError
from mlmodelscope.ledger.request import FrameworkChoice, Where
from mlmodelscope.manifest.framework_names import predictor_name
from mlmodelscope.manifest.schema import HardwareManifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.version import Constraint, Version
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.instruction_set import unmet_settings
from mlmodelscope.plan.match import unmet
from mlmodelscope.plan.predictor import ELSEWHERE
from mlmodelscope.provision.machine.facts import facts_of

NOTHING: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class Obstacle:
    """A constraint that some agents do not meet."""

    constraint: str
    agents: int
    """How many do not meet it."""
    would_match: int
    """How many match everything else."""
    example: str
    """Why, in the words of one of them."""


@dataclass(frozen=True)
class Resolution:
    matching: tuple[str, ...]
    asked: int
    """How many agents there are."""
    obstacles: tuple[Obstacle, ...] = ()
    refusals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Every reason, by agent."""

    def __str__(self) -> str:
        if self.matching:
            return f"{_agents(len(self.matching))} of {self.asked} {'match' if len(self.matching) > 1 else 'matches'}"
        if not self.asked:
            return "there is no agent"
        lines = [f"none of {_agents(self.asked)} fits"]
        for each in self.obstacles:
            who = "no agent meets it" if each.agents == self.asked else f"{_agents(each.agents)} do not meet it"
            rest = f"{_agents(each.would_match)} would match without it"
            lines.append(f"{each.constraint}: {who}; {rest} (for example: {each.example})")
        return "\n".join(lines)


@dataclass(frozen=True)
class Needs:
    """What of a request an agent must meet."""

    where: Where
    model: ModelManifest | None = None
    software: SoftwareManifest | None = None
    hardware: HardwareManifest | None = None
    carries_code: bool = False
    software_word: str | None = None
    """`current` or an image, where no manifest describes the software."""
    url: str | None = None
    """Where a remote model is asked, where the request says so."""


def resolve(needs: Needs, agents: Sequence[AgentDescription]) -> Resolution:
    refusals = {agent.id: refuse(needs, agent) for agent in agents}
    matching = tuple(agent.id for agent in agents if not refusals[agent.id])
    named = list(dict.fromkeys(constraint for reasons in refusals.values() for constraint, _ in reasons))
    obstacles = []
    for constraint in named:
        failing = [reasons for reasons in refusals.values() if any(each == constraint for each, _ in reasons)]
        alone = sum(1 for reasons in failing if all(each == constraint for each, _ in reasons))
        example = next(reason for each, reason in failing[0] if each == constraint)
        obstacles.append(Obstacle(constraint, len(failing), len(matching) + alone, example))
    obstacles.sort(key=lambda each: (-each.agents, each.constraint))
    spelled = {
        agent: tuple(f"{constraint}: {reason}" for constraint, reason in reasons)
        for agent, reasons in refusals.items()
        if reasons
    }
    return Resolution(matching, len(agents), tuple(obstacles), spelled)


def refuse(needs: Needs, agent: AgentDescription) -> list[tuple[str, str]]:
    """(constraint, why this agent does not meet it) for each that it does not."""
    found: list[tuple[str, str]] = []
    where = needs.where
    if where.agent is not None and where.agent != agent.id:
        found.append(("agent", f"{where.agent} is asked for, this is {agent.id}"))
    found += [
        (f"label {key}", f"{value} is asked for, it is {agent.labels.get(key, 'not there')}")
        for key, value in where.labels.items()
        if agent.labels.get(key) != value
    ]
    facts = facts_of(agent.machine, agent.cpu)
    asked = dict.fromkeys(
        reason
        for hardware in (where.hardware, needs.hardware)
        if hardware
        for reason in (*unmet(hardware, facts), *unmet_settings(hardware, facts))
    )
    for reason in asked:
        constraint, _, why = reason.partition(": ")
        found.append((constraint, why))
    if where.framework is not None and not is_offered(agent.offers, where.framework, makes=agent.makes):
        wanted = f"{where.framework.name} {where.framework.version}"
        there = _spell(agent.offers, where.framework.name, agent.makes)
        found.append(("framework", f"{wanted} is asked for, there is {there}"))
    if where.stack is not None and not any(offer.stack == where.stack for offer in agent.offers):
        found.append(("stack", f"{where.stack} is neither there nor known there"))
    if agent.away is not None:
        found.append(("presence", agent.away))
    found += _model(needs, agent) or _device(needs, agent)
    if needs.carries_code and not agent.trusts:
        found.append(("trust", "code in the manifests would run, and this agent runs none"))
    return found


def _model(needs: Needs, agent: AgentDescription) -> list[tuple[str, str]]:
    model = needs.model
    if model is None or model.framework is None or needs.software is not None:
        return []  # a described stack is built where it is not there
    if needs.software_word is not None and needs.software_word != "current":
        return []
    wanted = [FrameworkChoice(name=framework_word(model.framework), version=model.framework.version)]
    if narrows(needs.where.framework, model):
        assert needs.where.framework is not None
        wanted.append(needs.where.framework)
    offers = [each for each in agent.offers if needs.software_word is None or each.stack == "current"]
    makes = agent.makes if needs.software_word is None else {}
    name, versions = wanted[0].name, " and ".join(dict.fromkeys(each.version for each in wanted))
    if name in ELSEWHERE or is_offered(offers, *wanted, makes=makes):
        return []
    reason = f"{name} {versions} is needed by {model.name}, there is {_spell(offers, name, makes)}"
    return [("the model's framework", reason)]


def narrows(choice: FrameworkChoice | None, model: ModelManifest) -> bool:
    """Whether a choice is of the model's own framework, so that it runs in a release that is chosen."""
    return (
        choice is not None
        and model.framework is not None
        and predictor_name(choice.name) == framework_word(model.framework)
    )


def _device(needs: Needs, agent: AgentDescription) -> list[tuple[str, str]]:
    """A device's agent does what its device does; and somebody must speak for a model that names no server."""
    model = needs.model
    if model is None:
        return []
    is_remote = model.framework is not None and framework_word(model.framework) == "remote"
    named = needs.url or (model.remote.url if model.remote else None)
    if agent.remote is None:
        if is_remote and named is None:
            return [("device", f"{model.name} names no server, and this agent speaks for none")]
        return []
    if not is_remote:
        return [("device", f"this agent speaks for {agent.remote} and runs nothing itself")]
    if named is not None and named.rstrip("/") != agent.remote.rstrip("/"):
        return [("device", f"{model.name} is asked at {named}, this agent speaks for {agent.remote}")]
    called = (model.remote.model if model.remote else None) or model.name
    brings = model.source is not None or model.firmware is not None
    if agent.models and called not in agent.models and not brings:
        return [("device", f"{agent.remote} has no model `{called}`")]
    return []


def is_offered(offers: Sequence[Offer], *wanted: FrameworkChoice, makes: Mapping[str, Sequence[str]] = NOTHING) -> bool:
    """Whether one release of a framework meets all constraints, in a stack that is there or can be made."""
    try:
        constraints = [Constraint(each.version) for each in wanted]
    except VersionError:
        return False
    name = predictor_name(wanted[0].name)
    for version in (offer.version for offer in offers if predictor_name(offer.framework) == name):
        number = _number(version)
        if number is None:
            if all(each.version in ("*", version) for each in wanted):
                return True  # a stack's own constraint, not a version
        elif all(each.matches(number, allow_prerelease=True) for each in constraints):
            return True
    # A stack is made of a pre-release only where a constraint names one.
    numbers = filter(None, map(_number, makes.get(name, ())))
    return any(all(each.matches(number) for each in constraints) for number in numbers)


def _number(version: str) -> Version | None:
    try:
        return Version(version)
    except VersionError:
        return None


def _spell(offers: Sequence[Offer], framework: str, makes: Mapping[str, Sequence[str]] = NOTHING) -> str:
    name = predictor_name(framework)
    versions = dict.fromkeys(offer.version for offer in offers if predictor_name(offer.framework) == name)
    there = f"{framework} {', '.join(versions)}" if versions else f"no {framework}"
    made = makes.get(name, ())
    if not made:
        return there
    return f"{there}, and stacks can be made of {len(made)} releases from {made[-1]} to {made[0]}"


def _agents(count: int) -> str:
    return f"{count} agent{'' if count == 1 else 's'}"
