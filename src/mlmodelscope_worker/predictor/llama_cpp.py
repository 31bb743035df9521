"""llama.cpp: language models out of GGUF files, by its own library and without its samplers.

The names are those of `llama-cpp-python`, whose thin layer over the C library is all that is used of it.
"""

import ctypes
import os
import re

from ..clock import nanoseconds
from ..parameters import Integer
from .build import tells_build
from .drawing import Texts, check_rows, checked, logarithms
from .language_model import LanguageModel
from .predictor import ModelError, predictor

_MAGIC = b"GGUF"
_MOST_ROOM = 4096
_SILENT = []  # what is told to be silent, which must stay alive


@predictor(packages=("llama-cpp-python",))
def llama_cpp(
    files,
    *,
    threads: Integer("Threads that compute.", at_least=1, at_most=4096) = 1,
    n_ctx: Integer(
        "Tokens that the model takes at once; by default as many as it was trained with, at most 4096.", at_least=8
    ) = None,
    n_batch: Integer("Tokens that are computed in one call.", at_least=1, at_most=65536) = 512,
    batch: Integer("Texts that are written side by side; each takes the memory of a whole context.", at_least=1) = 1,
):
    """Language models of llama.cpp: GGUF files, quantized or not, on the CPU."""
    import llama_cpp as library

    path = files["graph"]
    if not os.path.isfile(path):
        raise ModelError("a GGUF file is expected")
    with open(path, "rb") as file:
        if file.read(4) != _MAGIC:
            raise ModelError("it is not a GGUF file")
    if not _SILENT:
        _SILENT.append(library.llama_log_callback(lambda level, text, data: None))
        library.llama_log_set(_SILENT[0], ctypes.c_void_p(0))
        library.llama_backend_init()
    return LlamaCpp(library, path, threads, n_ctx, n_batch, batch)


