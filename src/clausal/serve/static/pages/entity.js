// All about an entity: its known and entailed facts, what the model predicts, the graph around it, and similar ones.

import * as api from "../api.js";
import { button, h, section, table } from "../dom.js";
import { saveButtons } from "../download.js";
import { badge, entity, legend, look, probability, relation, sentence, why } from "../facts.js";
import { GraphView } from "../graph.js";
import { count, number, shown } from "../names.js";
import { link, questionLink } from "../route.js";
import { text_of } from "./question.js";

const FIRST = 12; // facts of a relation that are shown at once
const DRAWN = 4; // predictions in the picture

export async function entityPage({ name }) {
  const [about, predicted, around, nearest] = await Promise.all([
    api.entity(name),
    api.predicted(name, 12),
    api.neighbours(name),
    api.nearest(name).catch(() => []),
  ]);
  const label = shown(name);
  const graph = new GraphView(`Around ${label}`, [...around, ...predicted.slice(0, DRAWN)], {
    centre: name,
    more: (other) => api.neighbours(other, 20),
  });
  const all = [...about.facts, ...predicted];
  const total = about.total.known + about.total.derived;
  return {
    title: label,
    nodes: [
      h("h1", {}, label),
      label !== name ? h("p", { class: "muted" }, h("code", {}, name)) : null,
      h(
        "p",
        { class: "row" },
        summary(about.facts, total),
        h("a", { href: questionLink(name, null, null) }, "Ask about it"),
        h(
          "a",
          {
            href: link("whatif", {
              query: about.facts.length
                ? text_of({ subject: name, relation: about.facts[0].relation, object: null })
                : "",
            }),
          },
          "What if …",
        ),
      ),
      h(
        "div",
        { class: "two" },
        h("div", {}, known(name, about.facts, total), predictions(name, predicted)),
        h(
          "div",
          {},
          section("The graph around it", graph.element, legend(["known", "entailed", "predicted"])),
          similar(nearest),
        ),
      ),
      saveButtons(label, all),
    ].filter(Boolean),
  };
}

function summary(facts, total) {
  const entailed = facts.filter((fact) => look(fact) !== "known").length;
  const more = total > facts.length ? ` among the first ${number(facts.length)} of ${number(total)} facts` : "";
  return `${count(facts.length - entailed, "known fact")} and ${number(entailed)} entailed by clauses${more}.`;
}

/** Facts by relation and side. */
function known(name, facts, total) {
  const groups = new Map();
  for (const fact of facts) {
    const subject = fact.subject === name;
    const key = JSON.stringify([fact.relation, subject]);
    if (!groups.has(key)) groups.set(key, { relation: fact.relation, subject, facts: [] });
    groups.get(key).facts.push(fact);
  }
  const parts = [...groups.values()].map((group) => factGroup(name, group));
  if (!parts.length) parts.push(h("p", { class: "muted" }, "The graph has no fact about it."));
  if (total > facts.length)
    parts.push(h("p", { class: "muted" }, `${number(facts.length)} of ${number(total)} facts are shown.`));
  return section("Known and entailed facts", parts);
}

function factGroup(name, group) {
  const title = group.subject
    ? [h("span", { class: "muted" }, `${shown(name)} `), relation(group.relation), " …"]
    : ["… ", relation(group.relation), h("span", { class: "muted" }, ` ${shown(name)}`)];
  const item = (fact) =>
    h(
      "li",
      { class: `row ${look(fact)}` },
      entity(group.subject ? fact.object : fact.subject),
      badge(fact),
      look(fact) === "known" ? null : why(fact),
    );
  const list = h("ul", { class: "facts" }, group.facts.slice(0, FIRST).map(item));
  const rest = group.facts.slice(FIRST);
  const more = rest.length
    ? button(`${number(rest.length)} more`, () => {
        list.append(...rest.map(item));
        more.remove();
      })
    : null;
  const ask = group.subject ? questionLink(name, group.relation, null) : questionLink(null, group.relation, name);
  return h(
    "div",
    { class: "group" },
    h(
      "h3",
      {},
      title,
      h("a", { class: "ask", href: ask, "aria-label": `Ask the model: ${shown(group.relation)}` }, "ask the model"),
    ),
    list,
    more,
  );
}

function predictions(name, facts) {
  if (!facts.length) return section("Predicted", h("p", { class: "muted" }, "Nothing new is predicted."));
  const columns = [
    { title: "fact", cell: sentence },
    ...probability(facts),
    { title: "why", cell: why },
    { title: "score", number: true, cell: (fact) => number(fact.score), sort: (fact) => fact.score },
  ];
  return section(
    "Predicted by the model",
    h("p", { class: "muted" }, "The best new facts about it; the graph does not have them."),
    table(`Predicted about ${shown(name)}`, columns, facts, { hidden: true }),
  );
}

function similar(nearest) {
  if (!nearest.length) return null;
  return section(
    "Similar entities",
    h("p", { class: "muted" }, "Those whose vectors point the same way (cosine)."),
    h(
      "ul",
      { class: "chips" },
      nearest.map((one) =>
        h("li", { class: "chip" }, entity(one.name), h("span", { class: "muted" }, ` ${number(one.score, 2)}`)),
      ),
    ),
  );
}
