"""The reader: a small BERT with a logit for "answers whole" and one for each token that nothing expresses."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, INNER = 384, 12, 1536


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm_attention, self.norm_out = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.dropout = nn.Dropout(0.1)
        self.is_exported = False

    def forward(self, x, mask):
        batch, length, _ = x.shape
        split = lambda t: t.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        if self.is_exported:
            seen = torch.softmax(query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + mask, -1) @ value
        else:
            dropped = 0.1 if self.training else 0.0
            seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask.to(query.dtype), dropout_p=dropped)
        seen = seen.transpose(1, 2).reshape(batch, length, WIDTH)
        x = self.norm_attention(x + self.dropout(self.out(seen)))
        return self.norm_out(x + self.dropout(self.outer(F.gelu(self.inner(x)))))


class Reader(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words, self.positions, self.types = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.norm, self.dropout = nn.LayerNorm(WIDTH, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList([Layer() for _ in range(layers)])
        self.match_inner, self.match_out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.word_inner, self.word_out = nn.Linear(WIDTH, WIDTH // 2), nn.Linear(WIDTH // 2, 1)
        self.is_exported = False

    def forward(self, input_ids, attention_mask, token_type_ids):
        if self.is_exported:
            positions = self.positions(torch.cumsum(torch.ones_like(input_ids), 1) - 1)
        else:
            positions = self.positions.weight[: input_ids.shape[1]][None]
        x = self.dropout(self.norm(self.words(input_ids) + positions + self.types(token_type_ids)))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        match = self.match_out(torch.tanh(self.match_inner(x[:, 0])))[:, 0]
        return match, self.word_out(torch.tanh(self.word_inner(x)))[..., 0]


def load_base(model, path, kept_layers):
    """Weights of `base.py`; `kept_layers` are the layers of the base that the reader begins with."""
    stored = np.load(path)

    def weight(name):
        if f"{name}.scale" in stored:
            return stored[name].astype(np.float32) * stored[f"{name}.scale"].astype(np.float32)[:, None]
        return stored[name].astype(np.float32)

    state = {}
    for ours in ("words", "positions", "types"):
        state[f"{ours}.weight"] = weight(f"{ours}.weight")
    for part in ("weight", "bias"):
        state[f"norm.{part}"] = weight(f"norm.{part}")
    names = ("query", "key", "value", "out", "inner", "outer", "norm_attention", "norm_out")
    for ours, theirs in enumerate(kept_layers):
        for name in names:
            for part in ("weight", "bias"):
                state[f"layers.{ours}.{name}.{part}"] = weight(f"layers.{theirs}.{name}.{part}")
    missing = model.load_state_dict({k: torch.tensor(v) for k, v in state.items()}, strict=False)
    assert all(name.startswith(("match_", "word_")) for name in missing.missing_keys), missing
    assert not missing.unexpected_keys, missing


def export_int8(model, path):
    """One ONNX file, int8 by channel, as the product runs it."""
    import copy

    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = copy.deepcopy(model).float().cpu().eval()
    model.is_exported = True
    for layer in model.layers:
        layer.is_exported = True
    ids = torch.randint(1000, 2000, (2, 9))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "sequence"} for name in (*names, "unexpressed")} | {"match": {0: "batch"}}
    torch.onnx.export(
        model, (ids, torch.ones_like(ids), torch.zeros_like(ids)), f"{path}.fp32",
        input_names=names, output_names=["match", "unexpressed"], dynamic_axes=axes, opset_version=14, dynamo=False,
    )
    quantize_dynamic(f"{path}.fp32", path, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
