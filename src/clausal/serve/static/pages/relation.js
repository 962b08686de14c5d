// A relation: some of its facts, the clauses that speak of it, and questions to ask.

import * as api from "../api.js";
import { h, section } from "../dom.js";
import { saveButtons } from "../download.js";
import { badge, clauseName, look, sentence, why } from "../facts.js";
import { count, shown } from "../names.js";
import { questionForm } from "../question_form.js";

export async function relationPage({ name }) {
  const [about, rules] = await Promise.all([api.relation(name), api.clauses()]);
  const spoken = rules.clauses.filter((one) => mentions(one.clause, name));
  return {
    title: shown(name),
    nodes: [
      h("h1", {}, shown(name).replaceAll("_", " ")),
      h("p", { class: "muted" }, h("code", {}, name), ` · ${count(about.total, "fact")}`),
      section("Ask", questionForm({ relation: name })),
      section(
        "Clauses that speak of it",
        spoken.length
          ? h(
              "ul",
              { class: "plain" },
              spoken.map((one) => h("li", {}, clauseName(one.id, one.shown))),
            )
          : h("p", { class: "muted" }, "None."),
      ),
      section(
        "Some of its facts",
        h(
          "ul",
          { class: "facts" },
          about.facts.map((fact) =>
            h(
              "li",
              { class: `row ${look(fact)}` },
              sentence(fact),
              badge(fact),
              look(fact) === "known" ? null : why(fact),
            ),
          ),
        ),
        saveButtons(shown(name), about.facts),
      ),
    ],
  };
}

function mentions(clause, name) {
  return clause.includes(`${name}(`) || clause.includes(`'${name}'(`);
}
