"""Proofs: trees of facts and the clauses by which they follow, down to given facts; as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from clausal.errors import count
from clausal.graph.display import DisplayNames
from clausal.graph.query import Fact, print_fact
from clausal.logic.lines import place
from clausal.logic.printer import print_certainty, print_clause, print_formula
from clausal.logic.syntax import Clause


@dataclass(frozen=True, eq=False)
class Proof:
    """A fact and why it holds: by a clause from premises, in the order of the clause's body; or given.

    ``size`` counts the applications of clauses in the tree, ``depth`` those on its longest branch; a given fact has
    neither clause nor premises. ``certainty`` is that of its least certain clause, 1 where all hold without exception.
    A proof that is used twice is one object.
    """

    fact: Fact
    clause: Clause | None = None
    premises: tuple[Proof, ...] = field(default=(), repr=False)
    size: int = field(init=False)
    depth: int = field(init=False)
    certainty: float = field(init=False)

    def __post_init__(self) -> None:
        steps = 0 if self.clause is None else 1
        object.__setattr__(self, "size", steps + sum(premise.size for premise in self.premises))
        object.__setattr__(self, "depth", steps + max((premise.depth for premise in self.premises), default=0))
        own = 1.0 if self.clause is None else self.clause.certainty
        object.__setattr__(self, "certainty", min([own, *(premise.certainty for premise in self.premises)]))

    def __repr__(self) -> str:
        about = "given" if self.given else f"{count(self.size, 'step')} from {count(len(self.facts()), 'fact')}"
        return f"<Proof of {self.fact}: {about}>"

    def __str__(self) -> str:
        return print_proof(self)

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.logic.html import proof_html

        return notebook(proof_html(self))

    @property
    def given(self) -> bool:
        """Whether the fact is a given one."""
        return self.clause is None

    def steps(self) -> Iterator[Proof]:
        """Yield the proof of each fact once, a fact before its premises."""
        waiting, seen = [self], set()
        while waiting:
            proof = waiting.pop()
            if proof.fact not in seen:
                seen.add(proof.fact)
                yield proof
                waiting.extend(reversed(proof.premises))

    def facts(self) -> list[Fact]:
        """Return the given facts that the proof needs, each once."""
        return [step.fact for step in self.steps() if step.given]

    def clauses(self) -> list[Clause]:
        """Return the clauses that the proof applies, each once."""
        return list(dict.fromkeys(step.clause for step in self.steps() if step.clause is not None))


def print_proof(proof: Proof, names: DisplayNames | None = None) -> str:
    """Write a proof as an indented tree of facts, each with its clause and where that stands, or with ``given``.

    A derived fact that is needed again is written with ``shown above`` the next time. ``names`` are display names to
    show instead of full ones.
    """
    lines = []
    seen: set[Fact] = set()
    waiting = [(proof, "", "")]  # with what stands before the fact, and before its premises
    while waiting:
        step, before, below = waiting.pop()
        if step.clause is None:
            why = "given"
        elif step.fact in seen:
            why = "shown above"
        else:
            why = reason(step.clause, names)
            waiting.extend(
                (premise, f"{below}{branch} ", f"{below}{stem} ")
                for premise, (branch, stem) in reversed(list(zip(step.premises, branches(step.premises), strict=True)))
            )
        seen.add(step.fact)
        lines.append(f"{before}{print_fact(step.fact, names)}  {why}")
    return "\n".join(lines)


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """Return a proof as a JSON object: its steps, each fact once, whose premises are positions in that list.

    A list and not nested objects: readers of JSON limit the depth, and a proof can be thousands of steps deep.
    """
    steps = list(proof.steps())
    places = {step.fact: number for number, step in enumerate(steps)}
    return {
        "size": proof.size,
        "depth": proof.depth,
        "steps": [
            {
                **step.fact._asdict(),
                "clause": None if step.clause is None else str(step.clause),
                "place": None if step.clause is None else place_of(step.clause),
                "premises": [places[premise.fact] for premise in step.premises],
            }
            for step in steps
        ],
    }


def place_of(clause: Clause) -> str | None:
    """Return where a clause stands, ``file:line``, or None where it was not read from a file."""
    return place(clause.source, clause.line, None) or None


def reason(clause: Clause, names: DisplayNames | None = None) -> str:
    """Write by which clause something follows, how sure that is if it has exceptions, and where it stands."""
    place = place_of(clause)
    by = f"by {print_clause(clause, names)}"
    if clause.certainty < 1:
        by = f"by a rule of confidence {print_certainty(clause.certainty)}: {print_formula(clause.formula, names)}"
    return by + ("" if place is None else f"  [{place}]")


def branches(parts: Sequence[object]) -> list[tuple[str, str]]:
    """Return for each part of a tree's node what leads to it, and what stands below that."""
    return [("├─", "│ ")] * (len(parts) - 1) + [("└─", "  ")] if parts else []
