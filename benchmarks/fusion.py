"""What each part of a fusion brings: paths by length, constants, aggregation, signs, weights per relation.

python benchmarks/fusion.py RUN … [--facts 5000] [--sets "paths ≤ 3" constants] [--out records.json]

Prints a table in Markdown for each run: filtered MRR of test, both sides, realistic ties. Weights are fitted on valid.
The file of the records is written anew after each, so that a long table can be stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import clausal
from clausal.evaluation import evaluate
from clausal.fusion import Evidence, RulesAlone, VotingRules, fuse, mine_rules
from clausal.fusion.evidence import ALL, BEST, FREQUENCY, LINKED, MODEL, SEEN
from clausal.fusion.questions import collect_lists

PLACES = (SEEN, FREQUENCY)
DEFAULT = (MODEL, *BEST, *PLACES)
SETS = ("paths ≤ 1", "paths ≤ 2", "paths ≤ 3", "constants", "paths and constants")


def rule_set(rules, name):
    """Return the rules of one of ``SETS``."""
    if name == SETS[-1]:
        return rules
    if name == "constants":
        return VotingRules(rules.paths.select(np.zeros(len(rules.paths), np.bool_)), rules.attributes)
    nothing = rules.attributes.select(np.zeros(len(rules.attributes), np.bool_))
    return VotingRules(rules.paths.select(rules.paths.lengths <= int(name[-1])), nothing)


def variants(name):
    """What is fitted on a set of rules: a title and the options of ``fuse``."""
    yield "", {"features": DEFAULT}
    if name == SETS[-1]:
        yield ", all rules (noisy-or)", {"features": (MODEL, *ALL, *PLACES)}
        yield ", best and all rules", {"features": (MODEL, *BEST, *ALL, *PLACES)}
        yield ", without frequency", {"features": (MODEL, *BEST)}
        yield ", the same weights for all relations", {"features": DEFAULT, "strengths": (np.inf,)}
        yield ", signed", {"features": (*DEFAULT, LINKED), "signed": True}
        yield "; no rules, frequency alone", {"features": (MODEL, *PLACES)}
        yield "; no rules, frequency and links, signed", {"features": (MODEL, *PLACES, LINKED), "signed": True}


def measure(path, most, sets):
    """Yield a record for each variant on one run."""
    run = clausal.load(path)
    graph, predictor = run.graph, run.predictor.with_table()
    rng = np.random.default_rng(0)
    test = graph.test if len(graph.test) <= most else graph.test[np.sort(rng.choice(len(graph.test), most, False))]

    def record(title, ranker, **more):
        found = evaluate(ranker, graph, split=test).filtered["both"]
        return {"run": str(path), "variant": title, **more, **found}

    yield record("model", predictor)
    started = time.perf_counter()
    rules = mine_rules(graph)
    seconds = round(time.perf_counter() - started, 1)
    about = f"{len(rules.paths):,} path rules, {len(rules.attributes):,} with constants, mined in {seconds} s"
    print(about, file=sys.stderr)
    for name in sets:
        chosen = rule_set(rules, name)
        evidence = Evidence(graph.train, len(graph.entities), len(graph.relations), chosen)
        yield record(f"{name}, rules alone (maximum)", RulesAlone(evidence, predictor.device), rules=len(chosen))
        known = np.concatenate([graph.train, graph.valid])
        lists = collect_lists(predictor, evidence, graph.valid, known)
        for title, options in variants(name):
            fusion = fuse(predictor, graph, chosen, lists=lists, calibrated=False, **options)
            about = {"rules": len(chosen), "gain": fusion.gain, "error": fusion.error, "basis": fusion.basis}
            yield record(f"{name}{title}", fusion.ranker(predictor, evidence), **about)


def main():
    """Measure runs and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--facts", type=int, default=10**9, help="test facts that are ranked, at most")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="rules that vote; all of these sets")
    parser.add_argument("--out", type=Path, help="file for the records, as JSON")
    options = parser.parse_args()
    records = []
    for path in options.runs:
        print(f"\n{path}\n\n| | MRR | Hits@1 | Hits@10 | gain on valid |\n|---|---|---|---|---|")
        for one in measure(path, options.facts, options.sets):
            records.append(one)
            gain = f"{one['gain']:+.4f} ± {one['error']:.4f}" if "gain" in one else ""
            cells = (one["variant"], *(f"{one[name]:.4f}" for name in ("mrr", "hits@1", "hits@10")), gain)
            print(f"| {' | '.join(cells)} |", flush=True)
            if options.out is not None:
                options.out.write_text(json.dumps(records, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
