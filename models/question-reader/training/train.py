"""Trains one reader and reads the worlds that were kept from it: `python train.py '<job as JSON>'`.

A job: name, fold (0 to 2; none: all worlds are learned from), full, narrow, steps, and what differs from the defaults below.
With `teacher`, the name of a job of the same fold that was kept, it learns from that one, too.
"""
import gzip
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from model import Reader, kept_layers, load_base, load_teacher
from pairs import assemble, read_worlds, with_marks

defaults = {"full": 12, "narrow": 0, "steps": 3000, "questions": 48, "rate": 6e-5, "seed": 0}
device = "cuda" if torch.cuda.is_available() else "cpu"
folds = 3
# Rows of like length together: what a batch is padded with is a fifth of it otherwise.
parts = 3
folder = os.environ["READER_DATA"]
kept = os.environ.get("READER_KEPT", folder)
out = os.environ.get("READER_OUT", ".")
began = time.time()


def held_out(names, fold):
    """Every third world by name, of the benchmark's, the small and the others: each is read once by a reader that has not seen it."""
    kind_of = {name: kind for kind in ("benchmark", "small") for name in json.load(open(f"{folder}/{kind}.json"))}
    groups = {}
    for name in sorted(names):
        groups.setdefault(kind_of.get(name), []).append(name)
    return {name for group in groups.values() for at, name in enumerate(group) if at % folds == fold}


class Pool:
    """What `pool.py` has made, without what a reader must not see; texts lie on the device."""

    def __init__(self, held, with_weightless):
        pool = np.load(f"{folder}/pool.npz")
        names = list(pool["names"])
        hidden = np.isin(np.arange(len(names)), [names.index(name) for name in held])
        rows = pool["rows"]
        starts = np.cumsum(np.concatenate([[0], rows[:-1, 0].astype(np.int64)]))
        self.usable = ~hidden[rows[:, 4].astype(int)] & (with_weightless | (rows[:, 3] > 0))
        groups = pool["groups"][~hidden[pool["groups"][:, 0]]]
        # Small worlds are fewer, and have fewer questions: they count twice.
        small = [names.index(name) for name in json.load(open(f"{folder}/small.json"))]
        self.groups = np.concatenate([groups, groups[np.isin(groups[:, 0], small)]])
        self.ranks, self.lengths, self.question_lengths = pool["ranks"], rows[:, 0].astype(int), rows[:, 1].astype(int)
        on_device = lambda values: torch.as_tensor(values).to(device)
        self.tokens, self.labels = on_device(pool["tokens"]), on_device(pool["labels"])
        self.starts, self.rows = on_device(starts), on_device(rows)

    def batches(self, job):
        rng = np.random.default_rng(job["seed"])
        order = np.array([], int)
        for _ in range(job["steps"]):
            chosen, asked = [], 0
            while asked < job["questions"]:
                if len(order) == 0:
                    order = rng.permutation(len(self.groups))
                chosen.append(self.groups[order[-1]])
                order = order[:-1]
                asked += chosen[-1][1]
            yield self.batch(chosen)

    def batch(self, groups):
        rows = np.concatenate([np.arange(first, first + count) for _, _, first, count, _, _ in groups])
        rows = rows[self.usable[rows]]
        rows = rows[np.argsort(self.lengths[rows], kind="stable")]
        place = {row: at for at, row in enumerate(rows)}
        ranks = np.concatenate([self.ranks[first : first + count] for _, _, _, _, first, count in groups])
        ranks = [(place[a], place[b]) for a, b in ranks if a in place and b in place] or [(0, 0)]
        texts = []
        for part in np.array_split(rows, parts):
            length = (self.lengths[part].max() + 7) // 8 * 8
            texts.append((*self.texts(torch.as_tensor(part).to(device), length), int(self.question_lengths[part].max())))
        rows = torch.as_tensor(rows).to(device)
        return texts, self.rows[rows, 2], self.rows[rows, 3], torch.tensor(ranks).to(device)

    def texts(self, rows, length):
        at = torch.arange(int(length), device=device)[None]
        is_token = at < self.rows[rows, 0, None]
        places = (self.starts[rows][:, None] + at).clamp(max=len(self.tokens) - 1)
        ids = self.tokens[places].int() * is_token
        types = ((at >= self.rows[rows, 1, None]) & is_token).int()
        labels = torch.where(is_token, self.labels[places], -1).float()
        return ids, types, is_token, labels


