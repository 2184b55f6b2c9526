"""Questions beside queries, as the tokens that the reader sees: from the dumps of `bench/trust/dump.ts`."""
import glob
import json
import os
import random
import re

from tokenizers import Tokenizer

CLS, SEP = 101, 102
SLOT_FIRST, EXAMPLE, END = 1, 20, 21
MAX_TOKENS, MAX_QUESTION_TOKENS, MIN_EXAMPLE_TOKENS = 128, 48, 4

here = os.path.dirname(os.path.abspath(__file__))
_tokenizer = Tokenizer.from_file(os.environ.get("TOKENIZER", f"{here}/../../question-encoder/tokenizer.json"))
_tokenizer.no_padding()
_tokenizer.no_truncation()
_known = {}


def pieces(text):
    """Token ids and their places in the text, without special tokens."""
    found = _known.get(text)
    if found is None:
        encoded = _tokenizer.encode(text, add_special_tokens=False)
        found = (encoded.ids, encoded.offsets)
        if len(_known) < 200_000:
            _known[text] = found
    return found


def with_marks(text, bound):
    """As `withMarks` of the product: [(id, start, end)], a mark with start == end == -1."""
    waiting = sorted((start, end, place) for start, end, place in bound)
    marked, open_until, at = [], None, 0
    ids, places = pieces(text)
    for token, (start, end) in zip(ids, places):
        if open_until is not None and start >= open_until:
            marked.append((END, -1, -1))
            open_until = None
        while at < len(waiting) and waiting[at][0] <= start and open_until is None:
            if waiting[at][1] > start:
                marked.append((SLOT_FIRST + waiting[at][2], -1, -1))
                open_until = waiting[at][1]
            at += 1
        marked.append((token, start, end))
    if open_until is not None:
        marked.append((END, -1, -1))
    return marked[:MAX_QUESTION_TOKENS]


def bound_of(ids, places):
    """The spans that the marks of a dumped question enclose."""
    bound, slot, start, end = [], None, None, None
    for token, place in zip(ids, places):
        if place == 0:
            if token == END:
                if slot is not None and start is not None:
                    bound.append((start, end, slot))
                slot, start = None, None
            else:
                slot, start = token - SLOT_FIRST, None
        elif slot is not None:
            start = place[0] if start is None else start
            end = place[1]
    return bound


def assemble(question, description, slots, examples):
    """As `inputOf` of the product: ids, and how many of them are the question with its two ends."""
    ids = [CLS] + [token for token, _, _ in question] + [SEP]
    question_tokens = len(ids)
    room = MAX_TOKENS - 1
    ids += description
    for slot in slots:
        if len(ids) + len(slot) > room:
            break
        ids += slot
    for example in examples:
        fitting = example[: max(0, room - len(ids))]
        if len(fitting) < MIN_EXAMPLE_TOKENS:
            break
        ids += fitting
    return (ids + [SEP])[:MAX_TOKENS], question_tokens


def read_worlds(folder):
    worlds = {}
    for path in sorted(glob.glob(f"{folder}/*.json")):
        world = json.load(open(path))
        for question in world["questions"]:
            for read in question["read"]:
                read["bound"] = bound_of(read.pop("ids"), read.pop("places"))
        worlds[world["world"]] = world
    return worlds


prefixes = ["please ", "can you tell me ", "i would like to know ", "hey, ", "show me: ", "quick question: ", "i need ", "tell me ", "um ", "for my report, "]
joins = [" and ", ", and also ", "? And ", ". Also ", "; then "]
leftover_classes = ("leftover-condition", "two-questions", "negation", "wrong-entity")


def with_typo(rng, text, bound):
    """Two neighbouring letters of a word that no slot has taken change places: all places stay true."""
    found = [
        m for m in re.finditer(r"[A-Za-z]{4,}", text)
        if not any(start < m.end() and m.start() < end for start, end, _ in bound)
    ]
    if not found:
        return text
    word = rng.choice(found)
    at = word.start() + rng.randrange(1, len(word.group(0)) - 1)
    return text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :]


