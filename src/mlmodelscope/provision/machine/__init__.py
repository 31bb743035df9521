"""What this machine is. Every fact is read from a root that tests can replace; what cannot be read is left out."""

from mlmodelscope.provision.machine.cpu import available_cores
from mlmodelscope.provision.machine.describe import Description, describe
from mlmodelscope.provision.machine.facts import describe_facts
from mlmodelscope.provision.machine.identity import Machine, describe_machine, identify_machine

__all__ = [
    "Description",
    "Machine",
    "available_cores",
    "describe",
    "describe_facts",
    "describe_machine",
    "identify_machine",
]
