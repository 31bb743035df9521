"""Hugging Face's `transformers`: causal language models out of a folder, or out of a GGUF file.

Nothing is fetched, and no code out of the model's folder runs: weights are safetensors or GGUF.
"""

import os

from ..clock import nanoseconds
from ..parameters import Choice, Integer
from .build import tells_build
from .device import Device
from .drawing import check_rows, checked
from .kind import named
from .language_model import LanguageModel, Written, is_followed, seed_of
from .predictor import ModelError, predictor
from .pytorch import build, torch_on
from .transformers_reach import refuse_folder
from .transformers_weights import LAYOUTS, ROUNDINGS, rearrange_rotary, round_weights

_MAGIC = b"GGUF"


@predictor(packages=("transformers",))
def transformers(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    device: Device() = "cpu",
    dtype: Choice("Type of the weights and of the arithmetic.", "float32", "bfloat16", "float16") = "float32",
    attention: Choice("How attention is computed.", "sdpa", "eager") = "sdpa",
    rotary: Choice(
        "Order of the rows of queries and keys: as they are stored, or rearranged, where a converter left them for "
        "rotary positions that turn neighbors, or halves.",
        *LAYOUTS,
    ) = "stored",
    rounding: Choice(
        "Matrices as they are stored, or rounded as in a file of fewer bits; arithmetic is that of `dtype`.", *ROUNDINGS
    ) = "stored",
):
    """Language models of PyTorch, as `transformers` knows them: a folder with config.json and safetensors, or GGUF."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch, where = torch_on(device, threads)
    model, tokenizer = _opened(torch, files["graph"], getattr(torch, dtype), attention)
    if rotary != "stored":
        rearrange_rotary(torch, model, rotary)
    if rounding != "stored":
        round_weights(torch, model, rounding)
    return Transformers(torch, model.to(where).eval(), tokenizer, where)


def _is_gguf(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == _MAGIC


def _opened(torch, path, dtype, attention):
    """(model, its tokenizer or None)."""
    import transformers

    transformers.logging.set_verbosity_error()
    getattr(transformers.logging, "disable_progress_bar", lambda: None)()
    # A revision is for what is fetched: these are files of this machine, whose checksums were looked at before.
    asked = {"local_files_only": True, "trust_remote_code": False, "attn_implementation": attention}
    asked["dtype" if _major(transformers) >= 5 else "torch_dtype"] = dtype
    try:
        if _is_gguf(path):
            with named({"model.gguf": path}) as folder:
                file = {"gguf_file": "model.gguf"}
                model = transformers.AutoModelForCausalLM.from_pretrained(folder, **file, **asked)  # nosec B615
                tokenizer = transformers.AutoTokenizer.from_pretrained(  # nosec B615
                    folder, **file, local_files_only=True, trust_remote_code=False
                )
            return model, tokenizer
        if not os.path.isdir(path):
            raise ModelError("a folder with config.json and weights, or a GGUF file, is expected")
        refuse_folder(path)
        model = transformers.AutoModelForCausalLM.from_pretrained(path, use_safetensors=True, **asked)  # nosec B615
        return model, _tokenizer(transformers, path)
    except ModelError:
        raise
    except Exception as error:  # its readers are many
        line = str(error).strip().split("\n")[0][:300]
        raise ModelError("transformers %s cannot load the model: %s" % (transformers.__version__, line))


def _tokenizer(transformers, path):
    if not any(os.path.isfile(os.path.join(path, each)) for each in ("tokenizer.json", "tokenizer.model")):
        return None
    asked = {"local_files_only": True, "trust_remote_code": False}
    return transformers.AutoTokenizer.from_pretrained(path, **asked)  # nosec B615


def _major(module):
    return int(module.__version__.split(".")[0])


class Transformers(LanguageModel):
    tokens_run = 0

    def __init__(self, torch, model, tokenizer, device):
        self._torch, self._model, self._tokenizer, self._device = torch, model, tokenizer, device
        config = model.config
        self.longest = getattr(config, "max_position_embeddings", None)
        ends = getattr(model.generation_config, "eos_token_id", None)
        ends = config.eos_token_id if ends is None else ends
        self.stop_tokens = tuple(ends if isinstance(ends, (list, tuple)) else [] if ends is None else [ends])
        first = config.bos_token_id
        if tokenizer is not None and tokenizer.bos_token_id is not None:
            first = tokenizer.bos_token_id
        self.prefix = first if first is not None else (self.stop_tokens or (None,))[0]
        self.size = model.get_input_embeddings().weight.shape[0]
        self._window = getattr(config, "sliding_window", None)

    def encode(self, text, special):
        if self._tokenizer is None:
            return LanguageModel.encode(self, text, special)
        return self._tokenizer.encode(text, add_special_tokens=special)

    def decode(self, tokens):
        if self._tokenizer is None:
            return LanguageModel.decode(self, tokens)
        return self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def name_of(self, token):
        return "" if self._tokenizer is None else self._tokenizer.convert_ids_to_tokens(token)

    def score(self, rows):
        """What rows have in common is computed once: each context, of which only the last token is asked about."""
        check_rows(rows, self.size, self.longest)
        contexts, places = {}, []
        for context, _ in rows:
            places.append(contexts.setdefault(tuple(context[:-1]), len(contexts)))
        is_shared = len(contexts) < len(rows) and max(map(len, contexts)) > 0 and self._window is None
        with self._torch.inference_mode():
            if is_shared:
                return self._score_after(list(contexts), places, rows)
            return self._score_whole(rows)

    def _filled(self, sequences):
        """(tokens, mask), rows filled up on the right."""
        longest = max(map(len, sequences))
        tokens = self._torch.zeros((len(sequences), longest), dtype=self._torch.long)
        mask = self._torch.zeros((len(sequences), longest), dtype=self._torch.long)
        for row, each in enumerate(sequences):
            tokens[row, : len(each)] = self._torch.tensor(each, dtype=self._torch.long)
            mask[row, : len(each)] = 1
        return tokens.to(self._device), mask.to(self._device)

    def _score_whole(self, rows):
        """Each row by itself. Scores are kept from where the first continuation begins."""
        given = [list(context) + list(continuation[:-1]) for context, continuation in rows]
        self.tokens_run += sum(map(len, given))
        tokens, mask = self._filled(given)
        first = min(len(context) for context, _ in rows) - 1
        logits = self._model(
            input_ids=tokens, attention_mask=mask, use_cache=False, logits_to_keep=tokens.shape[1] - first
        ).logits
        return [
            self._told(logits[row, len(context) - 1 - first :], continuation)
            for row, (context, continuation) in enumerate(rows)
        ]

    def _score_after(self, contexts, places, rows):
        """The contexts first, with their keys and values kept; then what follows each."""
        tokens, mask = self._filled([each or (0,) for each in contexts])
        for row, each in enumerate(contexts):
            if not each:
                mask[row] = 0
        kept = self._model(input_ids=tokens, attention_mask=mask, use_cache=True, logits_to_keep=1).past_key_values
        order = self._torch.tensor(places, device=self._device)
        kept.batch_select_indices(order)
        follows = [[context[-1]] + list(continuation[:-1]) for context, continuation in rows]
        self.tokens_run += sum(map(len, contexts)) + sum(map(len, follows))
        later, later_mask = self._filled(follows)
        lengths = mask.sum(dim=1)[order]
        positions = lengths[:, None] + self._torch.arange(later.shape[1], device=self._device)[None]
        logits = self._model(
            input_ids=later,
            attention_mask=self._torch.cat([mask[order], later_mask], dim=1),
            position_ids=positions,
            past_key_values=kept,
            use_cache=True,
        ).logits
        return [self._told(logits[row], continuation) for row, (_, continuation) in enumerate(rows)]

    def _told(self, logits, continuation):
        """(logarithms, whether each was the likeliest) of a continuation, from the scores before each of its tokens."""
        count = len(continuation)
        logs = self._torch.log_softmax(logits[:count].float(), dim=-1)
        wanted = self._torch.tensor(continuation, dtype=self._torch.long, device=logs.device)
        found = logs.gather(1, wanted[:, None])[:, 0].double().cpu().numpy()
        best = (logs.argmax(dim=-1) == wanted).cpu().numpy()
        return found, best

    def write(self, contexts, settings, decode, is_over):
        torch = self._torch
        for each in contexts:
            checked(list(each), self.size, self.longest)
        longest = max(map(len, contexts))
        tokens = torch.zeros((len(contexts), longest), dtype=torch.long)
        mask = torch.zeros((len(contexts), longest), dtype=torch.long)
        for row, each in enumerate(contexts):  # on the left, so that all go on from the same place
            tokens[row, longest - len(each) :] = torch.tensor(each, dtype=torch.long)
            mask[row, longest - len(each) :] = 1
        tokens, mask = tokens.to(self._device), mask.to(self._device)
        draws = [_generator(torch, seed_of(list(each), settings), self._device) for each in contexts]
        ends = self.stop_tokens if settings["stop_tokens"] is None else settings["stop_tokens"]
        found = [[] for _ in contexts]
        endings, moments, kept = [None] * len(contexts), [[] for _ in contexts], None
        self.tokens_run += sum(map(len, contexts))
        given, positions = tokens, (mask.cumsum(dim=1) - 1).clamp(min=0)
        with torch.inference_mode():
            while None in endings:
                outputs = self._model(
                    input_ids=given,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=kept,
                    use_cache=True,
                    logits_to_keep=1,
                )
                kept = outputs.past_key_values
                chosen = _chosen(torch, outputs.logits[:, -1].float(), settings, draws)
                now = nanoseconds()
                for row, token in enumerate(chosen.tolist()):
                    if endings[row] is not None:
                        continue
                    moments[row].append(now)
                    if token in ends:
                        endings[row] = "stop"
                        continue
                    found[row].append(token)
                    if len(found[row]) >= settings["longest"]:
                        endings[row] = "length"
                    elif is_followed(settings) and is_over(decode(found[row])):
                        endings[row] = "stop"
                self.tokens_run += endings.count(None)
                given = chosen[:, None]
                positions = positions[:, -1:] + 1
                mask = torch.cat([mask, torch.ones_like(given)], dim=1)
        return [Written(each, decode(each), ending, times) for each, ending, times in zip(found, endings, moments)]


def _generator(torch, seed, device):
    made = torch.Generator(device=device)
    made.manual_seed(seed)
    return made


def _chosen(torch, scores, settings, draws):
    """A token for each row: the likeliest, or one that is drawn with the row's own stream of random numbers."""
    if not torch.isfinite(scores.max(dim=-1).values).all():
        raise ModelError("the model answered with not-a-number")
    if not settings["temperature"]:
        return scores.argmax(dim=-1)
    scores = scores / settings["temperature"]
    if settings["top_k"]:
        least = scores.topk(min(settings["top_k"], scores.shape[1]), dim=-1).values[:, -1:]
        scores = scores.masked_fill(scores < least, float("-inf"))
    if settings["top_p"]:
        ordered, order = scores.sort(dim=-1, descending=True)
        before = ordered.softmax(dim=-1).cumsum(dim=-1) - ordered.softmax(dim=-1)
        ordered = ordered.masked_fill(before >= settings["top_p"], float("-inf"))
        scores = torch.full_like(scores, float("-inf")).scatter(1, order, ordered)
    shares = scores.softmax(dim=-1)
    return torch.cat([torch.multinomial(shares[row], 1, generator=each) for row, each in enumerate(draws)])


tells_build("transformers", "torch")(build)
