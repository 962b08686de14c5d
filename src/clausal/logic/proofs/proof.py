"""Proofs: trees of facts and the clauses by which they follow, down to given facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clausal.graph.query import Fact
from clausal.logic.lines import place
from clausal.logic.syntax import Clause


@dataclass(frozen=True, eq=False)
class Proof:
    """A fact and why it holds: by a clause from premises, in the order of the clause's body; or given.

    ``size`` counts the applications of clauses in the tree, ``depth`` those on its longest branch; a given fact has
    neither clause nor premises. A proof that is used twice is one object.
    """

    fact: Fact
    clause: Clause | None = None
    premises: tuple[Proof, ...] = field(default=(), repr=False)
    size: int = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        steps = 0 if self.clause is None else 1
        object.__setattr__(self, "size", steps + sum(premise.size for premise in self.premises))
        object.__setattr__(self, "depth", steps + max((premise.depth for premise in self.premises), default=0))

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


def place_of(clause: Clause) -> str | None:
    """Return where a clause stands, ``file:line``, or None where it was not read from a file."""
    return place(clause.source, clause.line, None) or None
