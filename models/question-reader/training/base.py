"""Weights of a BERT of 384 from an ONNX file of fp32, int8 by row so that they travel: `python base.py model.onnx out.npz`."""
import sys

import numpy as np
import onnx
from onnx import numpy_helper

graph = onnx.load(sys.argv[1]).graph
given = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
given |= {n.output[0]: numpy_helper.to_array(n.attribute[0].t) for n in graph.node if n.op_type == "Constant" and n.attribute[0].HasField("t")}
# A linear layer's weights have a name of the exporter; the bias that is added to their product has that of the model.
by_bias = {}
for node in graph.node:
    if node.op_type != "MatMul":
        continue
    weight = next((name for name in node.input if name in given), None)
    if weight is None:
        continue
    after = next((n for n in graph.node if node.output[0] in n.input), None)
    bias = next((name for name in after.input if name in given), None) if after is not None and after.op_type == "Add" else None
    if bias is not None:
        by_bias[bias] = given[weight].T
find = lambda end: next(name for name in given if name.endswith(end))
kept = {}


def keep(name, values, is_matrix=False):
    if not is_matrix:
        kept[name] = values.astype(np.float32)
        return
    scale = np.abs(values).max(1) / 127 + 1e-12
    kept[name], kept[f"{name}.scale"] = np.round(values / scale[:, None]).astype(np.int8), scale.astype(np.float32)


for ours, theirs in (("words", "word_embeddings"), ("positions", "position_embeddings"), ("types", "token_type_embeddings")):
    keep(f"{ours}.weight", given[find(f"embeddings.{theirs}.weight")], True)
for part in ("weight", "bias"):
    keep(f"norm.{part}", given[find(f"embeddings.LayerNorm.{part}")])
names = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value", "out": "attention.output.dense",
    "inner": "intermediate.dense", "outer": "output.dense",
}
norms = {"norm_attention": "attention.output.LayerNorm", "norm_out": "output.LayerNorm"}
layers = 1 + max(int(n.split("encoder.layer.")[1].split(".")[0]) for n in given if "encoder.layer." in n)
for at in range(layers):
    for ours, theirs in names.items():
        bias = find(f"encoder.layer.{at}.{theirs}.bias")
        keep(f"layers.{at}.{ours}.weight", by_bias[bias], True)
        keep(f"layers.{at}.{ours}.bias", given[bias])
    for ours, theirs in norms.items():
        for part in ("weight", "bias"):
            keep(f"layers.{at}.{ours}.{part}", given[find(f"encoder.layer.{at}.{theirs}.{part}")])
np.savez_compressed(sys.argv[2], **kept)
print(layers, "layers")
