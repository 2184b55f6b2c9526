"""Questions beside queries, as the tokens that the reader sees: from the dumps of `bench/trust/dump.ts`."""
import glob
import json
import os
import random
import re

from tokenizers import Tokenizer

CLS, SEP = 101, 102
SLOT_FIRST, EXAMPLE, END = 1, 20, 21
MAX_TOKENS, MAX_QUESTION_TOKENS, VALUE_TOKENS, MIN_EXAMPLE_TOKENS = 128, 48, 8, 4

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


def assemble(question, description, slots, examples, values=None):
    """As `inputOf` of the product: ids, and how many of them are the question with its two ends."""
    ids = [CLS] + [token for token, _, _ in question] + [SEP]
    question_tokens = len(ids)
    room = MAX_TOKENS - 1
    ids += description
    for slot in slots:
        part = slot + (values or {}).get(slot[0] - SLOT_FIRST, [])
        if len(ids) + len(part) > room:
            break
        ids += part
    for example in examples:
        fitting = example[: max(0, room - len(ids))]
        if len(fitting) < MIN_EXAMPLE_TOKENS:
            break
        ids += fitting
    return (ids + [SEP])[:MAX_TOKENS], question_tokens


def values_of(read):
    """What a slot is given, where the question does not say it word for word."""
    return {place: ids[:VALUE_TOKENS] for place, ids, is_literal in read["values"] if not is_literal}


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


def other_value(rng, said):
    """A value that is not the one that was said; None where nothing is known of its kind."""
    if said in ("true", "false"):
        return "false" if said == "true" else "true"
    day = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", said)
    if day:
        year, month, date = map(int, day.groups())
        turn = rng.randrange(3)
        if turn == 0:
            year += rng.choice((-1, 1))
        elif turn == 1:
            month = (month - 1 + rng.choice((-2, -1, 1, 2))) % 12 + 1
        else:
            date = rng.choice([d for d in (1, 5, 10, 15, 20, 28) if d != date])
        return f"{year:04}-{month:02}-{min(date, 28):02}"
    if re.fullmatch(r"-?\d+(\.\d+)?", said):
        return rng.choice([said + "0", said + "000", "-" + said.lstrip("-"), str(float(said) + rng.choice((1, 2, 10))).removesuffix(".0")])
    return None


class Pairs:
    """Training pairs of some worlds. A unit is one question with the queries it is read beside."""

    def __init__(self, worlds, config):
        self.worlds, self.config = worlds, config
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

    def sequence(self, rng, world, question, query, unexpressed, text=None, dropped=None, wrong_value=False):
        """(ids, question tokens, labels of the question's tokens or None); None where no value can be made wrong."""
        read = question["read"][query]
        description, slots, examples = self.view(rng, world["cards"][query])
        bound = read["bound"]
        values = values_of(read) if self.config.get("values") else {}
        if dropped is not None:
            slots = [slot for slot in slots if slot[0] - SLOT_FIRST not in dropped]
            bound = [each for each in bound if each[2] not in dropped]
            examples = [unmarked(example, dropped) for example in examples]
        if wrong_value:
            changed = [(place, other) for place, ids in values.items() for other in [other_value(rng, decoded(ids))] if other]
            if not changed:
                return None
            place, other = rng.choice(changed)
            values = {**values, place: pieces(f"= {other}")[0][:VALUE_TOKENS]}
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
        ids, question_tokens = assemble(marked, description, slots, examples, values)
        labels = None
        if unexpressed is not None:
            spans = [(start + shift, end + shift) for start, end in unexpressed]
            labels = [-1 if start < 0 else int(any(start < b and end > a for a, b in spans)) for _, start, end in marked]
        return ids, question_tokens, labels

    def unit(self, rng, name, at):
        world = self.worlds[name]
        question = world["questions"][at]
        sequences, targets, weights, pairs = [], [], [], []

        def add(sequence, target, weight=1.0):
            sequences.append(sequence)
            targets.append(target)
            weights.append(weight)
            return len(sequences) - 1

        def make(query, unexpressed, **more):
            return self.sequence(rng, world, question, query, unexpressed, **more)

        ranked = [query for query, _ in question["ranked"]]
        meant, near, asks = question["query"], question["near"], question["asksFor"]
        words = [question["words"]] if question["words"] else None
        if meant >= 0:
            others = [query for query in ranked if query != meant]
            is_right = question["read"][meant]["isRight"] or not self.config.get("bindings", True)
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
                pairs += [(own, add(made, 0)) for made in self.made_wrong(rng, world, name, question, meant)]
        elif asks >= 0:
            if words is None:
                own = add(make(asks, None), 1, 0.5)
                for query in rng.sample([query for query in ranked if query != asks][:6], 2):
                    pairs.append((own, add(make(query, None), 0)))
            else:
                add(make(asks, words), 0)
        elif near >= 0:
            wrong = add(make(near, words), 0, 2.0)
            for query in rng.sample([query for query in ranked if query != near][:5], 2):
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
        return sequences, targets, weights, pairs

    def made_wrong(self, rng, world, name, question, meant):
        """The same question with something in it that the query does not express."""
        bound = question["read"][meant]["bound"]
        if bound and rng.random() < 0.45:
            start, end, _ = rng.choice(bound)
            dropped = {place for a, b, place in bound if (a, b) == (start, end)}
            yield self.sequence(rng, world, question, meant, [(start, end)], dropped=dropped)
        if self.config.get("values") and rng.random() < 0.3:
            made = self.sequence(rng, world, question, meant, None, wrong_value=True)
            if made is not None:
                yield made
        if rng.random() < 0.4:
            base = question["text"].rstrip(" ?.!")
            if rng.random() < 0.7 and self.tails:
                own = [tail for other, tail in self.tails if other == name]
                tail = rng.choice(own) if own and rng.random() < 0.5 else rng.choice(self.tails)[1]
                said = base + rng.choice((" ", " ", " ", " ", ", ")) + tail
            else:
                other = rng.choice(world["questions"])
                if other is question:
                    return
                said = base + rng.choice(joins) + other["text"][:1].lower() + other["text"][1:]
            if len(said) < 400:
                yield self.sequence(rng, world, question, meant, [(len(base), len(said))], text=said)


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


def decoded(ids):
    return re.sub(r"\s+", "", _tokenizer.decode(ids)).lstrip("=")
