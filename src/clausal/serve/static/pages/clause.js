// One clause: can I trust it? In the facts, in the model for all vectors, and for the entities of this graph.

import * as api from "../api.js";
import { certifyButton, meaning, verdict } from "../certificates.js";
import { button, h, s, section, table } from "../dom.js";
import { saveButtons, saveSvg } from "../download.js";
import { badge, entity, look, sentence, sign, why } from "../facts.js";
import { GraphView } from "../graph.js";
import { histogram, interval } from "../intervals.js";
import { count, number, percent } from "../names.js";
import { clauseLink, go, link } from "../route.js";

const FIRST = 8; // instances that are shown at once

export async function clausePage({ id }) {
  const [about, found] = await Promise.all([api.clause(id), api.violations(id).catch(() => null)]);
  return {
    title: about.shown,
    nodes: [
      h("h1", { class: "code" }, about.shown),
      h(
        "dl",
        { class: "figures" },
        figure("confidence", percent(about.all_facts?.confidence ?? about.confidence)),
        figure("holds", number(about.all_facts?.support ?? about.support)),
        figure("exceptions", number(about.all_facts?.exceptions ?? about.exceptions)),
        figure("weight in training", number(about.weight)),
        figure("verdict on the model", verdict(about.certificate)),
      ),
      h(
        "p",
        { class: "row" },
        h("a", { href: link("whatif", { off: id }) }, "What if it were not there?"),
        h("a", { href: link("clauses") }, "All clauses"),
      ),
      found?.heads ? trust(found) : null,
      certificate(about, id),
      found ? broken(found) : null,
      exceptions(about),
      uses(about),
      saveButtons("clause", () => [about]),
    ].filter(Boolean),
  };
}

