"""Writes into `check.json` what the model file says to its pairs, read by another runtime than the product's: `python check.py`."""
import json
import os

import numpy as np
import onnxruntime

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
options = onnxruntime.SessionOptions()
# As the product opens it: see `export.py`.
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
session = onnxruntime.InferenceSession(f"{folder}/model_quantized.onnx", options)
checks = json.load(open(f"{folder}/check.json"))
for check in checks:
    ids = np.array([check["input_ids"]], np.int64)
    types = (np.arange(ids.shape[1]) >= check["question_ids"]).astype(np.int64)[None]
    match, words = session.run(["match", "unexpressed"], {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types})
    check["match"] = round(float(match[0]), 3)
    check["unexpressed"] = [round(float(words[0, at]), 2) for at, _, _ in check["question_tokens"]]
    print(check["match"], check["question"], "|", check["query"]["name"])
json.dump(checks, open(f"{folder}/check.json", "w"))