class Pairs:
    """Training pairs of some worlds. A unit is one question with the queries it is read beside."""

    def __init__(self, worlds):
        self.worlds = worlds
        self.tails, self.groups, self.by_query = [], [], {}
        for name, world in worlds.items():
            pairs, by = {}, {}
            for at, question in enumerate(world["questions"]):
                if question["pair"] is not None:
                    pairs.setdefault(question["pair"], []).append(at)
                if question["query"] >= 0 and question["read"][question["query"]]["isRight"]:
                    by.setdefault(question["query"], []).append(at)
                span = question["words"]
                if span and question["class"] in leftover_classes and span[1] >= len(question["text"].rstrip(" ?.!")):
                    self.tails.append((name, question["text"][span[0] :].rstrip(" ?.!")))
            self.by_query[name] = by
            paired = {at for members in pairs.values() for at in members}
            for members in pairs.values():
                for at in members:
                    world["questions"][at]["twins"] = [other for other in members if other != at]
            self.groups += [(name, members) for members in pairs.values()]
            self.groups += [(name, [at]) for at in range(len(world["questions"])) if at not in paired]
        self.own_tails = {name: [each for each in self.tails if each[0] == name] for name in worlds}

    def view(self, rng, card):
        """A card as another author might have left it."""
        description, slots, examples = card["description"], list(card["slots"]), list(card["examples"])
        if len(slots) > 1 and rng.random() < 0.25:
            rng.shuffle(slots)
        if rng.random() < 0.3:
            examples = []
        elif len(examples) > 1:
            rng.shuffle(examples)
        if examples and rng.random() < 0.08:
            description = []
        return description, slots, examples[: rng.choice((1, 2, 2))]

    def sequence(self, rng, world, question, query, unexpressed, text=None, dropped=None):
        """(ids, question tokens, labels of the question's tokens or None)."""
        read = question["read"][query]
        description, slots, examples = self.view(rng, world["cards"][query])
        bound = read["bound"]
        if dropped is not None:
            slots = [slot for slot in slots if slot[0] - SLOT_FIRST not in dropped]
            bound = [each for each in bound if each[2] not in dropped]
            examples = [unmarked(example, dropped) for example in examples]
        said, shift = (question["text"] if text is None else text), 0
        if text is None:
            turn = rng.random()
            if turn < 0.10:
                said = with_typo(rng, said, bound)
            elif turn < 0.16:
                prefix = rng.choice(prefixes)
                said, shift = prefix + said, len(prefix)
            elif turn < 0.35:
                said = said.rstrip(" ?.!")
        # A slot that takes nothing looks the same as one whose words were not found.
        marked = with_marks(said, [(start + shift, end + shift, place) for start, end, place in bound])
        ids, question_tokens = assemble(marked, description, slots, examples)
        labels = None
        if unexpressed is not None:
            spans = [(start + shift, end + shift) for start, end in unexpressed]
            labels = [-1 if start < 0 else int(any(start < b and end > a for a, b in spans)) for _, start, end in marked]
        return ids, question_tokens, labels

    def unit(self, rng, name, at):
        """A question beside queries: (ids, question tokens, labels, target, weight, world that lent words), and which must
        come before which. The last three are what the product would read, for a teacher to judge: they have no weight.
        """
        world = self.worlds[name]
        question = world["questions"][at]
        sequences, pairs = [], []

        def add(sequence, target, weight=1.0, lender=name):
            sequences.append((*sequence, target, weight, lender))
            return len(sequences) - 1

        def make(query, unexpressed, **more):
            return self.sequence(rng, world, question, query, unexpressed, **more)

        ranked = [query for query, _ in question["ranked"]]
        meant, near, asks = question["query"], question["near"], question["asksFor"]
        words = [question["words"]] if question["words"] else None
        if meant >= 0:
            others = [query for query in ranked if query != meant]
            is_right = question["read"][meant]["isRight"]
            if is_right:
                own = add(make(meant, []), 1, 1.5)
            else:
                # The right query with values that are not: an answer nobody should get.
                add(make(meant, None), 0, 1.0)
            for query in rng.sample(others[:5], min(2, len(others[:5]))) + ([rng.choice(others)] if others else []):
                other = add(make(query, None), 0)
                if is_right:
                    pairs.append((own, other))
            if is_right:
                for made, lender in self.made_wrong(rng, world, name, question, meant):
                    pairs.append((own, add(made, 0, lender=lender)))
        elif asks >= 0:
            if words is None:
                own = add(make(asks, None), 1, 0.5)
                others = [query for query in ranked if query != asks][:6]
                for query in rng.sample(others, min(2, len(others))):
                    pairs.append((own, add(make(query, None), 0)))
            else:
                add(make(asks, words), 0)
        elif near >= 0:
            wrong = add(make(near, words), 0, 2.0)
            others = [query for query in ranked if query != near][:5]
            for query in rng.sample(others, min(2, len(others))):
                add(make(query, None), 0)
            twins = [other for other in question.get("twins", []) if world["questions"][other]["query"] == near]
            twins = [other for other in twins if world["questions"][other]["read"][near]["isRight"]]
            if not twins and rng.random() < 0.6:
                twins = self.by_query[name].get(near, [])
            if twins:
                twin = world["questions"][rng.choice(twins)]
                pairs.append((add(self.sequence(rng, world, twin, near, []), 1), wrong))
        else:
            for query in rng.sample(ranked[:5], min(2, len(ranked))):
                add(make(query, None), 0, 0.7)
        for query in ranked[:3]:
            add(self.sequence(rng, world, question, query, None), 0, 0.0)
        return sequences, pairs

    def made_wrong(self, rng, world, name, question, meant):
        """The same question with something in it that the query does not express, and the world that lent those words."""
        bound = question["read"][meant]["bound"]
        if bound and rng.random() < 0.45:
            start, end, _ = rng.choice(bound)
            dropped = {place for a, b, place in bound if (a, b) == (start, end)}
            yield self.sequence(rng, world, question, meant, [(start, end)], dropped=dropped), name
        if rng.random() < 0.4:
            base, lender = question["text"].rstrip(" ?.!"), name
            if rng.random() < 0.7 and self.tails:
                own = self.own_tails.get(name)
                lender, tail = rng.choice(own) if own and rng.random() < 0.5 else rng.choice(self.tails)
                said = base + rng.choice((" ", " ", " ", " ", ", ")) + tail
            else:
                other = rng.choice(world["questions"])
                if other is question:
                    return
                said = base + rng.choice(joins) + other["text"][:1].lower() + other["text"][1:]
            if len(said) < 400:
                yield self.sequence(rng, world, question, meant, [(len(base), len(said))], text=said), lender


def unmarked(example, dropped):
    """An example without the marks of some slots."""
    kept, is_open = [], False
    for token in example:
        if token == END and is_open:
            is_open = False
        elif SLOT_FIRST <= token < EXAMPLE and token - SLOT_FIRST in dropped:
            is_open = True
        else:
            kept.append(token)
    return kept