def match_loss(match, targets, weights, ranks):
    whole = (F.binary_cross_entropy_with_logits(match, targets, reduction="none") * weights).sum() / weights.sum()
    return whole, F.softplus(match[ranks[:, 1]] - match[ranks[:, 0]]).mean()


def words_loss(words, labels, positive):
    counted = labels >= 0
    per_word = F.binary_cross_entropy_with_logits(words, labels.clamp(min=0), reduction="none", pos_weight=positive)
    return (per_word * counted).sum() / counted.sum().clamp(min=1)


def taught_loss(student, teacher, types, is_token, question_length):
    """How far a student is from its teacher: its logits, and what it has in mind after each of its layers."""
    (match, words, states), (its_match, its_words, its_states) = student, teacher
    is_question = (is_token & (types == 0))[:, :question_length]
    same = F.binary_cross_entropy_with_logits(match, torch.sigmoid(its_match)) + 0.03 * F.mse_loss(match.clamp(-9, 9), its_match.clamp(-9, 9))
    same_words = F.binary_cross_entropy_with_logits(words, torch.sigmoid(its_words), reduction="none")
    thought = 0
    for own, its in zip(states, kept_layers(len(states), len(its_states))):
        seen = is_token if own.shape[1] == is_token.shape[1] else is_question
        apart = F.mse_loss(own.float(), its_states[its][:, : own.shape[1]].float(), reduction="none").mean(-1)
        thought = thought + (apart * seen).sum() / seen.sum() / len(states)
    return same + (same_words * is_question).sum() / is_question.sum() + thought


