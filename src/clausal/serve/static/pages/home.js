// The start page: what this is, and what to try.

import * as api from "../api.js";
import { h, section } from "../dom.js";
import { clauseName, legend, sentence, sign, why } from "../facts.js";
import { count, number, shown } from "../names.js";
import { entityLink, link, questionLink, relationLink } from "../route.js";

export async function homePage() {
  const about = await api.run();
  if (!about.finished) return unfinished(about);
  const [tries, relations, entities] = await Promise.all([
    api.suggestions(),
    api.relations("", 12),
    api.entities("", 4),
  ]);
  const { train = 0, valid = 0, test = 0 } = about.facts ?? {};
  return {
    title: "Start",
    nodes: [
      h("h1", {}, about.graph ?? about.name),
      h(
        "p",
        { class: "lead" },
        `A graph of ${count(train + valid + test, "fact")} about ${count(about.entities, "entity", "entities")}, `,
        `and a model that learned from ${count(train, "of them", "of them")}`,
        about.clauses
          ? [" with ", h("a", { href: link("clauses") }, count(about.clauses, "clause"))]
          : " without clauses",
        ". Search above (press /), or begin here.",
      ),
      figures(about),
      tries.length ? rescued(tries) : none(about),
      section(
        "Ask a question",
        h(
          "ul",
          { class: "chips" },
          questions(tries, relations, entities).map(({ text, address }) =>
            h("li", {}, h("a", { href: address, class: "chip" }, text)),
          ),
        ),
        h(
          "p",
          { class: "muted" },
          "A question names two of subject, relation and object, and leaves “?” for the third.",
        ),
      ),
      section(
        "Relations",
        h(
          "ul",
          { class: "chips" },
          relations.map((one) =>
            h(
              "li",
              {},
              h(
                "a",
                { href: relationLink(one.name), class: "chip" },
                shown(one.name),
                one.facts === undefined ? null : h("span", { class: "muted" }, ` ${number(one.facts)}`),
              ),
            ),
          ),
        ),
      ),
      section("What the signs mean", legend()),
    ],
  };
}

function unfinished(about) {
  return {
    title: "Start",
    nodes: [
      h("h1", {}, about.graph),
      h(
        "p",
        { class: "lead" },
        "This run is still being trained, so it cannot be asked yet. ",
        h("a", { href: link("training") }, "Watch its curves grow"),
        ".",
      ),
    ],
  };
}

function figures(about) {
  const rows = [
    ["model", `${about.scorer ?? ""}${about.dim ? `, dimension ${about.dim}` : ""}`],
    ["valid MRR", number(about.metrics?.valid?.filtered?.both?.mrr)],
    ["test MRR", number(about.metrics?.test?.filtered?.both?.mrr)],
    ["calibrated", about.calibrated ? "yes: probabilities are shown" : "no: scores only"],
  ];
  return h(
    "dl",
    { class: "figures" },
    rows
      .filter(([, value]) => value && value !== "–")
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** Facts that train lacks and that follow; those first that valid or test confirm. */
function rescued(tries) {
  const confirmed = tries.filter((fact) => fact.split).length;
  return section(
    "What the clauses add",
    h(
      "p",
      {},
      `The model did not learn from these facts, but they follow by clauses${confirmed ? ", and facts that were held back confirm them" : ""}. Open “why?” to see how.`,
    ),
    h("ul", { class: "cards" }, tries.map(card)),
  );
}

function card(fact) {
  const other = fact.without
    ? ` and at ${number(fact.without.rank)} by ${fact.without.run}, which knows no clauses`
    : "";
  return h(
    "li",
    { class: "card" },
    h("div", { class: "card-title" }, sign("entailed"), sentence(fact)),
    fact.clause ? h("div", { class: "by" }, "because ", clauseName(fact.clause_id, fact.shown ?? fact.clause)) : null,
    fact.rank
      ? h(
          "div",
          { class: "muted" },
          `${fact.split ? `Held back in ${fact.split}. ` : ""}Ranked at ${number(fact.rank)} by the model${other}.`,
        )
      : null,
    h(
      "div",
      { class: "card-foot" },
      why({ ...fact, status: "entailed" }),
      h(
        "a",
        { href: questionLink(fact.subject, fact.relation, null) },
        `${shown(fact.relation)}(${shown(fact.subject)}, ?)`,
      ),
    ),
  );
}

function none(about) {
  const text = about.clauses
    ? "All that follows from the facts by the clauses is among the facts already."
    : "This run was trained without clauses. Train with some (clausal train FACTS --clauses FILE, or clausal mine to find them), and this page shows what they add.";
  return section("What the clauses add", h("p", {}, text));
}

function questions(tries, relations, entities) {
  const asked = tries.slice(0, 5).flatMap((fact, place) => {
    const [subject, relation, object] = [shown(fact.subject), shown(fact.relation), shown(fact.object)];
    if (place % 3 === 1)
      return [{ text: `${relation}(?, ${object})`, address: questionLink(null, fact.relation, fact.object) }];
    if (place % 3 === 2)
      return [{ text: `?(${subject}, ${object})`, address: questionLink(fact.subject, null, fact.object) }];
    return [{ text: `${relation}(${subject}, ?)`, address: questionLink(fact.subject, fact.relation, null) }];
  });
  return [
    ...asked,
    ...entities.map((one) => ({ text: shown(one.name), address: entityLink(one.name) })),
    { text: "Put a question together …", address: link("question") },
  ];
}
