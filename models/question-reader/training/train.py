"""Trains one reader and reads the worlds that were kept from it: `python train.py '<job as JSON>'`.

A job: name, fold (0 to 4; none: all worlds are learned from), steps, and what differs from the defaults below.
"""
import gzip
import json
import os
import random
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F

from model import Reader, export_int8, load_base
from pairs import Pairs, assemble, read_worlds, values_of, with_marks

defaults = {"base": "bge", "layers": 12, "values": 0, "bindings": 1, "steps": 1500, "questions": 48, "rate": 6e-5, "seed": 0}
device = "cuda" if torch.cuda.is_available() else "cpu"
folds = 5
folder = os.environ["READER_DATA"]
out = os.environ.get("READER_OUT", ".")
began = time.time()


def held_out(worlds, fold):
    """Every fifth world by name, of the benchmark's and of the others: each is read once by a reader that has not seen it."""
    benchmark = set(json.load(open(f"{folder}/benchmark.json")))
    groups = (sorted(n for n in worlds if n in benchmark), sorted(n for n in worlds if n not in benchmark))
    return {name for group in groups for at, name in enumerate(group) if at % folds == fold}


class Batches(torch.utils.data.IterableDataset):
    def __init__(self, pairs, job):
        self.pairs, self.job = pairs, job

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        at, count = (worker.id, worker.num_workers) if worker else (0, 1)
        rng = random.Random(self.job["seed"] * 1000 + at)
        torch.set_num_threads(1)
        order = []
        for _ in range(at, self.job["steps"], count):
            sequences, targets, weights, ranks, asked = [], [], [], [], 0
            while asked < self.job["questions"]:
                if not order:
                    order = list(self.pairs.groups)
                    rng.shuffle(order)
                name, members = order.pop()
                for member in members:
                    s, t, w, p = self.pairs.unit(rng, name, member)
                    ranks += [(a + len(sequences), b + len(sequences)) for a, b in p]
                    sequences += s
                    targets += t
                    weights += w
                    asked += 1
            yield padded(sequences) + (np.array(targets, np.float32), np.array(weights, np.float32), np.array(ranks or [(0, 0)], np.int64))


def padded(sequences):
    length = (max(len(ids) for ids, _, _ in sequences) + 7) // 8 * 8
    ids = np.zeros((len(sequences), length), np.int32)
    types = np.zeros((len(sequences), length), np.int8)
    mask = np.zeros((len(sequences), length), bool)
    labels = np.full((len(sequences), length), -1, np.float32)
    for row, (tokens, question_tokens, wanted) in enumerate(sequences):
        ids[row, : len(tokens)] = tokens
        types[row, question_tokens : len(tokens)] = 1
        mask[row, : len(tokens)] = True
        if wanted is not None:
            labels[row, 1 : 1 + len(wanted)] = wanted[: length - 1]
    return ids, types, mask, labels


