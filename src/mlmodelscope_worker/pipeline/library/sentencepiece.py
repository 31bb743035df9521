"""SentencePiece: a `.model` file."""

from sentencepiece import SentencePieceProcessor

from ..plain_tokenizer import Plain


class Pieces(Plain):
    def __init__(self, found):
        self._found = found

    def cut(self, text):
        if hasattr(self._found, "EncodeAsOffsetMapping"):  # from 0.2.2 on
            made = self._found.EncodeAsOffsetMapping(text)
            return [(token, start, end) for token, (start, end) in zip(made["ids"], made["offsets"])]
        made = self._found.encode(text, out_type="immutable_proto")
        return [(each.id, each.begin, each.end) for each in made.pieces]

    def text(self, tokens):
        return self._found.decode(tokens)


def read(path, lowercase, unknown):
    return Pieces(SentencePieceProcessor(model_file=path))
