// What is known of clauses, drawn: from what was attained to the bound, with the tolerance and what real entities show.

import { freshId, s } from "./dom.js";
import { number } from "./names.js";

const WIDTH = 560;
const [LEFT, RIGHT] = [16, 24];

/** Draw one clause's certificate. */
export function interval(certificate, tolerance) {
  const { attained, bound, entities } = certificate;
  const values = [attained, bound, tolerance, entities?.worst].filter((value) => value !== null && value !== undefined);
  const most = Math.max(...values, 1e-9) * 1.15;
  const at = (value) => LEFT + (Math.min(value, most) / most) * (WIDTH - LEFT - RIGHT);
  const end = bound ?? most;
  const id = freshId("interval");
  const rows = [
    s("text", { x: LEFT, y: 16 }, "all vectors: the largest violation lies between attained and bound"),
    s("rect", { class: "track", x: LEFT, y: 26, width: WIDTH - LEFT - RIGHT, height: 14, rx: 7 }),
    s("rect", {
      class: "between",
      x: at(attained),
      y: 26,
      width: Math.max(3, at(end) - at(attained)),
      height: 14,
      rx: 7,
    }),
    mark(at(attained), 22, 22, "attained", `attained ${number(attained)}`, 58),
    bound === null
      ? s("text", { x: WIDTH - RIGHT, y: 72, "text-anchor": "end" }, "no bound known")
      : mark(at(bound), 22, 22, "bound", `bound ${number(bound)}`, 72),
  ];
  if (entities) {
    rows.push(
      s("text", { x: LEFT, y: 96 }, "real entities: mean and worst violation"),
      s("rect", { class: "track", x: LEFT, y: 104, width: WIDTH - LEFT - RIGHT, height: 10, rx: 5 }),
      s("rect", { class: "worst", x: LEFT, y: 104, width: Math.max(2, at(entities.worst) - LEFT), height: 10, rx: 5 }),
      mark(at(entities.mean), 101, 16, "mean", `mean ${number(entities.mean)}`, 132),
      mark(at(entities.worst), 101, 16, "worst", `worst ${number(entities.worst)}`, 146),
    );
  }
  const height = entities ? 172 : 100;
  rows.push(
    s("line", { class: "tolerance", x1: at(tolerance ?? 0), x2: at(tolerance ?? 0), y1: 20, y2: height - 22 }),
    s("text", { class: "tolerance", x: at(tolerance ?? 0) + 4, y: height - 8 }, `tolerance ${number(tolerance ?? 0)}`),
  );
  const summary = `attained ${number(attained)}, ${bound === null ? "no bound" : `bound ${number(bound)}`}, tolerance ${number(tolerance)}${entities ? `, real entities: worst ${number(entities.worst)}` : ""}`;
  return s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, class: "interval", role: "img", "aria-labelledby": id },
    s("title", { id }, `Violations of the clause: ${summary}`),
    rows,
  );
}

function mark(x, y, height, kind, text, below) {
  const anchor = x > WIDTH * 0.75 ? "end" : x < WIDTH * 0.15 ? "start" : "middle";
  return s(
    "g",
    { class: `mark ${kind}` },
    s("line", { x1: x, x2: x, y1: y, y2: y + height }),
    s("text", { x, y: below, "text-anchor": anchor }, text),
  );
}

/** Draw how many groundings of a clause are violated how much: bins are [{from, to, count}]. */
export function histogram(title, bins) {
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  const [height, low] = [150, 28];
  const wide = (WIDTH - LEFT - RIGHT) / bins.length;
  const id = freshId("histogram");
  return s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, class: "histogram", role: "img", "aria-labelledby": id },
    s(
      "title",
      { id },
      `${title}: ${bins.map((bin) => `${number(bin.from)} to ${number(bin.to)}: ${bin.count}`).join("; ")}`,
    ),
    bins.map((bin, place) => {
      const tall = (bin.count / most) * (height - low - 22);
      const x = LEFT + place * wide;
      return s(
        "g",
        {},
        s("rect", {
          class: place ? "worst" : "fine",
          x: x + 2,
          y: height - low - tall,
          width: wide - 4,
          height: tall,
          rx: 2,
        }),
        bin.count
          ? s("text", { x: x + wide / 2, y: height - low - tall - 5, "text-anchor": "middle" }, number(bin.count))
          : null,
        s(
          "text",
          { x: x + wide / 2, y: height - low + 16, "text-anchor": "middle" },
          place ? `≤ ${number(bin.to, 2)}` : "obeyed",
        ),
      );
    }),
    s("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: height - low, y2: height - low }),
  );
}
