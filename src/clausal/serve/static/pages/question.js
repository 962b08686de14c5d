// A question and its answers.

import * as api from "../api.js";
import { h, section, table } from "../dom.js";
import { saveButtons } from "../download.js";
import { badge, entity, legend, look, probability, relation, sentence, why } from "../facts.js";
import { number, shown } from "../names.js";
import { questionForm } from "../question_form.js";
import { go, link } from "../route.js";

const EXPLAINED = 50; // answers whose votes the service explains at a time
const RANKINGS = {
  model: "the model alone",
  entailed: "what follows first",
  rules: "votes of rules",
  fused: "model and rules",
};

export async function questionPage({ q, subject, relation: verb, object, k = "10", fresh, ranking, obeying }) {
  const given = [subject, verb, object].filter((one) => one !== undefined).length;
  if (!q && given < 2) return empty({ subject, relation: verb, object });
  const about = await api.run();
  const query = q ?? { subject: subject ?? null, relation: verb ?? null, object: object ?? null };
  const votes = ranking === "fused" && obeying !== "yes" && Number(k) <= EXPLAINED;
  const found = await api.predict(query, {
    k: Number(k),
    new: fresh === "yes",
    ...(ranking ? { ranking } : {}),
    ...(obeying === "yes" ? { consistent: true } : {}),
    ...(votes ? { explain: true } : {}),
  });
  const asked = found.query;
  const text = `${shown(asked.relation)}(${shown(asked.subject)}, ${shown(asked.object)})`;
  const side = ["subject", "relation", "object"].find((one) => asked[one] === null);
  const show = side === "relation" ? (fact) => relation(fact.relation) : (fact) => entity(fact[side]);
  const columns = [
    { title: "rank", number: true, cell: (fact) => number(fact.rank) },
    { title: "answer", cell: show },
    ...probability(found.answers),
    { title: "status", cell: (fact) => badge(fact), sort: look },
    votes ? { title: "because", cell: contributions } : { title: "why", cell: why },
    { title: "score", number: true, cell: (fact) => number(fact.score), sort: (fact) => fact.score },
  ];
  return {
    title: text,
    nodes: [
      h("h1", { class: "code" }, text),
      questionForm({ ...asked, more: { k, fresh, ranking, obeying } }),
      options(asked, { k, fresh, ranking, obeying }, about),
      found.answers.length
        ? table(`Answers to ${text}`, columns, found.answers, { hidden: true })
        : h("p", {}, "No answer is left: the graph has all that could be."),
      saveButtons(text, found.answers),
      legend([...new Set(found.answers.map(look))]),
      h(
        "p",
        { class: "row" },
        h("a", { href: link("whatif", { query: q ?? text_of(asked) }) }, "What if a clause or a fact were not there?"),
      ),
    ],
  };
}

/** What the model and each rule gave to an answer. */
function contributions(fact) {
  const parts = fact.explanation?.contributions ?? [];
  const item = (one) =>
    h(
      "li",
      {},
      h("span", { class: "digits" }, `${one.value < 0 ? "−" : "+"}${number(Math.abs(one.value), 2)} `),
      one.of,
      one.clause
        ? [
            ": ",
            h("code", { class: "clause" }, one.clause),
            one.confidence === undefined ? null : ` (confidence ${number(one.confidence, 2)})`,
          ]
        : null,
      (one.facts ?? []).length
        ? h(
            "div",
            { class: "muted" },
            "from ",
            one.facts.map((from, place) => [place ? " and " : "", sentence(from)]),
          )
        : null,
    );
  return h(
    "details",
    {},
    h("summary", {}, `${parts.length} reasons`),
    h("ul", { class: "plain reasons" }, parts.map(item)),
    why(fact),
  );
}

/** Write a question as the service reads it. */
export function text_of({ subject, relation: verb, object }) {
  const part = (name) => (name === null ? "?" : /[,()?'"]/.test(name) ? `"${name.replaceAll('"', '\\"')}"` : name);
  return `${part(verb)}(${part(subject)}, ${part(object)})`;
}

function options(asked, { k, fresh, ranking, obeying }, about) {
  const change = (more) => go(link("question", { ...asked, k, fresh, ranking, obeying, ...more }));
  const box = (label, now, name) =>
    h(
      "label",
      {},
      h("input", {
        type: "checkbox",
        checked: now === "yes",
        onchange: (event) => change({ [name]: event.target.checked ? "yes" : null }),
      }),
      ` ${label}`,
    );
  const rankings = about.rankings ?? ["model"];
  const choose = (id, label, values, now, name) =>
    h(
      "label",
      {},
      `${label} `,
      h(
        "select",
        { onchange: (event) => change({ [name]: event.target.value }) },
        values.map(([value, text]) => h("option", { value, selected: String(value) === String(now) }, text)),
      ),
    );
  return h(
    "div",
    { class: "row options", "data-not-exported": true },
    choose(
      "k",
      "Answers",
      [10, 25, 50, 100].map((one) => [one, one]),
      k,
      "k",
    ),
    rankings.length > 1
      ? choose(
          "ranking",
          "Ranked by",
          rankings.map((one) => [one, RANKINGS[one] ?? one]),
          ranking ?? rankings[0],
          "ranking",
        )
      : null,
    box("only what the graph does not have", fresh, "fresh"),
    about.clauses ? box("obeying the clauses", obeying, "obeying") : null,
  );
}

function empty(given) {
  return {
    title: "Ask",
    nodes: [
      h("h1", {}, "Ask"),
      h(
        "p",
        {},
        "Fill two boxes and leave the one open that you ask for. All three: is this fact known, does it follow, and why?",
      ),
      questionForm(given),
      section(
        "In one line",
        h(
          "p",
          {},
          "In the box at the top you can write the same as ",
          h("code", {}, "relation(subject, ?)"),
          ", ",
          h("code", {}, "relation(?, object)"),
          " or ",
          h("code", {}, "?(subject, object)"),
          ".",
        ),
      ),
    ],
  };
}
