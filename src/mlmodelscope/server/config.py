"""How a server is set up: defaults, then a file, then the environment, then what the command line says."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.shown_address import without_secrets
from mlmodelscope.manifest.strangers import check_package, check_store
from mlmodelscope.upkeep.retention import Policy

_PREFIX = "MLMODELSCOPE_SERVER_"
Key = Annotated[str, Field(pattern=r"^ed25519:[A-Za-z0-9_-]{43}$")]


class Retention(BaseModel):
    """What goes by itself; nothing, unless it is said. Pinned records stay, and what running work needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    records_days: Annotated[float | None, Field(gt=0, description="Records stay so many days.")] = None
    keep_newest: Annotated[int, Field(ge=0, description="So many records of each plan stay, however old.")] = 0
    traces_days: Annotated[float | None, Field(gt=0, description="Traces of records stay so many days.")] = None
    artifacts_days: Annotated[float | None, Field(gt=0, description="Days after an artifact's last use.")] = None
    artifacts_gb: Annotated[float | None, Field(gt=0, description="Gigabytes that artifacts may take.")] = None
    events_days: Annotated[float | None, Field(gt=0, description="Days after an evaluation has ended.")] = None
    every_s: Annotated[float, Field(gt=0, description="Seconds between two looks.")] = 3600.0

    def policy(self) -> Policy:
        return Policy(
            records_days=self.records_days,
            keep_newest=self.keep_newest,
            traces_days=self.traces_days,
            artifacts_days=self.artifacts_days,
            artifacts_bytes=None if self.artifacts_gb is None else int(self.artifacts_gb * 10**9),
            events_days=self.events_days,
        )


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    host: Annotated[str, Field(description="Address to listen on; beyond this machine only with tokens.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="0 takes any that is free.")] = 8642
    rpc_port: Annotated[
        int | None, Field(ge=0, le=65535, description="Speak gRPC at this port as well; 0 takes any that is free.")
    ] = None
    inference_port: Annotated[
        int | None,
        Field(ge=0, le=65535, description="Serve this machine's models by the Open Inference Protocol at this port."),
    ] = None
    inference_rpc_port: Annotated[
        int | None, Field(ge=0, le=65535, description="The same over gRPC; 0 takes any that is free.")
    ] = None
    inference_models: Annotated[
        tuple[str, ...], Field(description="Models that are served, and no others; by default the catalogue's.")
    ] = ()
    database: Annotated[
        str | None, Field(description="sqlite:///FILE or postgresql://…; by default a file in MLMODELSCOPE_HOME.")
    ] = None
    blobs: Annotated[
        str | None, Field(description="Blob store for records' files, such as s3://bucket/prefix; MLMODELSCOPE_BLOBS.")
    ] = None
    accept: Literal["known", "any"] = Field(
        default="known", description="Whose records may be pushed here: those whose key is known, or anybody's."
    )
    known_keys: Annotated[
        dict[str, Key], Field(description="Further keys by name, beside those of `mlmodelscope keys list`.")
    ] = {}
    retention: Annotated[
        Retention, Field(description="What goes by itself: records_days, traces_days, artifacts_days, …; see the docs.")
    ] = Retention()
    executor: Literal["local", "ray", "none"] = Field(
        default="local", description="Who evaluates here: this machine, a Ray cluster, or only agents elsewhere."
    )
    ray_address: Annotated[
        str | None, Field(description="Of the Ray cluster; by default the one that runs on this machine.")
    ] = None
    ray_authentication: Literal["token", "none"] = Field(
        default="token", description="`none` uses a Ray cluster that anybody who reaches it can use."
    )
    url: Annotated[
        str | None, Field(description="Where agents of a Ray cluster reach this server; by default host and port.")
    ] = None
    slots: Annotated[int | None, Field(ge=1, description="Evaluations side by side on this machine.")] = None
    labels: Annotated[dict[str, str], Field(description="Labels of this machine's agent.")] = {}
    trust: bool = Field(default=False, description="Let this machine's agent run code in manifests, for those who may.")
    visitors: Literal["nothing", "read"] = Field(
        default="nothing", description="What somebody without a token may do, from another machine."
    )
    stores: Annotated[
        tuple[Annotated[str, AfterValidator(check_store)], ...],
        Field(
            description="Object stores that sent manifests may name, such as s3://bucket/prefix; MLMODELSCOPE_STORES."
        ),
    ] = ()
    packages: Annotated[
        tuple[Annotated[str, AfterValidator(check_package)], ...],
        Field(
            description="Packages that they may name: `public`, `pypi:NAME`, `npm:NAME`; without, any that pip finds."
        ),
    ] = ()
    require_token: bool = Field(default=False, description="Ask for a token on this machine, too.")
    tls_certificate: Path | None = Field(default=None, description="PEM file; with `tls_key` it speaks HTTPS.")
    tls_key: Path | None = None
    hosts: Annotated[tuple[str, ...], Field(description="Names that it is reached by, beside its address.")] = ()
    lease_s: Annotated[float, Field(gt=0, description="Seconds without a heartbeat until an agent is gone.")] = 30.0
    largest_body: Annotated[int, Field(gt=0, description="Bytes that a request may have.")] = 16 << 20
    largest_upload: Annotated[int, Field(gt=0, description="Bytes that a record's files may have.")] = 8 << 30
    largest_input: Annotated[int, Field(gt=0, description="Bytes that a model may be asked about at once.")] = 16 << 20
    largest_artifact: Annotated[int, Field(gt=0, description="Bytes that a file may have which people upload.")] = (
        8 << 30
    )
    artifacts_quota: Annotated[int, Field(ge=0, description="Bytes that all files may have which people upload.")] = (
        64 << 30
    )
    largest_trace: Annotated[int, Field(gt=0, description="Spans that a trace may have which comes over OTLP.")] = (
        500_000
    )
    largest_file: Annotated[
        int | None,
        Field(gt=0, description="Bytes of a file that an evaluation here fetches; MLMODELSCOPE_LARGEST_FILE."),
    ] = None
    largest_request: Annotated[
        int | None, Field(gt=0, description="Bytes that one evaluation here fetches; MLMODELSCOPE_LARGEST_REQUEST.")
    ] = None
    largest_public_file: Annotated[
        int | None,
        Field(gt=0, description="The first for strangers' evaluations; MLMODELSCOPE_LARGEST_PUBLIC_FILE."),
    ] = None
    largest_public_request: Annotated[
        int | None,
        Field(gt=0, description="The second for strangers' evaluations; MLMODELSCOPE_LARGEST_PUBLIC_REQUEST."),
    ] = None
    reading_s: Annotated[
        float, Field(gt=0, description="Processor seconds to read a dataset, picture or model file that people name.")
    ] = 60.0
    reading_memory: Annotated[int, Field(gt=0, description="Bytes of memory that this may take.")] = 512 << 20
    traces_quota: Annotated[int, Field(ge=0, description="Bytes that such traces may have together.")] = 16 << 30
    requests_per_minute: Annotated[int, Field(gt=0, description="From one token or address.")] = 6000
    keep_alive_s: Annotated[int, Field(gt=0, description="Seconds that an idle connection is kept.")] = 15
    head_s: Annotated[float, Field(gt=0, description="Seconds within which a question's head must be there.")] = 15.0
    body_s: Annotated[float, Field(gt=0, description="Seconds within which more of a body must come.")] = 60.0
    connections: Annotated[int, Field(gt=0, description="At the same time; more are told to wait.")] = 10_000
    metrics: Literal["token", "open"] = Field(
        default="token", description="Who may read /metrics: those who may read, or everybody."
    )
    oidc_issuer: Annotated[
        str | None, Field(description="Address of an OpenID Connect issuer whose tokens are taken as well.")
    ] = None
    oidc_audience: Annotated[str | None, Field(description="What its tokens must be for.")] = None
    oidc_owner: Annotated[str, Field(description="The claim that names the person.")] = "sub"
    oidc_claim: Annotated[str, Field(description="The claim with words for scopes; `a.b` is `b` inside `a`.")] = "scope"
    oidc_scopes: Annotated[
        dict[str, tuple[str, ...]], Field(description="What each of these words allows, as {word: [read, run]}.")
    ] = {}
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    def shown(self) -> dict[str, Any]:
        """What may be printed: the settings without the database's password."""
        values = self.model_dump(mode="json")
        if self.database is not None:
            try:
                values["database"] = make_url(self.database).render_as_string(hide_password=True)
            except ArgumentError:
                values["database"] = "not an address"
        if self.blobs is not None:
            values["blobs"] = without_secrets(self.blobs)
        return values

    @property
    def is_local(self) -> bool:
        """Whether nobody from outside this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def read_config(
    file: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Config:
    """Flags before environment before file before defaults."""
    values: dict[str, Any] = _from_file(file) if file is not None else {}
    for name, field in Config.model_fields.items():
        text = environment.get(_PREFIX + name.upper())
        if text is not None:
            values[name] = _parsed(text) if field.annotation not in (str,) else text
    values |= {name: value for name, value in (flags or {}).items() if value is not None}
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        problems = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()]
        raise UsageError("the server's configuration is wrong\n" + "\n".join(problems)) from None


def _from_file(file: Path) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not YAML: {error}") from None
    if found is not None and not isinstance(found, dict):
        raise UsageError(f"{file} must hold keys and values, such as `port: 8642`")
    return dict(found or {})


def _parsed(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
