// What was found by a text that names nothing exactly.

import * as api from "../api.js";
import { h, section } from "../dom.js";
import { entity, relation } from "../facts.js";

export async function searchPage({ q = "" }) {
  const [entities, relations] = await Promise.all([api.entities(q, 50), api.relations(q, 50)]);
  const list = (found, show) =>
    found.length
      ? h(
          "ul",
          { class: "columns" },
          found.map((one) => h("li", {}, show(one.name))),
        )
      : h("p", { class: "muted" }, "None.");
  const nothing = !entities.length && !relations.length;
  return {
    title: `Search: ${q}`,
    nodes: [
      h("h1", {}, `Search: ${q}`),
      nothing ? h("p", {}, "Nothing has this in its name. Try a part of a name, in the language of the graph.") : null,
      section("Entities", list(entities, entity)),
      section("Relations", list(relations, relation)),
    ].filter(Boolean),
  };
}
