"""Answers to one question as a list that prints as lines, and as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable

from clausal.graph.display import DisplayNames
from clausal.run.prediction import Answer


class Answers(list[Answer]):
    """The answers to a question, the best first: a list that a person can read."""

    def __init__(self, answers: Iterable[Answer] = (), names: DisplayNames | None = None) -> None:
        super().__init__(answers)
        self.names = names

    def __repr__(self) -> str:
        from clausal.graph.query import Fact, print_fact

        facts = [print_fact(Fact(one.subject, one.relation, one.object), self.names) for one in self]
        room = max(map(len, facts), default=0)
        return "\n".join(
            f"{one.rank:>3}. {fact:<{room}}  {_figures(one)}" for one, fact in zip(self, facts, strict=True)
        )

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.run.html import answers_html

        return notebook(answers_html(self, self.names))


def _figures(answer: Answer) -> str:
    from clausal.run.html import status_of

    chance = "" if answer.probability is None else f"  probability {answer.probability:.3f}"
    return f"score {answer.score:7.3f}{chance}  {status_of(answer)}"
