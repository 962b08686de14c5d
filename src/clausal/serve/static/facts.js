// Facts as people read them, with their status told apart by sign, colour and word.

import { h, s } from "./dom.js";
import { number, percent, shown } from "./names.js";
import { clauseLink, entityLink, factLink, relationLink } from "./route.js";

export const STATUS = {
  known: { word: "known", mean: "The graph has this fact." },
  entailed: { word: "entailed", mean: "It follows from known facts by certain clauses." },
  rule: { word: "by a rule", mean: "It follows from known facts by a rule that has exceptions." },
  predicted: { word: "predicted", mean: "The model predicts it; no clause proves it." },
};

/** The sign of a status: a full disc, a diamond, an open diamond, a dashed ring. */
export function sign(status) {
  const shapes = {
    known: s("circle", { cx: 7, cy: 7, r: 5 }),
    entailed: s("path", { d: "M7 1l6 6-6 6-6-6z" }),
    rule: s("path", { d: "M7 2l5 5-5 5-5-5z", class: "open" }),
    predicted: s("circle", { cx: 7, cy: 7, r: 5, class: "open dashed" }),
  };
  return s(
    "svg",
    { class: `sign ${status}`, viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" },
    shapes[status],
  );
}

/** How a fact looks: one of valid or test that follows from train looks as what follows. */
export function look(fact) {
  return held(fact) && fact.follows ? fact.follows : (fact.status ?? "known");
}

/** Whether the model did not learn from a fact that the graph has. */
function held(fact) {
  return fact.status === "known" && Boolean(fact.split) && fact.split !== "train";
}

/** The status of a fact as a small mark with its word. */
export function badge(fact) {
  const kind = look(fact);
  const sure = kind === "rule" && fact.confidence ? ` ${number(fact.confidence, 2)}` : "";
  const split = !held(fact) ? "" : kind === "known" ? ` (${fact.split})` : `, true in ${fact.split}`;
  const more = held(fact) ? ` It was held back in ${fact.split}: the model did not learn from it.` : "";
  return h(
    "span",
    { class: `badge ${kind}`, title: STATUS[kind].mean + more },
    sign(kind),
    STATUS[kind].word + sure + split,
  );
}

/** A probability as a bar and a number. */
export function chance(probability) {
  if (probability === null || probability === undefined) return h("span", { class: "muted" }, "–");
  return h(
    "span",
    { class: "chance" },
    s(
      "svg",
      { viewBox: "0 0 60 8", width: 60, height: 8, "aria-hidden": "true" },
      s("rect", { class: "track", width: 60, height: 8, rx: 4 }),
      s("rect", { class: "level", width: Math.max(2, 60 * probability), height: 8, rx: 4 }),
    ),
    h("span", { class: "digits" }, percent(probability)),
  );
}

/** The column of probabilities, if a calibration gave any. */
export function probability(facts) {
  const known = facts.some((fact) => fact.probability !== null && fact.probability !== undefined);
  return known
    ? [{ title: "probability", cell: (fact) => chance(fact.probability), sort: (fact) => fact.probability }]
    : [];
}

/** An entity as a link. */
export function entity(name) {
  return name === null || name === undefined
    ? h("span", { class: "any" }, "anything")
    : h("a", { href: entityLink(name), title: name, class: "entity" }, shown(name));
}

/** A relation as a link. */
export function relation(name) {
  return h("a", { href: relationLink(name), title: name, class: "relation" }, shown(name).replaceAll("_", " "));
}

/** A fact as a sentence of links: subject, relation, object. */
export function sentence(fact) {
  return h("span", { class: "fact" }, entity(fact.subject), " ", relation(fact.relation), " ", entity(fact.object));
}

/** The link that opens the proof of a fact, or what is missing. */
export function why(fact) {
  const proved = look(fact) !== "predicted" && !(held(fact) && look(fact) === "known");
  const text = `${shown(fact.relation)}(${shown(fact.subject)}, ${shown(fact.object)})`;
  return h(
    "a",
    { href: factLink(fact), class: "why", "aria-label": `${proved ? "Why" : "Why not proved"}: ${text}` },
    proved ? "why?" : "why not?",
  );
}

/** A clause as a link, in its own words. */
export function clauseName(id, text) {
  const code = h("code", { class: "clause" }, text);
  return id === null || id === undefined ? code : h("a", { href: clauseLink(id) }, code);
}

/** What the signs mean. */
export function legend(statuses = Object.keys(STATUS)) {
  return h(
    "p",
    { class: "legend" },
    statuses.map((status) =>
      h("span", { class: "legend-item" }, badge({ status }), h("span", { class: "muted" }, STATUS[status].mean)),
    ),
  );
}
