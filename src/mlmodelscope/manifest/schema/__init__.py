"""The one schema that every manifest becomes, a file for each kind. A field's sentence documents it everywhere."""

from mlmodelscope.manifest.schema.columns import Columns
from mlmodelscope.manifest.schema.dataset import DatasetManifest, DatasetSource, Labels, Split
from mlmodelscope.manifest.schema.function import EmbeddedFunction
from mlmodelscope.manifest.schema.hardware import Cpu, Gpu, HardwareManifest
from mlmodelscope.manifest.schema.log import CurvePoint, ExpectedOutputs, Measured, ReferenceLog
from mlmodelscope.manifest.schema.machine_settings import MachineSettings
from mlmodelscope.manifest.schema.model import (
    Claim,
    DatasetReference,
    Framework,
    Images,
    Input,
    ModelManifest,
    Output,
    Source,
)
from mlmodelscope.manifest.schema.part import Manifest, Part
from mlmodelscope.manifest.schema.reproduction import ReproductionManifest
from mlmodelscope.manifest.schema.software import SoftwareManifest, Stack
from mlmodelscope.manifest.schema.step import Step

KINDS: dict[str, type[Manifest]] = {
    "model": ModelManifest,
    "dataset": DatasetManifest,
    "software": SoftwareManifest,
    "hardware": HardwareManifest,
    "log": ReferenceLog,
    "reproduction": ReproductionManifest,
}

__all__ = [
    "KINDS",
    "Claim",
    "Columns",
    "Cpu",
    "CurvePoint",
    "DatasetManifest",
    "DatasetReference",
    "DatasetSource",
    "EmbeddedFunction",
    "ExpectedOutputs",
    "Framework",
    "Gpu",
    "HardwareManifest",
    "Images",
    "Input",
    "Labels",
    "MachineSettings",
    "Manifest",
    "Measured",
    "ModelManifest",
    "Output",
    "Part",
    "ReferenceLog",
    "ReproductionManifest",
    "SoftwareManifest",
    "Source",
    "Split",
    "Stack",
    "Step",
]
