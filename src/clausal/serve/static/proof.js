// Why a fact holds, as a tree whose steps are links; or what it lacks.

import { h } from "./dom.js";
import { clauseName, entity, relation, sentence, sign } from "./facts.js";
import { GraphView } from "./graph.js";
import { count, number } from "./names.js";
import { factLink } from "./route.js";

/** Draw a proof: its steps are a list, whose premises are places in that list. */
export function proofTree(proof) {
  const seen = new Set();
  const node = (place) => {
    const step = proof.steps[place];
    const given = step.clause === null;
    const again = seen.has(place) && !given;
    seen.add(place);
    const why = given
      ? h("span", { class: "muted" }, "known fact")
      : again
        ? h("span", { class: "muted" }, "shown above")
        : h("span", { class: "by" }, "because ", clauseName(step.clause_id, step.shown ?? step.clause));
    const head = h(
      "div",
      { class: "step" },
      sign(given ? "known" : "entailed"),
      sentence(step),
      place
        ? h(
            "a",
            {
              class: "why",
              href: factLink(step),
              "aria-label": `This step alone: ${step.relation}(${step.subject}, ${step.object})`,
            },
            "this step",
          )
        : null,
      why,
    );
    return h("li", {}, head, !given && !again && step.premises.length ? h("ul", {}, step.premises.map(node)) : null);
  };
  return h("ul", { class: "proof" }, node(0));
}

/** Draw the facts of a proof as a graph. */
export function proofGraph(proof) {
  const facts = proof.steps.map((step) => ({ ...step, status: step.clause === null ? "known" : "entailed" }));
  return new GraphView("The proof", facts).element;
}

/** Say what nearly proves a fact, and which facts are missing. */
export function nearSupports(near) {
  if (!near.length)
    return h(
      "p",
      {},
      "No clause nearly supports this: no body of a clause with this head has a fact that holds. The model alone stands behind it.",
    );
  return h(
    "ol",
    { class: "near" },
    near.map((one) =>
      h(
        "li",
        {},
        h(
          "p",
          {},
          "It would follow by ",
          clauseName(one.clause_id, one.shown ?? one.clause),
          ` if ${count(one.missing.length, "more fact")} held:`,
        ),
        h(
          "ul",
          { class: "proof" },
          one.holds.map((fact) =>
            h(
              "li",
              {},
              h("div", { class: "step" }, sign("known"), sentence(fact), h("span", { class: "muted" }, "holds")),
            ),
          ),
          one.missing.map((fact) =>
            h(
              "li",
              {},
              h(
                "div",
                { class: "step missing" },
                sign("predicted"),
                h(
                  "span",
                  { class: "fact" },
                  entity(fact.subject),
                  " ",
                  relation(fact.relation),
                  " ",
                  entity(fact.object),
                ),
                h("strong", {}, "missing"),
                scored(fact),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

function scored(fact) {
  if (fact.rank === undefined || fact.rank === null) return null;
  return h("span", { class: "muted" }, `the model puts it at rank ${number(fact.rank)} (score ${number(fact.score)})`);
}
