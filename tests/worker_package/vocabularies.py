"""Small vocabularies, made here, of every kind that a tokenizer's file may be."""

import base64
import io
import json
from pathlib import Path
from typing import Any

from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.text import Text
from mlmodelscope_worker.pipeline.tokens import Tokens

WORDS = (
    "the cat sat on mat un ##aff ##able ##ing ##s play a b c ##a ##b ##c é ##é É Ä cafe café naive i ##i σ ##σ ы ##ы"
)
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split(), *".,!?-'()#$%", *"中国한ㅎ", "1", "##2", "😀"]
LINES = ["The cat's hat, don't you know? 123 456 äöü 中国 हिन्दी", "naïve café 😀 ﬁ   two  blanks\n\n here", "the the"]


def word_pieces(folder: Path) -> Path:
    """A vocabulary of one piece a line, as BERT has it."""
    path = folder / "vocab.txt"
    path.write_text("".join(f"{piece}\n" for piece in PIECES), encoding="utf-8")
    return path


def bert_file(folder: Path, lowercase: bool = True) -> Path:
    """The same vocabulary as a file of the library `tokenizers`, with [CLS] and [SEP]."""
    from tokenizers import BertWordPieceTokenizer

    path = folder / f"bert-{lowercase}.json"
    places = {piece: place for place, piece in enumerate(PIECES)}
    BertWordPieceTokenizer(places, lowercase=lowercase).save(str(path))
    return path


def byte_pairs(folder: Path, prefix: bool = False) -> Path:
    """Byte-level BPE, trained on a few lines."""
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer(add_prefix_space=prefix)
    made.train_from_iterator(LINES * 3, vocab_size=420, show_progress=False)
    path = folder / f"bpe-{prefix}.json"
    made.save(str(path))
    return path


def sentence_pieces(folder: Path, kind: str = "unigram") -> Path:
    """A model of SentencePiece, trained on a few lines."""
    from sentencepiece import SentencePieceTrainer

    out = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 20),
        model_writer=out,
        vocab_size=120,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    path = folder / f"{kind}.model"
    path.write_bytes(out.getvalue())
    return path


def ranks(folder: Path) -> Path:
    """A file of ranks, as tiktoken has them: every byte, and some pairs."""
    known = [bytes([each]) for each in range(256)]
    known += [each.encode() for each in ("th", "the", " t", " the", "ca", "cat", " cat", "é", "中", "12")]
    path = folder / "small.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(piece) + b" %d\n" % rank for rank, piece in enumerate(known)))
    return path


def rewritten(path: Path, **changes: Any) -> Path:
    """A copy of a JSON file with other entries at its top."""
    made = path.with_name("changed-" + path.name)
    made.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
    return made


def tokenized(path: Path, text: str, second: str | None = None, /, **parameters: Any) -> Tokens:
    return run("tokenize", Text(text, second), {"file": str(path), **parameters})


def run(name: str, value: Any, parameters: Any = None) -> Any:
    """One step as a manifest would name it."""
    return STEPS[name].function(value, **STEPS[name].resolve(parameters))
