// What if: clauses and facts switched off and on; what follows then, and which answers change. Nothing is trained.

import * as api from "../api.js";
import { announce, button, debounced, freshId, h, section, table } from "../dom.js";
import { saveButtons } from "../download.js";
import { STATUS, badge, entity, look, relation, sentence } from "../facts.js";
import { count, number, shown } from "../names.js";
import { remember } from "../route.js";

export async function whatIfPage(params) {
  const { clauses } = await api.clauses();
  const state = {
    off: new Set((params.off ?? "").split(",").filter(Boolean).map(Number)),
    rules: lines(params.rules),
    without: lines(params.without),
    with: lines(params.with),
    query: params.query ?? "",
  };
  const result = h("div", { class: "result", "aria-live": "polite" });
  let asked = 0;
  const ask = async () => {
    const number = (asked += 1);
    remember({
      off: [...state.off].join(","),
      rules: state.rules.join("\n"),
      without: state.without.join("\n"),
      with: state.with.join("\n"),
      query: state.query,
    });
    result.setAttribute("aria-busy", "true");
    let nodes;
    try {
      const found = await api.whatIf({
        clauses_off: [...state.off],
        clauses_on: state.rules,
        facts_off: state.without,
        facts_on: state.with,
        query: state.query || null,
      });
      nodes = changes(found, state);
    } catch (error) {
      nodes = [h("p", { class: "problem" }, error.message)];
    }
    if (number !== asked) return;
    result.replaceChildren(...nodes);
    result.removeAttribute("aria-busy");
  };
  await ask();
  return {
    title: "What if",
    nodes: [
      h("h1", {}, "What if"),
      h(
        "p",
        {},
        "Switch clauses and facts off and on. What follows from the facts is computed at once, and the question is answered again with what follows first. The model stays as it is: nothing is trained.",
      ),
      h(
        "div",
        { class: "two" },
        h("div", {}, switches(clauses, state, ask), textLists(state, ask)),
        h("div", {}, question(state, ask), result),
      ),
    ],
  };
}

function lines(text) {
  return (text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function switches(clauses, state, ask) {
  if (!clauses.length)
    return section("Clauses", h("p", { class: "muted" }, "The run has no clauses; write one below."));
  const item = (one) => {
    const box = h("input", {
      type: "checkbox",
      checked: !state.off.has(one.id),
      onchange: (event) => {
        state.off[event.target.checked ? "delete" : "add"](one.id);
        ask();
      },
    });
    return h("li", {}, h("label", { class: "switch" }, box, h("code", { class: "clause" }, one.shown)));
  };
  const ordered = [...clauses].sort((a, b) => state.off.has(b.id) - state.off.has(a.id));
  const list = h("ul", { class: "plain switches" }, ordered.slice(0, 200).map(item));
  const all = (on) => {
    for (const one of clauses) state.off[on ? "delete" : "add"](one.id);
    for (const box of list.querySelectorAll("input")) box.checked = on;
    ask();
  };
  return section(
    "Clauses",
    list,
    h(
      "p",
      { class: "row", "data-not-exported": true },
      button("All on", () => all(true)),
      button("All off", () => all(false)),
    ),
  );
}

function textLists(state, ask) {
  return [
    section(
      "Clauses that you add",
      editable(state.rules, "A clause, such as borders(X, Y) => borders(Y, X)", "Clause", ask),
    ),
    section("Facts that you take away", editable(state.without, "relation(subject, object)", "Fact to take away", ask)),
    section("Facts that you add", editable(state.with, "relation(subject, object)", "Fact to add", ask)),
  ];
}

function editable(values, placeholder, label, ask) {
  const list = h("ul", { class: "plain" });
  const draw = () =>
    list.replaceChildren(
      ...values.map((text, place) =>
        h(
          "li",
          { class: "row" },
          h("code", {}, text),
          button(
            "Remove",
            () => {
              values.splice(place, 1);
              draw();
              ask();
            },
            { "aria-label": `Remove ${text}` },
          ),
        ),
      ),
    );
  const id = freshId("add");
  const input = h("input", { id, type: "text", placeholder, autocomplete: "off" });
  const form = h(
    "form",
    { class: "row", "data-not-exported": true },
    h("label", { for: id, class: "sr" }, label),
    input,
    h("button", { type: "submit" }, "Add"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    values.push(input.value.trim());
    input.value = "";
    draw();
    ask();
  });
  draw();
  return h("div", {}, list, form);
}

function question(state, ask) {
  const id = freshId("query");
  const input = h("input", {
    id,
    type: "text",
    value: state.query,
    placeholder: "relation(subject, ?)",
    autocomplete: "off",
  });
  const later = debounced(400, () => {
    state.query = input.value.trim();
    ask();
  });
  input.addEventListener("change", later);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") later();
  });
  return section(
    "A question whose answers to watch",
    h("p", { class: "row" }, h("label", { for: id, class: "sr" }, "Question"), input),
  );
}

