"""A graph of animals whose texts say what they are, and runs on it; animals nobody has seen are described alike."""

from __future__ import annotations

import clausal
from clausal import Settings

KINDS = ("dog", "cat", "horse", "fish", "bird")
LOOKS = ("red", "blue", "small", "old", "young", "wild", "calm", "loud")
CLAUSES = "is_a(X, Y) => kin(X, Y)\nkin(X, Y) => kin(Y, X)"
SETTINGS = {
    "model": {"dim": 96, "domain": "box"},
    "facts": {"training": "1-vs-all", "loss": "softmax", "batches": 2},
    "train": {"epochs": 6, "passes": 10, "device": "cpu"},
    "evaluate": {"every": 0},
    "clauses": {"adversary": "closed-form"},
}


def animal_facts():
    """Facts as names."""
    facts = []
    for look in LOOKS:
        for kind in KINDS:
            facts += [(f"{look}_{kind}", "is_a", kind), (f"{look}_{kind}", "eats", f"{kind} food")]
    return facts + [(kind, "kin", f"{kind} food") for kind in KINDS]


def animal_texts():
    """A text for each entity."""
    texts = {f"{look}_{kind}": f"a {look} {kind} that lives on a farm" for look in LOOKS for kind in KINDS}
    texts |= {kind: f"the {kind}, an animal" for kind in KINDS}
    return texts | {f"{kind} food": f"what a {kind} eats" for kind in KINDS}


def write_texts(path, texts):
    path.write_text("".join(f"{name}\t{text}\n" for name, text in texts.items()), encoding="utf-8")
    return path


def animal_graph():
    return clausal.Graph.from_triples(animal_facts(), name="animals")


def settings_with(**sections):
    """The quick settings, with changes by section."""
    values = {section: dict(given) for section, given in SETTINGS.items()}
    for section, given in sections.items():
        values[section] = values.get(section, {}) | given
    return Settings.from_mapping(values)


def train_described(texts_path, *, out=None, clauses=CLAUSES, **sections):
    sections["descriptions"] = {"text": str(texts_path)} | sections.get("descriptions", {})
    return clausal.train(
        animal_graph(), clausal.parse_clauses(clauses) if clauses else (), settings_with(**sections), out=out
    )