def train(job, pairs):
    torch.manual_seed(job["seed"])
    model = Reader(job["layers"])
    kept = {12: range(12), 6: (0, 2, 4, 6, 8, 11), 8: (0, 1, 3, 4, 6, 8, 10, 11)}[job["layers"]] if job["base"] == "bge" else range(job["layers"])
    load_base(model, f"{folder}/{job['base']}.npz", kept)
    model.to(device).train()
    body = [p for name, p in model.named_parameters() if not name.startswith(("match_", "word_"))]
    heads = [p for name, p in model.named_parameters() if name.startswith(("match_", "word_"))]
    groups = [{"params": body, "lr": job["rate"]}, {"params": heads, "lr": job["rate"] * 4}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.02, fused=device == "cuda")
    steps = job["steps"]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, (s + 1) / (steps * 0.08)) * max(0, 1 - s / steps))
    workers = int(os.environ.get("READER_WORKERS", "3"))
    batches = torch.utils.data.DataLoader(Batches(pairs, job), batch_size=None, num_workers=workers, prefetch_factor=8)
    sums, since = torch.zeros(4, device=device), time.time()
    for step, batch in enumerate(batches):
        ids, types, mask, labels, targets, weights, ranks = (torch.as_tensor(each).to(device, non_blocking=True) for each in batch)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            match, words = model(ids.long(), mask, types.long())
        match, words = match.float(), words.float()
        whole = (F.binary_cross_entropy_with_logits(match, targets, reduction="none") * weights).sum() / weights.sum()
        ranking = F.softplus(match[ranks[:, 1]] - match[ranks[:, 0]]).mean()
        counted = labels >= 0
        heavier = torch.tensor(2.0, device=device)
        per_word = F.binary_cross_entropy_with_logits(words, labels.clamp(min=0), reduction="none", pos_weight=heavier)
        left_out = (per_word * counted).sum() / counted.sum().clamp(min=1)
        optimizer.zero_grad(set_to_none=True)
        (whole + 0.5 * ranking + left_out).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        sums += torch.stack([whole, ranking, left_out, ((match > 0) == (targets > 0.5)).float().mean()]).detach()
        if (step + 1) % max(1, steps // 4) == 0:
            shown = "whole %.3f ranking %.3f words %.3f right %.3f" % tuple((sums / max(1, steps // 4)).tolist())
            print(job["name"], step + 1, shown, "%.1f steps/s" % ((step + 1) / (time.time() - since)), flush=True)
            sums.zero_()
    return model.eval()


@torch.no_grad()
def read_all(model, job, worlds, best=6):
    """What the reader makes of each question beside the router's best queries, and beside those that it is about."""
    wanted, sequences = [], []
    for name, world in worlds.items():
        for at, question in enumerate(world["questions"]):
            queries = [query for query, _ in question["ranked"][:best]]
            queries += [query for query in (question["query"], question["near"]) if query >= 0 and query not in queries]
            for query in queries:
                read, card = question["read"][query], world["cards"][query]
                marked = with_marks(question["text"], read["bound"])
                values = values_of(read) if job["values"] else {}
                ids, question_tokens = assemble(marked, card["description"], card["slots"], card["examples"], values)
                wanted.append((name, at, query, marked))
                sequences.append((ids, question_tokens, None))
    order = np.argsort([len(ids) for ids, _, _ in sequences], kind="stable")
    found = {name: [{} for _ in world["questions"]] for name, world in worlds.items()}
    for begin in range(0, len(order), 2048):
        chosen = order[begin : begin + 2048]
        ids, types, mask, _ = (torch.as_tensor(each).to(device) for each in padded([sequences[i] for i in chosen]))
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            match, words = model(ids.long(), mask, types.long())
        match, words = match.float().cpu().numpy(), words.float().cpu().numpy()
        for row, i in enumerate(chosen):
            name, at, query, marked = wanted[i]
            tokens = [[start, end, round(float(words[row, 1 + t]), 2)] for t, (_, start, end) in enumerate(marked) if start >= 0]
            found[name][at][query] = [round(float(match[row]), 3), tokens]
    return found


def main():
    job = {**defaults, **json.loads(sys.argv[1])}
    worlds = read_worlds(f"{folder}/dump")
    held = held_out(worlds, job["fold"]) if "fold" in job else set()
    model = train(job, Pairs({name: world for name, world in worlds.items() if name not in held}, job))
    if held:
        found = read_all(model, job, {name: worlds[name] for name in held})
        with gzip.open(f"{out}/{job['name']}.json.gz", "wt") as file:
            json.dump(found, file)
    if job.get("export"):
        path = f"{tempfile.mkdtemp()}/reader.onnx"
        export_int8(model, path)
        content = open(path, "rb").read()
        size = 15 * 1024 * 1024
        for part in range(0, len(content), size):
            with open(f"{out}/{job['name']}.onnx.{part // size}", "wb") as file:
                file.write(content[part : part + size])
    print(job["name"], "done after %.0f s" % (time.time() - began), flush=True)


main()
