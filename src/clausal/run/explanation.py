"""Why an answer: given, entailed from train by clauses, with its proof, or what it lacks and how the model scores that.

Only train facts are given. A fact of valid or test counts as any other: it follows from train, or it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clausal.graph.graph import Graph
from clausal.graph.query import Fact
from clausal.logic.closure import Closure
from clausal.logic.proofs import Proof, Prover, near_to_json, print_near, print_proof, proof_to_json
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.run.entailment import Verdict
from clausal.run.missing import ScoredSupport, score_supports
from clausal.run.prediction import Answer


@dataclass(frozen=True, eq=False)
class Explanation:
    """An answer with its proof from train, or without one, and then what nearly supports it."""

    answer: Answer
    proof: Proof | None
    near: tuple[ScoredSupport, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether train has the answer, entails it by the clauses, or does not."""
        if self.proof is None:
            return "not entailed"
        return "given" if self.proof.given else "entailed"

    def __str__(self) -> str:
        number = f"{self.answer.rank}. "
        lines = self._lines()
        return "\n".join((" " * len(number) if place else number) + line for place, line in enumerate(lines))

    def _lines(self) -> list[str]:
        if self.proof is not None:
            return print_proof(self.proof).splitlines()
        fact = _fact(self.answer)
        if not self.near:
            return [f"{fact}  not entailed, and no clause nearly supports it"]
        lines = [f"{fact}  not entailed; nearest to it:"]
        for near in self.near:
            notes = [f", score {one.score:.3f}, rank {one.rank:,}" for one in near.missing]
            lines += print_near(near.support, notes).splitlines()
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object: the verdict, the proof or null, and what nearly supports the answer."""
        near = [
            near_to_json(one.support)
            | {"missing": [{**fact._asdict(), "score": score, "rank": rank} for fact, score, rank in one.missing]}
            for one in self.near
        ]
        proof = None if self.proof is None else proof_to_json(self.proof)
        return {"verdict": self.verdict, "proof": proof, "near": near}


def explain(
    predictor: LinkPredictor,
    graph: Graph,
    clauses: Sequence[Clause],
    closure: Closure,
    answers: Sequence[Answer],
    most: int = 3,
) -> list[Explanation]:
    """Explain answers by clauses and the closure under them; ``most`` bounds the near supports of each."""
    prover = Prover(graph, clauses, closure)

    def explanation(answer: Answer) -> Explanation:
        fact = _fact(answer)
        proof = prover.prove(fact)
        near = [] if proof is not None else score_supports(predictor, graph, prover.near(fact), most)
        return Explanation(answer, proof, tuple(near))

    return [explanation(answer) for answer in answers]


def _fact(answer: Answer) -> Fact:
    return Fact(answer.subject, answer.relation, answer.object)
