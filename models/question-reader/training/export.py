"""Writes a trained reader as one ONNX file, int8 by channel, as the product runs it: `python export.py s.npz out.onnx`.

The graph is written out operator by operator. A sum and its normalisation stay apart: joined, as the runtime would join
them, they take six times as long. So the product must open it without rewriting it further (`graphOptimizationLevel:
'basic'`).
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, INNER = 384, 12, 1536
stored = {name: values.astype(np.float32) for name, values in np.load(sys.argv[1]).items()}
full, narrow = (int(each) for each in stored.pop("layers"))
nodes, constants = [], []


def constant(name, values):
    constants.append(numpy_helper.from_array(np.array(values, order="C"), name))
    return name


def add(kind, inputs, name, outputs=None, domain="", **attributes):
    nodes.append(helper.make_node(kind, inputs, outputs or [name], domain=domain, **attributes))
    return name


def own(kind, inputs, name, **attributes):
    return add(kind, inputs, name, domain="com.microsoft", **attributes)


def linear(x, names, name):
    """One product for several layers that look at the same states; seven bits, safe on processors without VNNI."""
    weight = np.concatenate([stored[f"{each}.weight"] for each in names])
    bias = np.concatenate([stored[f"{each}.bias"] for each in names])
    scale = np.abs(weight).max(1) / 63 + 1e-12
    rounded = np.round(weight / scale[:, None]).astype(np.int8).T
    given = [constant(f"{name}.weight", rounded), constant(f"{name}.scale", scale.astype(np.float32)), "", constant(f"{name}.bias", bias)]
    return own("DynamicQuantizeMatMul", [x, *given], name)


def embedding(name, ids, out):
    weight = stored[f"{name}.weight"]
    scale = float(np.abs(weight).max() / 127)
    table = constant(f"{name}.table", np.round(weight / scale).astype(np.int8))
    picked = add("Gather", [table, ids], f"{out}.int8")
    return add("DequantizeLinear", [picked, constant(f"{out}.scale", np.float32(scale)), constant(f"{out}.zero", np.int8(0))], out)


def norm(x, name):
    return add("LayerNormalization", [x, constant(f"{name}.gain", stored[f"{name}.weight"]), constant(f"{name}.shift", stored[f"{name}.bias"])], f"{name}.out", axis=-1, epsilon=1e-12)


def split(x, count, name):
    outputs = [f"{name}.{at}" for at in range(count)]
    add("Split", [x, constant(f"{name}.sizes", np.full(count, WIDTH, np.int64))], name, outputs, axis=-1)
    return outputs


def after(x, seen, layer):
    """What a layer makes of what its tokens have seen."""
    x = norm(add("Add", [linear(seen, [f"{layer}.out"], f"{layer}.found"), x], f"{layer}.sum"), f"{layer}.norm_attention")
    inner = own("Gelu", [linear(x, [f"{layer}.inner"], f"{layer}.wide")], f"{layer}.gelu")
    return norm(add("Add", [linear(inner, [f"{layer}.outer"], f"{layer}.narrowed"), x], f"{layer}.sum_out"), f"{layer}.norm_out")


one, zero, last = constant("one", np.array([1], np.int64)), constant("zero", np.array([0], np.int64)), constant("last", np.array([np.iinfo(np.int64).max]))
length = add("Shape", ["input_ids"], "length", start=1, end=2)
positions = add("Unsqueeze", [add("Range", ["zero_scalar", add("Squeeze", [length], "length_scalar"), "one_scalar"], "places"), zero], "positions")
constant("zero_scalar", np.int64(0)), constant("one_scalar", np.int64(1))
summed = add("Add", [embedding("words", "input_ids", "word_states"), embedding("types", "token_type_ids", "type_states")], "embedded_0")
x = norm(add("Add", [summed, embedding("positions", positions, "position_states")], "embedded"), "norm")
for at in range(full):
    layer = f"layers.{at}"
    query, key, value = split(linear(x, [f"{layer}.{each}" for each in ("query", "key", "value")], f"{layer}.all"), 3, f"{layer}.parts")
    x = after(x, own("MultiHeadAttention", [query, key, value], f"{layer}.seen", num_heads=HEADS), layer)
# The question's tokens come first and are of type 0.
card_tokens = add("ReduceSum", ["token_type_ids", one], "card_tokens_2", keepdims=0)
question_tokens = add("Sub", [length, card_tokens], "question_tokens")
question = add("Slice", [x, zero, question_tokens, one], "question")
card = add("Slice", [x, question_tokens, last, one], "card")
if narrow > 0:
    names = [f"layers.{at}.{each}" for at in range(full, full + narrow) for each in ("key", "value")]
    of_card = split(linear(card, names, "card.all"), 2 * narrow, "card.parts")
for at in range(full, full + narrow):
    layer, place = f"layers.{at}", 2 * (at - full)
    query, key, value = split(linear(question, [f"{layer}.{each}" for each in ("query", "key", "value")], f"{layer}.all"), 3, f"{layer}.parts")
    keys = add("Concat", [key, of_card[place]], f"{layer}.keys", axis=1)
    values = add("Concat", [value, of_card[place + 1]], f"{layer}.values", axis=1)
    question = after(question, own("MultiHeadAttention", [query, keys, values], f"{layer}.seen", num_heads=HEADS), layer)
first = add("Gather", [question, constant("first", np.int64(0))], "first_state", axis=1)
match = linear(add("Tanh", [linear(first, ["match_inner"], "match.inner")], "match.tanh"), ["match_out"], "match.out")
add("Squeeze", [match, one], "match")
words = linear(add("Tanh", [linear(question, ["word_inner"], "word.inner")], "word.tanh"), ["word_out"], "word.out")
add("Squeeze", [words, constant("two", np.array([2], np.int64))], "unexpressed")
inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
outputs = [helper.make_tensor_value_info("match", TensorProto.FLOAT, ["batch"]), helper.make_tensor_value_info("unexpressed", TensorProto.FLOAT, ["batch", "question"])]
graph = helper.make_graph(nodes, "reader", inputs, outputs, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
model.ir_version = 8
onnx.save(model, sys.argv[2])
