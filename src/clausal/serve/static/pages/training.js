// How a run was trained: its curves, which grow while a training writes its log, its results and its settings.

import * as api from "../api.js";
import { curves } from "../curves.js";
import { announce, button, h, section, table } from "../dom.js";
import { saveButtons, saveSvg } from "../download.js";
import { count, number } from "../names.js";
import { here, link } from "../route.js";

const WAIT = 2_000; // milliseconds between two looks at the log

export async function trainingPage() {
  const [about, first, runs] = await Promise.all([api.run().catch(() => ({})), api.log(), api.runs()]);
  const name = here().params.run ?? runs[0].name;
  const records = [...first.epochs];
  const place = h("div");
  const note = h("p", { class: "live", role: "status" });
  const draw = (finished) => {
    place.replaceChildren(curves([{ name, records }]));
    note.textContent = finished
      ? `Finished after ${count(records.at(-1)?.epoch ?? 0, "epoch")}.`
      : `Training: ${count(records.at(-1)?.epoch ?? 0, "epoch")} so far. The curves grow by themselves.`;
  };
  draw(first.finished);
  const timer = first.finished ? null : setInterval(look, WAIT);
  async function look() {
    const more = await api.log(name, records.at(-1)?.epoch ?? -1).catch(() => null);
    if (!more) return;
    records.push(...more.epochs);
    if (more.epochs.length || more.finished) draw(more.finished);
    if (more.finished) {
      clearInterval(timer);
      announce("The training has finished.");
    }
  }
  const others = runs.filter((one) => one.name !== name);
  return {
    title: "Training",
    live: timer ? () => clearInterval(timer) : null,
    nodes: [
      h("h1", {}, `Training of ${name}`),
      note,
      others.length
        ? h(
            "p",
            { class: "row" },
            "Side by side with:",
            others.map((one) => h("a", { href: link("compare", { a: name, b: one.name }) }, one.name)),
          )
        : h("p", { class: "muted" }, "Serve two runs (clausal serve RUN RUN2) to see them side by side."),
      place,
      h(
        "p",
        { class: "row", "data-not-exported": true },
        button("Save pictures", () =>
          [...place.querySelectorAll("svg.linechart")].forEach((svg, number) =>
            saveSvg(svg, `${name}-curve-${number + 1}.svg`),
          ),
        ),
      ),
      saveButtons(`${name} log`, () => records),
      about.metrics ? results([about]) : null,
      about.settings ? settings([about]) : null,
    ].filter(Boolean),
  };
}

const METRICS = ["mrr", "hits@1", "hits@3", "hits@10"];

/** The results of runs in one table. */
export function results(runs) {
  const rows = runs.flatMap((one) =>
    Object.entries(measured(one.metrics)).map(([part, values]) => ({ run: one.name, part, ...values })),
  );
  if (!rows.length) return null;
  const columns = [
    ...(runs.length > 1 ? [{ title: "run", cell: (row) => row.run }] : []),
    { title: "facts of", cell: (row) => row.part },
    { title: "count", number: true, cell: (row) => number(row.count) },
    ...METRICS.map((metric) => ({
      title: metric === "mrr" ? "MRR" : metric,
      number: true,
      cell: (row) => number(row[metric]),
      sort: (row) => row[metric],
    })),
  ];
  return section("Results (filtered ranking)", table("Results", columns, rows, { hidden: true }));
}

function measured(metrics) {
  const found = {};
  const note = (part, value) => {
    if (value?.filtered?.both) found[part] = value.filtered.both;
    for (const [name, one] of Object.entries(value?.parts ?? {})) note(name, one);
  };
  for (const [part, value] of Object.entries(metrics ?? {})) note(part, value);
  return found;
}

/** The settings of runs; of two, those that differ come first. */
export function settings(runs) {
  const flat = runs.map((one) =>
    Object.fromEntries(
      Object.entries(one.settings ?? {}).flatMap(([part, values]) =>
        values !== null && typeof values === "object" && !Array.isArray(values)
          ? Object.entries(values).map(([name, value]) => [`${part}.${name}`, value])
          : [[part, values]],
      ),
    ),
  );
  const names = [...new Set(flat.flatMap(Object.keys))];
  const text = (value) =>
    value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const differ = (name) => new Set(flat.map((one) => text(one[name]))).size > 1;
  const columns = [
    { title: "setting", cell: (name) => h("code", {}, name) },
    ...runs.map((one, place) => ({
      title: runs.length > 1 ? one.name : "value",
      cell: (name) => (differ(name) ? h("strong", {}, text(flat[place][name])) : text(flat[place][name])),
    })),
  ];
  const rows = [...names.filter(differ), ...names.filter((name) => !differ(name))];
  return section(
    "Settings",
    h(
      "details",
      { open: names.some(differ) },
      h("summary", {}, names.some(differ) ? "Settings; those that differ come first" : "All settings"),
      table("Settings", columns, rows, { hidden: true }),
    ),
  );
}
