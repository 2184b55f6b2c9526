"""Makes all pairs that readers are trained on, once for all of them: `python pool.py <variants> <processes>`.

Each world's questions are varied so many times. What is made of a world by words of another one says which: a reader that
must not see that one leaves it out.
"""
import multiprocessing
import os
import random
import sys
import time

import numpy as np

from pairs import Pairs, read_worlds

folder = os.environ["READER_DATA"]
variants, processes = int(sys.argv[1]), int(sys.argv[2])
began = time.time()
worlds = read_worlds(f"{folder}/dump")
names = sorted(worlds)
pairs = Pairs(worlds)


def varied(variant):
    """The groups of one variant in any order, as flat arrays."""
    rng = random.Random(variant)
    order = list(pairs.groups)
    rng.shuffle(order)
    tokens, labels, rows, ranks, groups = [], [], [], [], []
    for name, members in order:
        first, first_rank = len(rows), len(ranks)
        for member in members:
            sequences, before = pairs.unit(rng, name, member)
            ranks += [(a + len(rows), b + len(rows)) for a, b in before]
            for ids, question_tokens, wanted, target, weight, lender in sequences:
                rows.append((len(ids), question_tokens, target, weight, names.index(lender), wanted is not None))
                tokens += ids
                own = [-1] * len(ids)
                if wanted is not None:
                    own[1 : 1 + len(wanted)] = wanted
                labels += own[: len(ids)]
        groups.append((names.index(name), len(members), first, len(rows) - first, first_rank, len(ranks) - first_rank))
    return np.array(tokens, np.int16), np.array(labels, np.int8), np.array(rows, np.float32), np.array(ranks, np.int64), np.array(groups, np.int64)


with multiprocessing.get_context("fork").Pool(processes) as workers:
    made = workers.map(varied, range(variants), chunksize=1)
tokens, labels, rows, ranks, groups = zip(*made)
first_row = np.cumsum([0] + [len(each) for each in rows[:-1]])
first_rank = np.cumsum([0] + [len(each) for each in ranks[:-1]])
ranks = np.concatenate([each + at for each, at in zip(ranks, first_row)])
for each, row, rank in zip(groups, first_row, first_rank):
    each[:, 2] += row
    each[:, 4] += rank
np.savez(f"{folder}/pool.npz", tokens=np.concatenate(tokens), labels=np.concatenate(labels), rows=np.concatenate(rows), ranks=ranks, groups=np.concatenate(groups), names=np.array(names))
print(sum(map(len, rows)), "sequences", sum(map(len, tokens)), "tokens", "%.0f s" % (time.time() - began), flush=True)
