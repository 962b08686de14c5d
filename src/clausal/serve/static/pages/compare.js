// Two runs side by side: curves in one picture, results, settings, and the answers to one question.

import * as api from "../api.js";
import { curves } from "../curves.js";
import { button, freshId, h, section, table } from "../dom.js";
import { badge, chance, entity, relation } from "../facts.js";
import { number } from "../names.js";
import { go, here, link } from "../route.js";
import { results, settings } from "./training.js";

export async function comparePage({ a, b, query = "" }) {
  const runs = await api.runs();
  const names = runs.map((one) => one.name);
  const pair = [a ?? names[0], b ?? names[1] ?? names[0]];
  const [logs, abouts] = await Promise.all([
    Promise.all(pair.map((name) => api.log(name))),
    Promise.all(pair.map((name) => api.run(name).catch(() => ({ name })))),
  ]);
  const choose = (place, label) =>
    h(
      "label",
      {},
      `${label} `,
      h(
        "select",
        { onchange: (event) => go(link("compare", { a, b, query, [place]: event.target.value })) },
        names.map((name) => h("option", { value: name, selected: name === pair[place === "a" ? 0 : 1] }, name)),
      ),
    );
  return {
    title: `${pair[0]} and ${pair[1]}`,
    nodes: [
      h("h1", {}, `${pair[0]} and ${pair[1]}`),
      h("p", { class: "row", "data-not-exported": true }, choose("a", "First"), choose("b", "Second")),
      results(abouts),
      section("Curves", curves(logs.map((one, place) => ({ name: pair[place], records: one.epochs })))),
      await asked(pair, a, b, query),
      settings(abouts),
      h(
        "p",
        { class: "muted" },
        "Intervals of the differences and the facts that changed rank most: ",
        h("code", {}, "clausal compare RUN RUN2"),
        ".",
      ),
    ].filter(Boolean),
  };
}

async function asked(pair, a, b, query) {
  const id = freshId("query");
  const input = h("input", {
    id,
    type: "text",
    value: query,
    placeholder: "relation(subject, ?)",
    autocomplete: "off",
  });
  const form = h(
    "form",
    { class: "row", "data-not-exported": true },
    h("label", { for: id }, "Question to both"),
    input,
    h("button", { type: "submit" }, "Ask"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(link("compare", { a: pair[0], b: pair[1], query: input.value.trim() }));
  });
  if (!query) return section("One question to both", form);
  const found = await Promise.all(pair.map((run) => api.predict(query, {}, run).catch((error) => ({ error }))));
  return section(
    "One question to both",
    form,
    h(
      "div",
      { class: "two" },
      found.map((one, place) =>
        h(
          "div",
          {},
          h("h3", {}, pair[place]),
          one.error ? h("p", { class: "problem" }, one.error.message) : answers(pair[place], one),
        ),
      ),
    ),
  );
}

function answers(run, { query, answers: found }) {
  const side = ["subject", "relation", "object"].find((one) => query[one] === null);
  const columns = [
    { title: "rank", number: true, cell: (fact) => number(fact.rank) },
    { title: "answer", cell: (fact) => (side === "relation" ? relation(fact.relation) : entity(fact[side])) },
    { title: "probability", cell: (fact) => chance(fact.probability) },
    { title: "status", cell: badge },
  ];
  return table(`Answers of ${run}`, columns, found, { hidden: true });
}
