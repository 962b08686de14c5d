"""Climbing: from one leader to the next along the values of each setting, and the clauses' weight last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from clausal.config import Settings
from clausal.search.best import clause_weight
from clausal.search.racing.clause_weight import (
    FIRST_FACTOR,
    SHARE_WITHOUT,
    ClauseOutcome,
    Tried,
    choose_weight,
    costs,
    next_factor,
)
from clausal.search.racing.clauses import WeighedClause, by_confidence
from clausal.search.racing.judging import Comparison, compare
from clausal.search.racing.ladders import (
    Ladder,
    further_ladders,
    other_training,
    regulariser_ladder,
    relation_weights,
    share_of_linked,
    smoothing,
)
from clausal.search.racing.track import Track
from clausal.search.racing.trial import LONG, Raced
from clausal.search.space import change, setting

_OVERTAKING = 1.5  # standard errors by which a trial that is behind must be expected to overtake
_TRUST = 0.95, 0.7  # in what the curve of a short trial promises, and of a longer one: most bend a little sooner
_LINKED = 0.5  # of valid facts: where more of their pairs are linked in train, to predict relations is to forget them
_FINE = 10**0.25  # the factor of the last steps along the regulariser's weight
_AFTER = "clauses.after"


class Climber:
    """Climbs along one setting after the other."""

    def __init__(self, track: Track, start: Settings, fixed: Collection[str]) -> None:
        self.track, self.start, self.fixed = track, start, fixed

    @property
    def _long(self) -> bool:
        """Whether a trial shows by itself where it leads."""
        return self.track.plan.epochs >= LONG

    def run(self) -> Raced:
        """Return the winner.

        Short trials are for what changes the end of a training and not only its pace: batches, learning rates and other
        kinds of training that learn faster would win them and lose later. So would predicting relations where train
        links the pairs of most valid facts: a fact then speaks against other relations of its pair, which shows late.
        Label smoothing shows later than they end. Where there are so few things to try, the first trial is longer, for
        a comparison with less of the regulariser at the end.
        """
        weights, regularisers = self._relation_weights(), regulariser_ladder(self.start, self.fixed)
        if regularisers and not weights and not self._long:
            self.track.lengthen()
        first = self.track.attempt({}, None)
        assert first is not None
        self.track.length = 1
        leader = self.track.cut(first)
        for ladder in regularisers:
            leader = self.climb(leader, ladder)
        if first.length > 1:
            return self.descend(leader, first)
        leader = self.track.enlarge(leader, trials=3)
        for weight in weights:
            leader = self.weigh_relations(leader, weight)
        if not self._long:
            return leader
        for name, value in smoothing(self.start, self.fixed).items():
            leader = self.challenge(leader, {**leader.trial.changes, name: value})
        for ladder in further_ladders(change(self.start, leader.trial.changes), self.fixed):
            leader = self.climb(leader, ladder)
        other = other_training(self.start, self.fixed)
        if other:
            leader = self.challenge(leader, other)
        for ladder in regulariser_ladder(change(self.start, leader.trial.changes), self.fixed, _FINE):
            leader = self.climb(leader, ladder)
        if "model.dim" not in self.fixed and self.track.plan.dim == self.start.model.dim:
            leader = self.challenge(leader, {**leader.trial.changes, "model.dim": 2 * self.start.model.dim})
        return leader

    def _relation_weights(self) -> list[str]:
        """Return the weight of predicting relations, if trials can tell what it leads to."""
        told = self._long or share_of_linked(self.track.graph) <= _LINKED
        return relation_weights(self.start, self.fixed) if told else []

    def descend(self, leader: Raced, first: Raced) -> Raced:
        """Try one step less of the regulariser than the first trial has, as long as that, if it still leads.

        With less of it a training rises faster, and short trials would go down for as long as they can.
        """
        for name, values in regulariser_ladder(self.start, self.fixed):
            place = values.index(self._value(first, name)) - 1
            if place < 0 or leader.trial.number != first.trial.number or not leader.rises:
                continue
            self.track.length = first.length
            leader = self.challenge(first, {name: values[place]}, slow=True)
            self.track.length = 1
        return self.track.cut(leader)

    def weigh_relations(self, leader: Raced, name: str) -> Raced:
        """Try weights of predicting relations: from 1 upwards if that is better than none, and else downwards."""
        without = leader
        for weights in ((1.0, 4.0), (0.25, 0.05)):
            for weight in weights:
                changes = {**without.trial.changes, name: weight}
                found = self.challenge(leader, changes, slow=True, braking=True)
                if found is leader and weight == 1.0:
                    break
                leader = found
            if leader is not without:
                break
        return leader

    def _value(self, leader: Raced, name: str) -> Any:
        return setting(change(self.start, leader.trial.changes), name)

    def challenge(
        self, leader: Raced, changes: Mapping[str, Any], *, slow: bool = False, braking: bool = False
    ) -> Raced:
        """Return the better one of the leader and a trial with these changes, which may be ``slow`` at first.

        What asks for more than the leader is ``braking``: if it leads all the same, it need not promise to.
        """
        found = self.track.attempt(changes, leader)
        return leader if found is None or not self._better(found, leader, slow, braking) else found

    def _better(self, one: Raced, leader: Raced, slow: bool, braking: bool) -> bool:
        if one.ranks is None or leader.ranks is None:
            return one.ranks is not None
        epochs = self.start.train.epochs
        found = compare(one.ranks, leader.ranks)
        if not slow or self._long or (braking and found.better()):
            return found.better()
        promise = _TRUST[self.track.length > 1] * (one.to_come(epochs) - leader.to_come(epochs))
        later = Comparison(found.difference + promise, found.error)
        return later.better() if found.difference > 0 else later.better(_OVERTAKING)

    def weigh_clauses(self, leader: Raced, weighed: Sequence[WeighedClause]) -> tuple[ClauseOutcome, dict[str, Any]]:
        """Try weights of the clauses against none, and keep the largest that costs nothing beyond noise.

        Returns what was chosen, and the changes of settings for it. Short trials add the clauses for the last epochs
        alone, to a training that is the leader's until then. If the first weight costs, the clauses of the next one
        are weighed by their confidence.
        """
        usual = clause_weight(change(self.start, leader.trial.changes))
        after = 0 if self._long or _AFTER in self.fixed else int(SHARE_WITHOUT * self.track.plan.epochs)
        later = {_AFTER: after} if after else {}
        tried: list[Tried] = []
        factor: float | None = FIRST_FACTOR if leader.ranks is not None else None
        while factor is not None:
            used = [one.clause for one in weighed if one.weight]
            weight = float(f"{factor * usual:.2g}")
            changes = {**leader.trial.changes, "clauses.weight": weight, **later}
            found = self.track.attempt(changes, leader, used) if used else None
            if found is None or found.ranks is None:
                break
            tried.append(Tried(weight, found, weighed))
            cost = costs(found, leader)
            factor, weighed = next_factor(factor, cost), by_confidence(weighed) if cost else weighed
        outcome = choose_weight(tried, leader)
        return outcome, {"clauses.weight": outcome.weight} | (later if outcome.weight else {})

    def climb(self, leader: Raced, ladder: Ladder) -> Raced:
        """Go along the values of a setting, up or else down, for as long as it gets better.

        With less of the regulariser a training rises faster, so a short trial of less of it says nothing for as long as
        the leader still rises.
        """
        name, values = ladder
        start, regulariser = values.index(self._value(leader, name)), name == "facts.regulariser_weight"
        for direction in (1, -1):
            place, first, early = start + direction, leader, direction < 0 and regulariser and not self._long
            while 0 <= place < len(values) and not (early and leader.rises):
                changes = {**leader.trial.changes, name: values[place]}
                found = self.challenge(leader, changes, slow=regulariser)
                if found is leader:
                    break
                leader, place = found, place + direction
            if leader is not first:
                break
        return leader