function figure(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

/** Does it hold in the facts? What the body predicts, and where that is found. */
function trust({ heads, complete }) {
  const total = heads.train + heads.held_back + heads.nowhere;
  const parts = [
    ["train", "known", "among the facts that the model learned from"],
    ["held_back", "entailed", "held back in valid and test: they confirm the clause"],
    ["nowhere", "predicted", "nowhere: an exception, or a fact that is missing"],
  ];
  let left = 0;
  const bars = parts.map(([name, look]) => {
    const wide = (560 * heads[name]) / total;
    left += wide;
    return s("rect", { class: `part ${look}`, x: left - wide, y: 0, width: wide, height: 18 });
  });
  return section(
    "Does it hold in the facts?",
    h(
      "p",
      {},
      `From the facts that the model learned from, it predicts ${count(total, "fact")}${complete ? "" : " (of the places that were looked at)"}:`,
    ),
    s(
      "svg",
      {
        class: "shares",
        viewBox: "0 0 560 18",
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": parts.map(([name, , text]) => `${heads[name]} ${text}`).join("; "),
      },
      bars,
    ),
    h(
      "ul",
      { class: "plain" },
      parts.map(([name, look, text]) =>
        h("li", { class: "row" }, sign(look), h("strong", {}, number(heads[name])), text),
      ),
    ),
  );
}

function certificate(about, id) {
  const known = about.certificate;
  if (!known)
    return section(
      "Does the model obey it?",
      h("p", {}, "Not certified yet."),
      certifyButton("Certify it now", [Number(id)], () => go(clauseLink(id))),
    );
  const picture = interval(known, about.tolerance ?? 0);
  const checked = known.entities
    ? `${count(known.entities.assignments, "assignment")} of real entities were checked; ${percent(known.entities.rate)} break it by more than the tolerance.`
    : `Real entities were not checked${known.unchecked ? `: ${known.unchecked}` : ""}.`;
  return section(
    "Does the model obey it?",
    h("p", {}, h("strong", {}, known.verdict), ". ", meaning(known)),
    h("figure", { class: "chart" }, picture, h("figcaption", {}, checked)),
    button("Save picture", () => saveSvg(picture, "clause.svg")),
    known.entities?.example ? worst(about, known.entities.example) : null,
  );
}

/** What a reciprocal model scores, where that is no fact. */
function asked(example) {
  const questions = example.reading && example.reading !== "fact";
  return questions ? `, as answers to questions for the ${example.reading}` : "";
}

function worst(about, example) {
  const names = Object.entries(example.entities);
  return h(
    "div",
    {},
    h("h3", {}, "The worst example over all entities"),
    h(
      "p",
      {},
      names.map(([variable, name], place) => [place ? ", " : "", h("code", {}, variable), " = ", entity(name)]),
      `: the model gives the body ${number(example.body)} and the head ${number(example.head)}; it breaks the clause by ${number(example.violation)}${asked(example)}.`,
    ),
  );
}

/** Where the facts have the body: what the model makes of the head. */
function broken(found) {
  if (!found.checked) return null;
  const first = found.worst[0];
  const columns = [
    {
      title: "where",
      cell: (one) =>
        h(
          "span",
          { class: "row" },
          Object.entries(one.entities).map(([variable, name]) =>
            h("span", {}, h("code", {}, variable), " = ", entity(name)),
          ),
        ),
    },
    { title: "body", number: true, cell: (one) => number(one.body), sort: (one) => one.body },
    { title: "head", number: true, cell: (one) => number(one.head), sort: (one) => one.head },
    { title: "broken by", number: true, cell: (one) => number(one.violation), sort: (one) => one.violation },
  ];
  return section(
    "Where it matters: its body among the facts",
    h(
      "p",
      {},
      `The body holds in ${count(found.checked, "place")} in the facts${found.complete ? "" : " that were looked at"}. In ${number(found.broken)} of them the model scores the head lower than the body by more than the tolerance.`,
    ),
    h(
      "figure",
      { class: "chart" },
      histogram("How much the clause is broken", found.bins),
      h("figcaption", {}, "How many of these places break the clause by how much (difference of scores)."),
    ),
    found.worst.length ? table("The worst of them", columns, found.worst) : null,
    first
      ? h(
          "div",
          {},
          h("h3", {}, "The worst of them in the graph"),
          new GraphView("The worst example", drawn(first)).element,
          h(
            "p",
            { class: "muted" },
            first.head === null
              ? "The model believes all of these, which the clause forbids."
              : "Dashed in red: the head, which the model believes too little.",
          ),
        )
      : null,
  );
}

function drawn({ facts, head }) {
  return head === null ? facts : [...facts.slice(0, -1), { ...facts.at(-1), look: "missing" }];
}

function exceptions(about) {
  const rows = (about.exceptions_shown ?? []).filter((one) => !one.head?.split);
  if (!rows.length) return null;
  return section(
    "Exceptions in the facts",
    h(
      "p",
      { class: "muted" },
      "The graph has the body and not the head: the head may be false, or it may be missing. Those first that the model believes least.",
    ),
    list(rows),
  );
}

function uses(about) {
  const rows = (about.uses ?? []).filter((one) => one.head);
  if (!rows.length) return null;
  return section(
    "What it adds",
    h(
      "p",
      { class: "muted" },
      "Facts that follow by it and that train does not have, those first that the model believes most. One of valid or test confirms the clause.",
    ),
    list(rows),
  );
}

function list(instances) {
  const item = ({ body, head }) =>
    h(
      "li",
      { class: `row ${head ? look(head) : "known"}` },
      head ? [sentence(head), badge(head), why(head)] : null,
      h(
        "span",
        { class: "muted" },
        head ? "from " : null,
        body.map((fact, place) => [place ? " and " : "", sentence(fact)]),
      ),
    );
  const shown = instances.slice(0, FIRST);
  return [
    h("ul", { class: "facts" }, shown.map(item)),
    instances.length > FIRST
      ? h(
          "details",
          {},
          h("summary", {}, `${number(instances.length - FIRST)} more`),
          h("ul", { class: "facts" }, instances.slice(FIRST).map(item)),
        )
      : null,
  ];
}
