// Chosen pages as one HTML file that opens without a service, and where the other exports are.

import * as api from "../api.js";
import { announce, button, freshId, h, section } from "../dom.js";
import { document_of, save } from "../download.js";
import { here, link, parse } from "../route.js";

const KEY = "clausal-visited";
const MOST = 30;

/** Remember a page that was looked at, so that it can be chosen here. */
export function visited(address, title) {
  const kept = seen().filter((one) => one.address !== address);
  sessionStorage.setItem(KEY, JSON.stringify([{ address, title }, ...kept].slice(0, MOST)));
}

function seen() {
  return JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
}

export async function exportPage() {
  const about = await api.run().catch(() => ({ name: "run" }));
  const always = [
    ["", "Start"],
    ["clauses", "Clauses"],
    ["training", "Training"],
  ].map(([page, title]) => ({ address: link(page), title }));
  const choices = [...always, ...seen().filter((one) => !always.some((other) => other.address === one.address))];
  const boxes = choices.map((one) => ({ ...one, box: h("input", { type: "checkbox", checked: true }) }));
  const id = freshId("title");
  const title = h("input", { id, type: "text", value: `${about.graph ?? about.name}: what the model says` });
  const note = h("span", { class: "muted", role: "status" });
  const write = async () => {
    note.textContent = "Writing …";
    const { pages } = await import("../pages.js");
    const made = [];
    for (const { address, box } of boxes) {
      if (!box.checked) continue;
      const { page, params } = parse(address);
      try {
        const drawn = await pages[page](params);
        drawn.live?.();
        made.push({ address, title: drawn.title, nodes: drawn.nodes });
      } catch (error) {
        note.textContent = `${address}: ${error.message}`;
        return;
      }
    }
    save(`${about.name}.html`, "text/html", await document_of(title.value, made));
    note.textContent = `Saved ${made.length} pages in one file.`;
    announce(note.textContent);
  };
  return {
    title: "Export",
    nodes: [
      h("h1", {}, "Export"),
      section(
        "Pages in one file",
        h(
          "p",
          {},
          "One HTML file without scripts, which opens anywhere and prints. Pages that you looked at can be chosen here.",
        ),
        h("p", { class: "row" }, h("label", { for: id }, "Title"), title),
        h(
          "ul",
          { class: "plain" },
          boxes.map((one) => h("li", {}, h("label", { class: "switch" }, one.box, one.title))),
        ),
        h("p", { class: "row" }, button("Save as HTML", write, { class: "primary" }), note),
      ),
      section(
        "Everything about the run",
        h(
          "p",
          {},
          "In a terminal, ",
          h("code", {}, `clausal report ${about.name} --out report.html`),
          " writes the whole report: results by relation, calibration, every clause.",
        ),
      ),
      section(
        "Tables and pictures",
        h(
          "p",
          {},
          "Every table has buttons for CSV and JSON below it, and every picture one for SVG. The address of every page is a link to just that view.",
        ),
      ),
    ],
  };
}