class LlamaCpp(LanguageModel):
    tokens_run = 0

    def __init__(self, library, path, threads, n_ctx, n_batch, batch):
        self._library, self._at_once = library, batch
        self._batch_size = n_batch = max(n_batch, batch)  # it takes a token of each text at once
        self._model = self._context = self._held = None
        settings = library.llama_model_default_params()
        settings.n_gpu_layers = 0
        self._model = library.llama_model_load_from_file(path.encode("utf-8"), settings)
        if not self._model:
            raise ModelError("llama.cpp cannot load the model")
        trained = library.llama_model_n_ctx_train(self._model)
        self.longest = n_ctx or min(trained, _MOST_ROOM)
        settings = library.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = self.longest * batch, n_batch, n_batch
        settings.n_seq_max, settings.kv_unified = batch, True
        settings.n_threads = settings.n_threads_batch = threads
        self._context = library.llama_init_from_model(self._model, settings)
        if not self._context:
            self.close()
            raise ModelError("llama.cpp has no memory for %d tokens; `n_ctx` says how many" % (self.longest * batch))
        self._memory = library.llama_get_memory(self._context)
        self._words = library.llama_model_get_vocab(self._model)
        self.size = library.llama_vocab_n_tokens(self._words)
        self._held = library.llama_batch_init(n_batch, 0, 1)
        first = library.llama_vocab_bos(self._words)
        self.stop_tokens = tuple(each for each in range(self.size) if library.llama_vocab_is_eog(self._words, each))
        self.prefix = first if 0 <= first < self.size else (self.stop_tokens or (None,))[0]

    def encode(self, text, special):
        content = text.encode("utf-8")
        room = len(content) + 8
        for _ in range(2):
            made = (self._library.llama_token * room)()
            count = self._library.llama_tokenize(self._words, content, len(content), made, room, special, True)
            if count >= 0:
                return list(made[:count])
            room = -count
        raise ModelError("llama.cpp cannot make tokens of it")

    def decode(self, tokens):
        given = (self._library.llama_token * len(tokens))(*tokens)
        room = 16 * len(tokens) + 64
        for _ in range(2):
            made = ctypes.create_string_buffer(room)
            count = self._library.llama_detokenize(self._words, given, len(tokens), made, room, False, False)
            if count >= 0:
                return made.raw[:count].decode("utf-8", "replace")
            room = -count
        raise ModelError("llama.cpp cannot make a text of these tokens")

    def _read(self, entries):
        """Compute (token, position, sequence, whether its scores are wanted) in calls of at most so many; the wanted
        scores in order."""
        import numpy as np

        library, batch, found = self._library, self._held, []
        for start in range(0, len(entries), self._batch_size):
            part = entries[start : start + self._batch_size]
            self.tokens_run += len(part)
            batch.n_tokens = len(part)
            for place, (token, position, sequence, is_wanted) in enumerate(part):
                batch.token[place], batch.pos[place] = token, position
                batch.n_seq_id[place], batch.seq_id[place][0] = 1, sequence
                batch.logits[place] = is_wanted
            code = library.llama_decode(self._context, batch)
            if code:
                raise ModelError("llama.cpp refused %d tokens with code %d" % (len(part), code))
            for place, entry in enumerate(part):
                if entry[3]:
                    row = library.llama_get_logits_ith(self._context, place)
                    found.append(np.ctypeslib.as_array(row, (self.size,)).copy())
        return found

    def _forget(self):
        self._library.llama_memory_clear(self._memory, True)

    def score(self, rows):
        """What a row has in common with the one before it is not computed again."""
        check_rows(rows, self.size, self.longest)
        self._forget()
        known, found = [], []
        for context, continuation in rows:
            tokens = list(context) + list(continuation[:-1])
            first = len(context) - 1
            start = min(_in_common(known, tokens), first)
            if not self._library.llama_memory_seq_rm(self._memory, 0, start, -1):
                self._forget()  # models with a state cannot go back
                start = 0
            entries = [(tokens[place], place, 0, place >= first) for place in range(start, len(tokens))]
            known = []  # until the call has been good
            scores = self._read(entries)
            known = tokens
            found.append(logarithms(scores, continuation))
        return found

    def write(self, contexts, settings, decode, is_over):
        for context in contexts:
            checked(list(context), self.size, self.longest)
        made = []
        for start in range(0, len(contexts), self._at_once):
            made += self._write_together(contexts[start : start + self._at_once], settings, decode, is_over)
        return made

    def _write_together(self, contexts, settings, decode, is_over):
        ends = self.stop_tokens if settings["stop_tokens"] is None else settings["stop_tokens"]
        texts = Texts(contexts, settings, ends, decode, is_over)
        self._forget()
        scores, lengths = {}, [len(each) for each in contexts]
        for row, context in enumerate(contexts):
            last = len(context) - 1
            (scores[row],) = self._read([(token, at, row, at == last) for at, token in enumerate(context)])
        while texts.open:
            entries, now = [], nanoseconds()
            for row in texts.open:
                token = texts.add(row, scores[row], now)
                if token is not None and lengths[row] >= self.longest:
                    raise ModelError("there is no room for more than %d tokens" % self.longest)
                if token is not None:
                    entries.append((token, lengths[row], row, True))
                    lengths[row] += 1
            if entries:
                scores = dict(zip((entry[2] for entry in entries), self._read(entries)))
        return texts.written()

    def close(self):
        library = self._library
        if self._held is not None:
            library.llama_batch_free(self._held)
        if self._context:
            library.llama_free(self._context)
        if self._model:
            library.llama_model_free(self._model)
        self._held = self._context = self._model = None


def _in_common(one, other):
    """How many tokens two rows begin with alike."""
    for place, (first, second) in enumerate(zip(one, other)):
        if first != second:
            return place
    return min(len(one), len(other))


@tells_build("llama_cpp", "llama.cpp")
def _build():
    import llama_cpp as library

    told = library.llama_print_system_info().decode("utf-8", "replace")
    on = [each.strip() for each in told.split("|") if re.search(r"= *1\s*$", each)]
    return {"version": library.__version__, "options": [each.partition("=")[0].strip() for each in on]}
