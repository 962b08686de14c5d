// The learning curves of runs, from the records of their logs.

import { lineChart } from "./chart.js";
import { h } from "./dom.js";

const CURVES = [
  { title: "Loss on facts", value: (record) => record.fact_loss },
  { title: "MRR on valid", value: (record) => record.valid?.mrr },
  { title: "Inconsistency: what the adversary finds", value: (record) => record.inconsistency, log: true },
  { title: "Certified bound on the inconsistency", value: (record) => record.certified?.inconsistency, log: true },
  { title: "Seconds for an epoch", value: (record) => record.seconds },
];

/** Draw the curves of logs [{name, records}] that have something to show. */
export function curves(logs) {
  const drawn = CURVES.map(({ title, value, log }) => {
    const series = logs.map(({ name, records }) => ({
      name: logs.length > 1 ? name : null,
      points: records.map((record) => [record.epoch, value(record)]).filter(([, y]) => y !== undefined && y !== null),
    }));
    return series.some((one) => one.points.length) ? lineChart(title, series, { log }) : null;
  }).filter(Boolean);
  return h("div", { class: "charts" }, drawn.length ? drawn : h("p", { class: "muted" }, "No epoch has ended yet."));
}
