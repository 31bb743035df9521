"""What host and worker say to each other: every message declared once, for both ends.

A message is a NamedTuple. It travels as a JSON object with its name under "do" (see `protocol`), and buffers behind it
where its docstring says so. A field with a default may be missing; an unknown field is refused.
"""

from typing import Any, Dict, List, NamedTuple, Optional


class MessageError(Exception):
    """The other end said something that is not declared here."""


class PredictorTask(NamedTuple):
    """Which predictor opens which files, with which options."""

    name: Optional[str]
    files: Dict[str, str]
    options: Dict[str, Any]


class Task(NamedTuple):
    """The part of a plan that a worker needs, with files where they are on this machine."""

    predictor: PredictorTask
    inputs: List[Dict[str, Any]]
    """part, layer_name, element_type and steps, each with name and parameters; none where functions do it all."""
    outputs: List[Dict[str, Any]]
    """role, layer_name, place among them and steps."""
    answer: Dict[str, Any]
    """steps over all outputs, probabilities, top_k, label_offset, tie_breaking."""
    batch_size: int
    task: str = "classification"
    generation: Optional[Dict[str, Any]] = None
    """How a decoder is asked token by token, and where it lies (`graph`); none where the model answers at once."""
    tensors: bool = False
    """The model alone, for whoever brings tensors: nothing prepares samples or reads answers."""
    plugins: List[Dict[str, str]] = []
    """Modules of other packages to import first: kind, name, package, version and module."""
    variants: List[Dict[str, Any]] = []
    """id, inputs, outputs, answer and plugins of other plans for the same samples."""
    functions: Dict[str, Dict[str, Any]] = {}
    """The manifest's own functions, by stage; what follows is for them alone."""
    context: Dict[str, Any] = {}
    files: Dict[str, str] = {}
    named_files: Dict[str, str] = {}
    """The manifest's `files`, by the names that it gives them."""
    features: List[str] = []
    hyperparameters: Dict[str, Any] = {}
    seed: int = 0
    count: Optional[int] = None
    """How many samples are wanted, where only functions know the dataset."""
    folder: Optional[str] = None
    """Where a training puts what it makes."""
    source: str = "data"
    training: Optional[Dict[str, Any]] = None
    """The settings of a training whose loop is ours, see `training/`; none for one that is a function of its own."""


Content = Dict[str, Any]
"""Where a sample is; the forms are described in `sample`."""


# Requests of the host.


class Open(NamedTuple):
    """Open a model with its pipeline; answered by Opened."""

    task: Task


class Prepare(NamedTuple):
    """The tensors that the model would get; answered by Prepared."""

    samples: List[Content]


class Spell(NamedTuple):
    """What a language model would be shown of some samples; answered by Spelled."""

    samples: List[Content]


class MeasureLatency(NamedTuple):
    """Time the model alone on the first samples that can be prepared; answered by Latency."""

    samples: List[Content]
    warm_up_runs: int
    max_runs: int
    budget_s: float


class RunLoad(NamedTuple):
    """One run of a scenario; answered by Loaded, or by LoadgenLoaded where `driven` is set."""

    samples: List[Content]
    scenario: str
    budget_s: float
    queries: int = 1
    warm_up_runs: int = 0
    lanes: int = 1
    end_to_end: bool = False
    random: Optional[Dict[str, Any]] = None
    """Seed and shapes of tensors that stand in for samples."""
    calls_per_query: int = 1
    rate: float = 0.0
    seed: int = 0
    patience_s: float = 0.0
    driven: Optional[str] = None
    """The scenario that MLPerf's LoadGen drives; what follows is for it alone."""
    expected_ns: float = 0.0
    samples_per_query: int = 1
    bound_s: float = 0.0


class RunBatches(NamedTuple):
    """Batches to answer, in order; answered by Answered, several batches in one where they are quick."""

    batches: List[Dict[str, Any]]
    """`batch`, a number, and `samples`."""
    lanes: int
    threads: int
    active: Optional[List[str]] = None
    """The variants to run, where a worker has several; changes only while nothing is under way."""


class Ask(NamedTuple):
    """One batch that somebody waits for; answered by AskedFor. Buffers: contents of samples."""

    samples: List[Content]


class Converse(NamedTuple):
    """A text that somebody reads while a language model writes it; answered by Piece again and again, and AskedFor in
    the end."""

    sample: Content
    settings: Dict[str, Any]
    """What of the question's settings is other than planned."""


class Stop(NamedTuple):
    """Enough: end the text that is being written. Not answered by itself."""