def train(job, held, teacher):
    torch.manual_seed(job["seed"])
    model = Reader(job["full"], job["narrow"])
    if teacher is None:
        load_base(model, f"{folder}/bge.npz")
    else:
        load_teacher(model, teacher)
    model.to(device).train()
    body = [p for name, p in model.named_parameters() if not name.startswith(("match_", "word_"))]
    heads = [p for name, p in model.named_parameters() if name.startswith(("match_", "word_"))]
    groups = [{"params": body, "lr": job["rate"]}, {"params": heads, "lr": job["rate"] * (4 if teacher is None else 1)}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.02, fused=device == "cuda")
    steps = job["steps"]
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, (s + 1) / (steps * 0.08)) * max(0, 1 - s / steps))
    shown_every = max(1, steps // 4)
    sums, since = torch.zeros(4, device=device), time.time()
    pool = Pool(held, teacher is not None)
    positive = torch.tensor(2.0, device=device)
    for step, (texts, targets, weights, ranks) in enumerate(pool.batches(job)):
        matches, left_out, taught = [], 0, torch.zeros((), device=device)
        for ids, types, is_token, labels, question_length in texts:
            share = len(ids) / len(targets)
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                match, words, states = model(ids, types, is_token, question_length)
                if teacher is not None:
                    with torch.no_grad():
                        its_match, its_words, its_states = teacher(ids, types, is_token, question_length)
            match, words = match.float(), words.float()
            matches.append(match)
            left_out = left_out + share * words_loss(words, labels[:, :question_length], positive)
            if teacher is not None:
                taught = taught + share * taught_loss((match, words, states), (its_match.float(), its_words.float(), its_states), types, is_token, question_length)
        whole, ranking = match_loss(torch.cat(matches), targets, weights, ranks)
        optimizer.zero_grad(set_to_none=True)
        ((whole + 0.5 * ranking + left_out) * (1 if teacher is None else 0.5) + taught).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        sums += torch.stack([whole, ranking, left_out, taught]).detach()
        if (step + 1) % shown_every == 0:
            shown = "whole %.3f ranking %.3f words %.3f taught %.3f" % tuple((sums / shown_every).tolist())
            print(job["name"], step + 1, shown, "%.1f steps/s" % ((step + 1) / (time.time() - since)), flush=True)
            sums.zero_()
    return model.eval()


@torch.no_grad()
def read_all(model, worlds, best=6):
    """What the reader makes of each question beside the router's best queries, and beside those that it is about."""
    wanted, sequences = [], []
    for name, world in worlds.items():
        for at, question in enumerate(world["questions"]):
            queries = [query for query, _ in question["ranked"][:best]]
            queries += [query for query in (question["query"], question["near"]) if query >= 0 and query not in queries]
            for query in queries:
                read, card = question["read"][query], world["cards"][query]
                marked = with_marks(question["text"], read["bound"])
                wanted.append((name, at, query, marked))
                sequences.append(assemble(marked, card["description"], card["slots"], card["examples"]))
    order = np.argsort([len(ids) for ids, _ in sequences], kind="stable")
    found = {name: [{} for _ in world["questions"]] for name, world in worlds.items()}
    for begin in range(0, len(order), 2048):
        chosen = order[begin : begin + 2048]
        length = max(len(sequences[i][0]) for i in chosen)
        ids, types, is_token = (np.zeros((len(chosen), length), np.int32) for _ in range(3))
        for row, i in enumerate(chosen):
            tokens, question_tokens = sequences[i]
            ids[row, : len(tokens)], is_token[row, : len(tokens)] = tokens, 1
            types[row, question_tokens : len(tokens)] = 1
        question_length = max(sequences[i][1] for i in chosen)
        given = (torch.as_tensor(ids).to(device), torch.as_tensor(types).to(device), torch.as_tensor(is_token).to(device).bool())
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            match, words, _ = model(*given, question_length)
        match, words = match.float().cpu().numpy(), words.float().cpu().numpy()
        for row, i in enumerate(chosen):
            name, at, query, marked = wanted[i]
            tokens = [[start, end, round(float(words[row, 1 + t]), 2)] for t, (_, start, end) in enumerate(marked) if start >= 0]
            found[name][at][query] = [round(float(match[row]), 3), tokens]
    return found


def auroc(scores, are_right):
    order = np.argsort(scores, kind="stable")
    ranks, right = np.empty(len(order)), np.asarray(are_right, bool)
    ranks[order] = np.arange(1, len(order) + 1)
    count = right.sum()
    return (ranks[right].sum() - count * (count + 1) / 2) / (count * (len(right) - count))


def judged(found, worlds, benchmark):
    """AUROC of right against wrong among the router's three best, and how often the best of them by the reader is right."""
    small = set(json.load(open(f"{folder}/small.json")))
    for title, chosen in (("benchmark", benchmark), ("small", small), ("all", set(found))):
        scores, right, tops = [], [], []
        for name in sorted(set(found) & chosen):
            for question, read in zip(worlds[name]["questions"], found[name]):
                three = question["ranked"][:3]
                is_right = [query == question["query"] and question["read"][query]["isRight"] for query, _ in three]
                scores += [read[query][0] for query, _ in three]
                right += is_right
                if question["query"] >= 0:
                    tops.append(max(three, key=lambda each: read[each[0]][0] + 0.5 * each[1])[0] == question["query"])
        if tops:
            yield f"{title} auroc {100 * auroc(np.array(scores), right):.2f} top-1 {100 * np.mean(tops):.1f}"


def main():
    job = {**defaults, **json.loads(sys.argv[1])}
    worlds = read_worlds(f"{folder}/dump")
    held = held_out(worlds, job["fold"]) if "fold" in job else set()
    teacher = None
    if "teacher" in job:
        stored = torch.load(f"{kept}/{job['teacher']}.pt", map_location=device)
        teacher = Reader(stored["full"], stored["narrow"])
        teacher.load_state_dict(stored["state"])
        teacher.to(device).eval()
    model = train(job, held, teacher)
    torch.save({"full": job["full"], "narrow": job["narrow"], "state": model.state_dict()}, f"{kept}/{job['name']}.pt")
    if held:
        found = read_all(model, {name: worlds[name] for name in held})
        print(job["name"], *judged(found, worlds, set(json.load(open(f"{folder}/benchmark.json")))), sep=" | ", flush=True)
        with gzip.open(f"{out}/{job['name']}.json.gz", "wt") as file:
            json.dump(found, file)
    if job.get("export"):
        state = {name: value.half().cpu().numpy() for name, value in model.state_dict().items()}
        np.savez(f"{kept}/{job['name']}.npz", layers=np.array([job["full"], job["narrow"]]), **state)
    print(job["name"], "done after %.0f s" % (time.time() - began), flush=True)


main()
