// All clauses: how sure they are, how often they hold in the graph, and whether the model obeys them.

import * as api from "../api.js";
import { certifyButton, verdict } from "../certificates.js";
import { h, table } from "../dom.js";
import { saveButtons } from "../download.js";
import { clauseName } from "../facts.js";
import { count, number, percent } from "../names.js";
import { go, link } from "../route.js";

export async function clausesPage({ find = "" }) {
  const { clauses } = await api.clauses();
  if (!clauses.length)
    return {
      title: "Clauses",
      nodes: [
        h("h1", {}, "Clauses"),
        h(
          "p",
          {},
          "This run was trained without clauses. ",
          h("code", {}, "clausal mine FACTS"),
          " finds some, and ",
          h("code", {}, "clausal train --clauses FILE"),
          " trains with them.",
        ),
      ],
    };
  const open = clauses.filter((one) => !one.certificate).length;
  const columns = [
    { title: "clause", cell: (one) => clauseName(one.id, one.shown), sort: (one) => one.shown },
    {
      title: "confidence",
      number: true,
      cell: (one) => percent(one.all_facts?.confidence),
      sort: (one) => one.all_facts?.confidence,
    },
    {
      title: "holds",
      number: true,
      cell: (one) => number(one.all_facts?.support),
      sort: (one) => one.all_facts?.support,
    },
    {
      title: "exceptions",
      number: true,
      cell: (one) => number(one.all_facts?.exceptions),
      sort: (one) => one.all_facts?.exceptions,
    },
    { title: "in train", number: true, cell: (one) => percent(one.confidence), sort: (one) => one.confidence },
    { title: "verdict", cell: (one) => verdict(one.certificate), sort: (one) => one.certificate?.verdict ?? "" },
    {
      title: "bound",
      number: true,
      cell: (one) => number(one.certificate?.bound),
      sort: (one) => one.certificate?.bound,
    },
  ];
  const box = h("input", { type: "search", id: "find", value: find });
  const place = h("div");
  const show = () => {
    const wanted = box.value.toLowerCase();
    const found = clauses.filter((one) => `${one.clause} ${one.shown}`.toLowerCase().includes(wanted));
    place.replaceChildren(
      table(`${number(found.length)} clauses`, columns, found.slice(0, 1000)),
      found.length > 1000
        ? h("p", { class: "muted" }, "The first 1,000 are shown; write a part of a clause above.")
        : "",
    );
  };
  box.addEventListener("input", show);
  show();
  return {
    title: "Clauses",
    nodes: [
      h("h1", {}, "Clauses"),
      h(
        "p",
        {},
        `The model was trained with ${count(clauses.length, "clause")}. “holds” counts where body and head are among the facts of the graph, “exceptions” where only the body is; the confidence is the share of the first, “in train” that among the facts that the model learned from. The verdict says whether the model itself obeys the clause; the bound is the most by which it can break it.`,
      ),
      open
        ? certifyButton(open === clauses.length ? "Certify all clauses" : `Certify the other ${open}`, null, () =>
            go(link("clauses", { find: box.value })),
          )
        : null,
      clauses.length > 10
        ? h("p", { class: "row", "data-not-exported": true }, h("label", { for: "find" }, "With"), box)
        : null,
      place,
      saveButtons("clauses", clauses),
    ].filter(Boolean),
  };
}