class Infer(NamedTuple):
    """Tensors in, tensors out; answered by Inferred. Buffers: the values of each tensor."""

    tensors: List[Dict[str, Any]]
    outputs: List[str]
    """Which of the model's outputs; empty means all."""


class Look(NamedTuple):
    """What the model sees of a sample through some pipelines; answered by Seen."""

    sample: Content
    pipelines: List[List[Dict[str, Any]]]


class ReadLayers(NamedTuple):
    """What the layers pass on, written into a folder; answered by LayersRead. Buffers: contents of samples.

    The input is that of samples, of `tensors` that another model was given, or `random`.
    """

    folder: str
    most_bytes: int
    """How much may be written there."""
    samples: List[Content] = []
    tensors: List[Dict[str, Any]] = []
    """As of LayersRead; their files lie in the folder."""
    random: Optional[Dict[str, Any]] = None
    """seed, batch_size, and shapes by name."""


class ReadSteps(NamedTuple):
    """What each step before the model makes of samples, and each step behind it of the model's outputs, written into a
    folder; answered by StepsRead."""

    folder: str
    most_bytes: int
    samples: List[Content]
    outputs: List[Dict[str, Any]] = []
    """The model's outputs as of LayersRead; the steps behind it get these, and are left out where there are none."""


class ReadWeights(NamedTuple):
    """The weights that a layer takes, written into a folder; answered by WeightsRead."""

    folder: str
    layer: str


class TryChanges(NamedTuple):
    """One layer run alone, as it is and with likely mistakes; answered by ChangesTried."""

    folder: str
    layer: str
    """The tensor that differs."""
    known: List[Dict[str, Any]]
    """Tensors before it that do not differ, as of LayersRead."""
    target: Dict[str, Any]
    """The other model's tensor."""
    tolerance: float
    other: Dict[str, Any] = {}
    """kind, attributes and weights of the other model's layer, where its file tells."""


class Trace(NamedTuple):
    """Spans of some batches, a run for each level down to the one named; answered by Traced."""

    samples: List[Content]
    level: str
    runs: int
    warm_up_runs: int


class Watch(NamedTuple):
    """Runs of the model while the host looks on; answered by Watched."""

    samples: List[Content]
    runs: int
    counted: bool = False
    budget_s: float = 0.0


class MeasurePeak(NamedTuple):
    """What the machine can do at its best; answered by Peak."""

    device: str = "cpu"
    threads: int = 1
    seconds: Optional[float] = None


class Train(NamedTuple):
    """Run a training task; answered by Progress again and again, and Trained in the end."""

    data: Dict[str, List[str]]


class TraceSteps(NamedTuple):
    """Steps of a training, whole and in parts; answered by Traced."""

    data: Dict[str, List[str]]
    runs: int
    warm_up_runs: int


class BeginReproduction(NamedTuple):
    """Whose functions are checked; needs no open model, and is answered by Recorded."""

    files: List[List[str]]
    """[name, text] of each; the first has the functions."""
    framework: str
    given: Dict[str, Any]
    """What the manifest says of inputs, outputs, targets, samples, cases, batch size and seed."""
    folder: str


class RunCheck(NamedTuple):
    """One check of these functions; answered by Checked."""

    check: str
    tolerance: float
    against: Optional[str] = None
    """The file that the original's functions wrote."""
    weights: Optional[str] = None


class RecordOriginal(NamedTuple):
    """What these functions make of what a check draws, into a file; answered by Recorded."""

    what: str
    into: str
    weights: Optional[str] = None


class ReadSide(NamedTuple):
    """The layers of this implementation with fixed weights; answered by LayersRead."""

    folder: str
    most_bytes: int
    weights: Optional[str] = None
    tensors: List[Dict[str, Any]] = []
    """What another model was given, as of LayersRead."""


class Close(NamedTuple):
    """Let the model go and end; not answered."""


# Answers of the worker.

UNKNOWN = -1
"""Stands for a number that nobody can tell, such as the tokens of a text that a server cuts out of sight."""


class Opened(NamedTuple):
    worker: str
    """Version of the worker's package."""
    load_ns: int
    inputs: List[Dict[str, Any]]
    outputs: List[Dict[str, Any]]
    output: Optional[int]
    """Which of the outputs is the answer."""
    count: Optional[int]
    """How many samples the manifest's own code knows."""
    missing: Dict[str, str]
    """Variants that this stack cannot compute, and why."""
    server: Optional[Dict[str, Any]]
    environment: Dict[str, Any]


