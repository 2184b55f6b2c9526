"""Averages readers that were exported by `export.py`, weight by weight: `python average.py out.onnx 0.onnx 1.onnx …`.

Readers that begin with the same weights and learn from most of the same worlds lie so near each other that their mean is
a reader, too: one that has learned from all worlds.
"""
import sys

import numpy as np
import onnx
from onnx import numpy_helper

path, *parts = sys.argv[1:]
models = [onnx.load(part) for part in parts]
tables = [{each.name: numpy_helper.to_array(each) for each in model.graph.initializer} for model in models]
embeddings = {"words.table": "word_states", "types.table": "type_states", "positions.table": "position_states"}
averaged = {}


def mean(name, scale):
    return np.mean([table[name].astype(np.float32) * table[scale] for table in tables], 0)


for name, values in tables[0].items():
    if name in embeddings:
        weight, scale = mean(name, f"{embeddings[name]}.scale"), f"{embeddings[name]}.scale"
        averaged[scale] = np.float32(np.abs(weight).max() / 127)
        averaged[name] = np.round(weight / averaged[scale]).astype(np.int8)
    elif values.dtype == np.int8 and name.endswith(".weight"):
        scale = name.removesuffix("weight") + "scale"
        weight = mean(name, scale)
        averaged[scale] = (np.abs(weight).max(0) / 63 + 1e-12).astype(np.float32)
        averaged[name] = np.round(weight / averaged[scale]).astype(np.int8)
    elif values.dtype == np.float32 and not name.endswith(".scale"):
        averaged[name] = np.mean([table[name] for table in tables], 0).astype(np.float32)
for each in models[0].graph.initializer:
    if each.name in averaged:
        each.CopyFrom(numpy_helper.from_array(np.array(averaged[each.name], order="C"), each.name))
onnx.save(models[0], path)
