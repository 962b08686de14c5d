"""The report of a run: one page that needs no network and no script."""

from __future__ import annotations

import platform

import clausal
from clausal.choices import NameStyle
from clausal.drawing import Html, join, page, paragraphs, table, tag
from clausal.observer import Observer
from clausal.report.about_answers import answers_section
from clausal.report.about_clauses import changes_section, clauses_section
from clausal.report.about_graph import graph_section
from clausal.report.about_results import results_section
from clausal.report.about_training import training_of, training_section
from clausal.report.material import Material, gather
from clausal.run import Run


def make_report(
    run: Run,
    *,
    certify: bool = True,
    seconds: float = 60.0,
    names: NameStyle = "label",
    observer: Observer | None = None,
) -> Html:
    """Return the report of a run as a page of HTML; certificates take at most about so many seconds.

    ``names`` says how names that are IRIs are shown: by ``"label"``, ``"short"`` or ``"full"``.
    ``Path("report.html").write_text(make_report(run))`` keeps it.
    """
    return report_page(gather(run, certify=certify, seconds=seconds, names=names, observer=observer))


def report_page(material: Material) -> Html:
    """Write the page from what was measured."""
    run = material.run
    sections = {
        "The graph": graph_section(run.graph, material.names),
        "How it was trained": training_section(material),
        "Results": results_section(material),
        "Clauses": clauses_section(material),
        "What the clauses changed": changes_section(material),
        "Sample answers": answers_section(material),
        "What was left out, and why": _left_out(material),
        "Where it comes from": _origin(run),
    }
    title = f"{run.graph.name}: {run.settings.model.scorer}" + (
        f" with {len(run.clauses):,} clauses" * bool(run.clauses)
    )
    return page(title, tag("header", tag("h1", title), paragraphs(_summary(material))), *in_sections(sections))


def in_sections(sections: dict[str, Html]) -> list[Html]:
    """Write sections, those with something in them, after a list of links to them."""
    kept = {name: content for name, content in sections.items() if content}
    links = [tag("li", tag("a", name, href=f"#{_anchor(name)}")) for name in kept]
    parts = [tag("section", tag("h2", name), content, id=_anchor(name)) for name, content in kept.items()]
    return [tag("nav", tag("ul", *links), aria_label="sections"), tag("main", *parts)]


def _anchor(name: str) -> str:
    return name.lower().replace(",", "").replace(" ", "-")


def _summary(material: Material) -> Html:
    run, graph = material.run, material.run.graph
    text = f"A link predictor for {len(graph.entities):,} entities and {len(graph.relations):,} relations."
    if material.evaluation is not None:
        both = material.evaluation.filtered["both"]
        text += (
            f" It ranks the facts of {material.split} with an MRR of {both['mrr']:.3f}; "
            f"{both['hits@10']:.0%} are among the first ten."
        )
    if material.certified is not None:
        verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in material.certified.verdicts.items())
        text += f" Of its {len(run.clauses):,} clauses: {verdicts}."
    return join([text])


def _left_out(material: Material) -> Html:
    if not material.left_out:
        return paragraphs("Nothing: all facts and clauses were used, and all of this report was measured.")
    return tag("ul", *(tag("li", text) for text in material.left_out))


def _origin(run: Run) -> Html:
    about = training_of(run)
    versions, forms = about.get("versions"), about.get("fast_forms")
    rows = [
        {"what": "seed", "value": str(run.settings.train.seed)},
        {"what": "trained", "value": str(about.get("finished", ""))},
        {"what": "on", "value": f"{about.get('machine', '')}, {about.get('device', '')}".strip(", ")},
        {"what": "fast forms", "value": ", ".join(map(str, forms)) if isinstance(forms, list) else ""},
        *(
            {"what": f"{name}, training", "value": str(one)}
            for name, one in (versions.items() if isinstance(versions, dict) else ())
        ),
        {"what": "clausal, this report", "value": clausal.__version__},
        {"what": "python, this report", "value": platform.python_version()},
        {"what": "run directory", "value": "" if run.path is None else run.path.name},
    ]
    return join([table([row for row in rows if row["value"]])])