class Prepared(NamedTuple):
    """Buffers: the values of each tensor that there is."""

    tensors: List[Optional[List[Dict[str, Any]]]]
    """For each sample its tensors, one for each input; none where it failed."""
    errors: Dict[str, str]


class Spelled(NamedTuple):
    """Buffers: for each sample that did not fail a JSON text, see `spelling`."""

    errors: Dict[str, str]
    """Why there is none, by the sample's place."""


class Latency(NamedTuple):
    batch_size: int
    warm_up_ns: List[int]
    raw_ns: List[int]
    parts_ns: Dict[str, List[int]] = {}
    """Durations of what a call is made of, such as copies to a device, where it has several parts."""
    apart: Optional[float] = None
    """Of a language model: how far logarithms of a row lay apart when it was scored alone and among others."""


class Loaded(NamedTuple):
    """Buffers, int64 each: when each query was due, begun and answered, and how many waited.

    Of a language model also for each text: the number of its query, its tokens, those of the answer, and nanoseconds
    from the beginning of the query to the first of them and to the last, or UNKNOWN.
    """

    queries: int
    unanswered: int
    batch_size: int
    lanes: int
    end_to_end: bool
    warm_up_ns: List[int]
    cpu_ns: int
    peak_memory_bytes: Optional[int]
    notes: List[str]


class LoadgenLoaded(NamedTuple):
    notes: List[str]
    loadgen: Dict[str, Any]
    """LoadGen's own words."""


class BatchAnswer(NamedTuple):
    """The answer to a batch. Buffers: as the form of its content says."""

    batch: int
    errors: Dict[str, str]
    """Why a sample failed, by its place in the batch."""
    run_ns: int = 0
    content: Dict[str, Any] = {}
    """`form`, and what that form has of the samples that did not fail; nothing where all failed."""


class VariantAnswer(NamedTuple):
    """The answers of several plans to one batch. Buffers: those of each group, one behind the other."""

    batch: int
    run_ns: int
    groups: List[Dict[str, Any]]
    """`content` of each group of answers, and how many `buffers` it has."""
    calls: float
    """How often the model ran: variants with the same tensors share a call. Of a language model: tokens that went
    through it, set against those of the plan's own prompts."""
    variants: Dict[str, Dict[str, Any]]
    """By variant: `group`, the number of its answers or none, and `errors`."""
    tokens: int = 0
    """Tokens that went through a language model for all of them together."""


class Answered(NamedTuple):
    """Answers to batches, in order. Buffers: those of each answer, one behind the other."""

    answers: List[Dict[str, Any]]
    """Fields of a BatchAnswer or VariantAnswer each."""
    parts: List[int]
    """How many buffers each of them has."""


class AskedFor(NamedTuple):
    """The answer to Ask. Buffers: as of a BatchAnswer."""

    answer: BatchAnswer
    stages: List[List[List[Any]]]
    """For each sample what took its time: [name, nanoseconds]."""


class Piece(NamedTuple):
    """Some more of a text."""

    text: str


class Inferred(NamedTuple):
    """Buffers: the values of each tensor."""

    tensors: List[Dict[str, Any]]
    run_ns: int


class Seen(NamedTuple):
    """Buffers: pixels of pictures."""

    views: List[Dict[str, Any]]


class LayersRead(NamedTuple):
    """Tensors are described by name, shape, element_type, the `file` with their numbers, and `sums`."""

    inputs: List[Dict[str, Any]]
    layers: List[Dict[str, Any]]
    """In the order of execution; also their kind, the layer's own name, what it takes, and its attributes."""
    outputs: List[Dict[str, Any]]
    """What the model answers with when nothing looks on."""
    notes: List[str]


class StepsRead(NamedTuple):
    """Tensors as of LayersRead. Buffers: those of the answer."""

    before: List[Dict[str, Any]]
    """In order; `input` is the number of the model's input, `kind` the step."""
    after: List[Dict[str, Any]]
    """In order; `role` is that of the output."""
    answer: Optional[Dict[str, Any]]
    """The fields of a BatchAnswer."""
    notes: List[str]


class WeightsRead(NamedTuple):
    weights: List[Optional[Dict[str, Any]]]
    """As tensors of LayersRead, one for each input of the layer; none where that is no weight."""


class ChangesTried(NamedTuple):
    found: List[Dict[str, Any]]
    """Mistakes that explain the target, the best first: kind, words, node, and how far from the target it is."""
    base: Optional[float]
    """How far the layer is from the target as it is."""
    notes: List[str]
    weighted: List[str] = []
    """Those of the layers that were tried which have weights."""