function changes(found, state) {
  const touched = state.off.size + state.rules.length + state.without.length + state.with.length;
  const text = `${number(found.entailed)} facts follow now; ${number(found.before)} did before. ${count(found.lost_total, "fact")} no longer, ${count(found.gained_total, "fact")} newly.`;
  announce(text);
  return [
    section(
      "What follows",
      h(
        "p",
        { class: "big" },
        h("strong", {}, number(found.entailed)),
        ` facts follow now `,
        h("span", { class: "muted" }, `(${number(found.before)} before)`),
      ),
      touched ? null : h("p", { class: "muted" }, "Nothing is switched yet."),
      h(
        "p",
        { class: "row" },
        h("span", { class: "lost" }, `− ${number(found.lost_total)} no longer`),
        h("span", { class: "gained" }, `+ ${number(found.gained_total)} newly`),
      ),
      facts("No longer", found.lost, found.lost_total),
      facts("Newly", found.gained, found.gained_total),
      found.lost.length + found.gained.length
        ? saveButtons("what changes", () => [
            ...found.lost.map((fact) => ({ ...fact, change: "lost" })),
            ...found.gained.map((fact) => ({ ...fact, change: "gained" })),
          ])
        : null,
    ),
    found.query ? answers(found) : null,
  ].filter(Boolean);
}

function facts(title, rows, total) {
  if (!rows.length) return null;
  return h(
    "details",
    { open: rows.length <= 12 },
    h("summary", {}, `${title}: ${number(total)}`),
    h(
      "ul",
      { class: "facts" },
      rows.slice(0, 50).map((fact) => h("li", { class: "row" }, sentence(fact))),
    ),
    total > 50 ? h("p", { class: "muted" }, `${number(total - 50)} more; save them below.`) : null,
  );
}

function answers({ answers_before: before, answers_after: after, query }) {
  const key = (fact) => JSON.stringify([fact.subject, fact.relation, fact.object]);
  const ranks = new Map(before.map((fact, place) => [key(fact), fact.rank ?? place + 1]));
  const side = ["subject", "relation", "object"].find((one) => query?.[one] === null) ?? varying(after);
  const show = (fact) => (side === "relation" ? relation(fact.relation) : entity(fact[side]));
  const looks = new Map(before.map((fact) => [key(fact), look(fact)]));
  const moved = (fact, place) => {
    const old = ranks.get(key(fact));
    const now = fact.rank ?? place + 1;
    if (old === undefined) return h("span", { class: "gained" }, "new");
    if (old === now && looks.get(key(fact)) !== look(fact))
      return h("span", { class: "muted" }, `was ${STATUS[looks.get(key(fact))].word}`);
    return old === now
      ? h("span", { class: "muted" }, "=")
      : h("span", { class: old > now ? "gained" : "lost" }, old > now ? `▲ ${old - now}` : `▼ ${now - old}`);
  };
  const rows = after.map((fact, place) => ({ ...fact, rank: fact.rank ?? place + 1, moved: moved(fact, place) }));
  const gone = before.filter((fact) => !after.some((one) => key(one) === key(fact)));
  return section(
    "The answers",
    table(
      "Answers now",
      [
        { title: "rank", number: true, cell: (fact) => number(fact.rank) },
        { title: "answer", cell: show },
        { title: "change", cell: (fact) => fact.moved },
        { title: "status", cell: badge },
      ],
      rows,
      { hidden: true },
    ),
    gone.length
      ? h("p", { class: "muted" }, `No longer among them: ${gone.map((fact) => shown(fact[side])).join(", ")}.`)
      : null,
  );
}

function varying(facts) {
  return (
    ["object", "subject", "relation"].find((side) => new Set(facts.map((fact) => fact[side])).size > 1) ?? "object"
  );
}
