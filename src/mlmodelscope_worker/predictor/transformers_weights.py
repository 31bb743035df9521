"""Weights of a language model as somebody else has them: rows in another order, or in fewer bits.

Both are done in memory after the model was opened, so that one folder shows what a converter or a smaller file did.
"""

from .predictor import ModelError

LAYOUTS = ("stored", "pairs_to_halves", "halves_to_pairs")
ROUNDINGS = ("stored", "float16", "bfloat16", "q8_0", "q4_0")
_BLOCK = 32
"""Weights that have one scale in common, in GGUF's simple types."""


def rearrange_rotary(torch, model, layout):
    """Rotary positions turn neighboring rows of a head, or its two halves. Which of them a file's rows are made for is
    not in the file, and some converters forget to rearrange them."""
    config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
    heads = getattr(config, "num_attention_heads", None)
    counts = {"q_proj": heads, "k_proj": getattr(config, "num_key_value_heads", None) or heads}
    share = getattr(config, "partial_rotary_factor", None) or 1.0
    found = 0
    for name, module in model.named_modules():
        count = counts.get(name.rpartition(".")[2])
        if count and getattr(module, "weight", None) is not None:
            for each in (module.weight, getattr(module, "bias", None)):
                if each is not None:
                    each.data = _rearranged(torch, each.data, count, share, layout)
            found += 1
    if not found:
        raise ModelError("`rotary` finds no rows of queries and keys by themselves in %s" % type(model).__name__)


def _rearranged(torch, weights, heads, share, layout):
    rows = weights.shape[0]
    if rows % heads or int(rows // heads * share) % 2:
        raise ModelError("`rotary` cannot part %d rows into %d heads" % (rows, heads))
    head = rows // heads
    turned = int(head * share)
    order = torch.arange(turned).reshape((turned // 2, 2) if layout == "pairs_to_halves" else (2, turned // 2))
    order = torch.cat([order.t().reshape(-1), torch.arange(turned, head)])
    places = (torch.arange(heads)[:, None] * head + order[None]).reshape(-1)
    return weights[places.to(weights.device)].contiguous()


def round_weights(torch, model, kind):
    """As a file has them that is smaller: matrices only, as llama.cpp's converter does it; sums keep their type."""
    seen = set()
    for each in model.parameters():
        if each.dim() == 2 and each.data_ptr() not in seen:  # an embedding may be the last layer, too
            seen.add(each.data_ptr())
            each.data.copy_(_rounded(torch, each.data, kind))


def _rounded(torch, weights, kind):
    if kind in ("float16", "bfloat16"):
        return weights.to(getattr(torch, kind))
    if weights.shape[1] % _BLOCK:  # no whole blocks: such a matrix stays in 16 bits
        return weights.to(torch.float16)
    blocks = weights.float().reshape(-1, _BLOCK)
    if kind == "q8_0":
        scale = blocks.abs().amax(dim=1, keepdim=True) / 127
        whole = _parted(torch, blocks, scale).round()
    else:
        scale = blocks.gather(1, blocks.abs().argmax(dim=1, keepdim=True)) / -8
        whole = (_parted(torch, blocks, scale) + 8.5).floor().clamp(0, 15) - 8
    return (whole * scale.to(torch.float16).float()).reshape(weights.shape)  # a scale has 16 bits in the file


def _parted(torch, blocks, scale):
    return torch.where(scale == 0, torch.zeros_like(blocks), blocks / torch.where(scale == 0, 1.0, scale))