class Traced(NamedTuple):
    runs: List[Dict[str, Any]]
    notes: List[str]
    batch_size: int


class Watched(NamedTuple):
    runs: List[List[Any]]
    """[start_ns, end_ns, what was counted]."""
    without_ns: List[int]
    notes: List[str]
    batch_size: int


class Peak(NamedTuple):
    device: str
    threads: int
    found: Dict[str, Any]
    """Operations and bytes a second and how they were measured; or a `problem`, in words."""


class Progress(NamedTuple):
    """How far a training is, and how good."""

    progress: float
    metrics: Dict[str, float]
    at: Optional[Dict[str, float]] = None
    """Where the loop is: step, epoch, samples, and wall_s, all attempts together; none where the loop is not ours."""


class Trained(NamedTuple):
    """What a training returned."""

    result: Any
    train_ns: int
    facts: Dict[str, Any] = {}
    """Of a loop of ours: steps, samples, where the time went, how often it was resumed, when it reached its target."""


class Refused(NamedTuple):
    """What was asked for cannot be done; in words."""

    message: str
    traceback: str = ""


class Gone(NamedTuple):
    """The server that the worker speaks to is gone: this worker is of no more use."""

    message: str


class Checked(NamedTuple):
    """How a check of a reproduction ended: passed, failed, skipped or undecided, and what was seen."""

    verdict: str
    words: str
    numbers: Dict[str, Any]


class Recorded(NamedTuple):
    """What the original makes is in the file, or there is a `problem`: skipped or undecided."""

    problem: Optional[str]
    words: str = ""


REQUESTS = {
    "open": Open,
    "prepare": Prepare,
    "spell": Spell,
    "latency": MeasureLatency,
    "load": RunLoad,
    "batches": RunBatches,
    "ask": Ask,
    "converse": Converse,
    "stop": Stop,
    "infer": Infer,
    "look": Look,
    "read_layers": ReadLayers,
    "read_weights": ReadWeights,
    "read_steps": ReadSteps,
    "try_changes": TryChanges,
    "trace": Trace,
    "watch": Watch,
    "peak": MeasurePeak,
    "train": Train,
    "trace_steps": TraceSteps,
    "begin_reproduction": BeginReproduction,
    "run_check": RunCheck,
    "record_original": RecordOriginal,
    "read_side": ReadSide,
    "close": Close,
}
REPLIES = {
    "opened": Opened,
    "prepared": Prepared,
    "spelled": Spelled,
    "latency": Latency,
    "loaded": Loaded,
    "loadgen": LoadgenLoaded,
    "answers": Answered,
    "asked": AskedFor,
    "piece": Piece,
    "inferred": Inferred,
    "seen": Seen,
    "layers_read": LayersRead,
    "weights_read": WeightsRead,
    "steps_read": StepsRead,
    "changes_tried": ChangesTried,
    "traced": Traced,
    "watched": Watched,
    "peak": Peak,
    "progress": Progress,
    "trained": Trained,
    "checked": Checked,
    "recorded": Recorded,
    "refused": Refused,
    "lost": Gone,
}
_NAMES = {kind: name for known in (REQUESTS, REPLIES) for name, kind in known.items()}


def to_header(message):
    """A message as the JSON object that travels."""
    return dict(fields_of(message), do=_NAMES[type(message)])


def fields_of(message):
    """{field: value}, with messages inside messages as mappings, too."""
    return {
        name: fields_of(value) if hasattr(value, "_fields") else value for name, value in zip(message._fields, message)
    }


def from_header(known, header):
    """The message of one of the `known` kinds (REQUESTS or REPLIES) that a JSON object is."""
    name = header.get("do")
    if name not in known:
        raise MessageError("there is no message `%s`" % (name,))
    return _build(known[name], {key: value for key, value in header.items() if key != "do"}, name)


def _build(kind, fields, name):
    unknown = sorted(set(fields) - set(kind._fields))
    if unknown:
        raise MessageError("the message `%s` has no `%s`" % (name, unknown[0]))
    for key, declared in kind.__annotations__.items():
        if hasattr(declared, "_fields") and isinstance(fields.get(key), dict):
            fields[key] = _build(declared, dict(fields[key]), "%s.%s" % (name, key))
    try:
        return kind(**fields)
    except TypeError:
        missing = [key for key in kind._fields if key not in fields and not _has_default(kind, key)]
        raise MessageError("the message `%s` lacks `%s`" % (name, ", ".join(missing)))


def _has_default(kind, key):
    return key in getattr(kind, "_field_defaults", {})
