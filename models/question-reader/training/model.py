"""The reader: a small BERT with a logit for "answers whole" and one for each token that nothing expresses.

Its last layers are narrow: they go on with the question alone, which still looks at the card as the layers before have left
it. Three quarters of the tokens are the card's, so a narrow layer takes a third of the time of a full one.
"""
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

    def forward(self, x, seen, mask):
        """`x` looks at `seen`, of which it is a part."""
        split = lambda t: t.view(t.shape[0], t.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)
        query, key, value = split(self.query(x)), split(self.key(seen)), split(self.value(seen))
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=0.1 if self.training else 0.0)
        found = found.transpose(1, 2).reshape(x.shape)
        x = self.norm_attention(x + self.dropout(self.out(found)))
        return self.norm_out(x + self.dropout(self.outer(F.gelu(self.inner(x)))))


class Reader(nn.Module):
    def __init__(self, full, narrow):
        super().__init__()
        self.full = full
        self.words, self.positions, self.types = nn.Embedding(30522, WIDTH), nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.norm, self.dropout = nn.LayerNorm(WIDTH, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList([Layer() for _ in range(full + narrow)])
        self.match_inner, self.match_out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.word_inner, self.word_out = nn.Linear(WIDTH, WIDTH // 2), nn.Linear(WIDTH // 2, 1)

    def forward(self, ids, types, is_token, question_length):
        """Logits, and the states after each layer; narrow layers have those of the first `question_length` tokens only."""
        x = self.dropout(self.norm(self.words(ids) + self.positions.weight[: ids.shape[1]][None] + self.types(types)))
        mask = is_token[:, None, None, :]
        states = []
        for layer in self.layers[: self.full]:
            x = layer(x, x, mask)
            states.append(x)
        # Beside a shorter question the first tokens of its card go on, too; nothing looks at those.
        card = x * (types > 0)[..., None]
        is_question = (is_token & (types == 0))[:, :question_length]
        own = x[:, :question_length]
        both = torch.cat([is_question, is_token & (types > 0)], 1)[:, None, None, :]
        for layer in self.layers[self.full :]:
            own = layer(own, torch.cat([own, card], 1), both)
            states.append(own)
        own = own[:, :question_length]
        match = self.match_out(torch.tanh(self.match_inner(own[:, 0])))[:, 0]
        return match, self.word_out(torch.tanh(self.word_inner(own)))[..., 0], states


def load_base(model, path):
    """Weights of `base.py`."""
    stored = np.load(path)

    def weight(name):
        if f"{name}.scale" in stored:
            return stored[name].astype(np.float32) * stored[f"{name}.scale"].astype(np.float32)[:, None]
        return stored[name].astype(np.float32)

    state = {name: torch.tensor(weight(name)) for name in model.state_dict() if name in stored}
    missing = model.load_state_dict(state, strict=False)
    assert all(name.startswith(("match_", "word_")) for name in missing.missing_keys), missing


def kept_layers(student, teacher):
    """Which layers of a teacher a student begins with: from the first to the last, evenly apart."""
    return [round((at + 1) * teacher / student) - 1 for at in range(student)]


def load_teacher(student, teacher):
    """A student begins with some of its teacher's layers, and with its heads."""
    state = {name: value for name, value in teacher.state_dict().items() if not name.startswith("layers.")}
    student.load_state_dict(state, strict=False)
    for own, its in zip(student.layers, kept_layers(len(student.layers), len(teacher.layers))):
        own.load_state_dict(teacher.layers[its].state_dict())
