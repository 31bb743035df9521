"""What stands in the way of checking claims here, found before anything is fetched, built or run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from mlmodelscope.claim.listing import dataset_name
from mlmodelscope.connection.kept import connect_command
from mlmodelscope.connection.resolve import NotConnected, whole_of, with_folder
from mlmodelscope.errors import MLModelScopeError, TrustError
from mlmodelscope.manifest.catalog import find_dataset
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.splits import parted
from mlmodelscope.plan.language import planned_task
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.pairing import check_manifests
from mlmodelscope.plan.trust import options_that_run_code
from mlmodelscope.preparation import ask, references
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.stack.choose import missing_stack
from mlmodelscope.provision.trust import refuse_options, require_trust
from mlmodelscope.replicate.replication import choose_claims
from mlmodelscope.settings import Settings


@dataclass
class Obstacles:
    """What this machine has; each dataset is looked at once."""

    settings: Settings
    may_fetch: bool = False
    """Whether files may be fetched and stacks be built: then what is not here is no obstacle."""
    trust: bool = False

    def __post_init__(self) -> None:
        self._datasets: dict[str, str | None] = {}

    @cached_property
    def _artifacts(self) -> ArtifactStore:
        return ArtifactStore(replace(self.settings, offline=True))

    def of_dataset(self, name: str) -> str | None:
        """Whether a manifest describes it and its files are here."""
        if name not in self._datasets:
            self._datasets[name] = self._of_dataset(name)
        return self._datasets[name]

    def _of_dataset(self, name: str) -> str | None:
        try:
            found = with_folder(find_dataset(parted(name)[0]), self.settings)
        except NotConnected:
            whole = whole_of(find_dataset(parted(name)[0]))
            return f"the data of {whole} is not connected: {connect_command(whole)}"
        except MLModelScopeError as error:
            if error.message.startswith("there is no dataset"):
                return f"no manifest here describes the dataset {dataset_name(name)}"
            return error.message.splitlines()[0]
        return None if self.may_fetch or self._is_here(found) else f"the data of {found.name} is not on this machine"

    def of_model(self, model: str, dataset: str) -> str | None:
        """Whether the model can be evaluated on a dataset that is here."""
        try:
            asked = ask(model, dataset, settings=self.settings, trust=self.trust)
            check_manifests(asked.model, asked.aspects.dataset)
            task = planned_task(asked.model, asked.aspects.dataset)
            choose_claims(asked.model.name, asked.model.claims, asked.aspects.dataset, asked.options.top_k, task)
            require_trust(asked.aspects.manifests, self.settings, trust=self.trust)
            refuse_options(options_that_run_code(asked.model, asked.aspects.software, Options()), trust=self.trust)
            if self.may_fetch:
                return None
            if asked.aspects.image is None:
                why = missing_stack(asked.model, asked.aspects.software, self.settings)
                if why is not None:
                    return why
        except TrustError:
            return "code in its manifest is not trusted"
        except MLModelScopeError as error:
            return error.message.splitlines()[0]
        return None if self._is_here(asked.model) else "its weights are not on this machine"

    def _is_here(self, manifest: ModelManifest | DatasetManifest) -> bool:
        return all(self._artifacts.is_at_hand(url, checksum) for url, checksum in references(manifest))
