// One fact: whether it is known, follows or is predicted; its proof, or what is missing.

import * as api from "../api.js";
import { h, section } from "../dom.js";
import { saveButtons } from "../download.js";
import { badge, chance, clauseName, entity, look, relation, STATUS } from "../facts.js";
import { nearSupports, proofGraph, proofTree } from "../proof.js";
import { count, number, shown } from "../names.js";
import { link, questionLink } from "../route.js";
import { text_of } from "./question.js";

export async function factPage({ subject, relation: verb, object }) {
  const found = await api.prove({ subject, relation: verb, object });
  const fact = found.fact;
  const text = `${shown(verb)}(${shown(subject)}, ${shown(object)})`;
  return {
    title: text,
    nodes: [
      h("h1", {}, entity(subject), " ", relation(verb), " ", entity(object)),
      h(
        "dl",
        { class: "figures" },
        figure("status", badge(fact)),
        figure("probability", chance(fact.probability)),
        figure("score", number(fact.score)),
      ),
      h("p", {}, STATUS[look(fact)].mean),
      found.proof
        ? proved(fact, found.proof)
        : section(
            "What is missing",
            h("p", {}, "No clause proves it from the known facts. Nearest to a proof:"),
            nearSupports(found.near ?? []),
          ),
      h(
        "p",
        { class: "row" },
        h("a", { href: questionLink(subject, verb, null) }, "Other objects"),
        h("a", { href: questionLink(null, verb, object) }, "Other subjects"),
        h("a", { href: link("whatif", { query: text_of({ subject, relation: verb, object: null }) }) }, "What if …"),
      ),
      saveButtons(text, () => (found.proof ? found.proof.steps : found.near)),
    ],
  };
}

function figure(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

function proved(fact, proof) {
  if (proof.steps.length === 1)
    return section("Why", h("p", {}, "It is one of the facts that the model learned from; nothing has to be proved."));
  const rules = new Map(
    proof.steps.filter((step) => step.clause !== null).map((step) => [step.shown ?? step.clause, step.clause_id]),
  );
  return h(
    "div",
    { class: "two" },
    section(
      "Why: the proof",
      h("p", { class: "muted" }, `${count(proof.size, "step")} from known facts. Every fact and clause is a link.`),
      proofTree(proof),
      h("h3", {}, "Can I trust it?"),
      h(
        "p",
        {},
        "As far as these clauses: ",
        [...rules].map(([clause, id], place) => [place ? ", " : "", clauseName(id, clause)]),
        ". A clause's page says how often it holds in the graph and whether the model obeys it.",
      ),
    ),
    section("The proof as a graph", proofGraph(proof)),
  );
}
