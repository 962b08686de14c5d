// A line chart in SVG, with a table of its numbers for those who cannot see it.

import { freshId, h, s, table } from "./dom.js";
import { number } from "./names.js";

const [WIDTH, HEIGHT] = [560, 260];
const EDGE = { left: 58, right: 14, top: 14, bottom: 36 };

/** Return round numbers from low to high, about as many as asked for. */
export function ticks(low, high, about = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const found = [];
  for (let place = Math.ceil(low / step); place * step <= high + step * 1e-9; place += 1) found.push(place * step);
  return found;
}

/** Draw series [{name, points: [[x, y], …]}]; `log` draws powers of ten at equal distances. */
export function lineChart(title, series, { x = "epoch", y = "", log = false } = {}) {
  const drawn = series
    .map((one, place) => ({ ...one, place, points: one.points.filter((point) => usable(point, log)) }))
    .filter((one) => one.points.length);
  if (!drawn.length)
    return h(
      "figure",
      { class: "chart" },
      h("figcaption", {}, title),
      h("p", { class: "muted" }, "Nothing measured yet."),
    );
  const scale = scales(drawn, log);
  const id = freshId("chart");
  const picture = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "linechart", role: "img", "aria-labelledby": id },
    s("title", { id }, `${title}. ${drawn.map(summary).join(" ")}`),
    axes(scale, x, y),
    drawn.map((one) => line(one, scale)),
  );
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, title),
    picture,
    drawn.length > 1 || drawn[0].name ? key(drawn) : null,
    h("details", {}, h("summary", {}, "Numbers"), numbers(title, x, drawn)),
  );
}

function usable([x, y], log) {
  return Number.isFinite(x) && Number.isFinite(y) && (!log || y > 0);
}

function scales(series, log) {
  const points = series.flatMap((one) => one.points);
  const value = log ? Math.log10 : (y) => y;
  let [left, right] = extent(points.map(([x]) => x));
  if (left === right) [left, right] = [left - 0.5, right + 0.5];
  let [low, high] = extent(points.map(([, y]) => value(y)));
  if (!log && low > 0 && low < high * 0.6) low = 0;
  if (low === high) [low, high] = [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  const across = WIDTH - EDGE.left - EDGE.right;
  const down = HEIGHT - EDGE.top - EDGE.bottom;
  return {
    x: (x) => EDGE.left + ((x - left) / (right - left)) * across,
    y: (y) => EDGE.top + (1 - (value(y) - low) / (high - low)) * down,
    xs: ticks(left, right, 6).filter((tick) => Number.isInteger(tick)),
    ys: log ? decades(low, high) : ticks(low, high),
  };
}

function decades(low, high) {
  const whole = ticks(low, high, 5).filter(Number.isInteger);
  if (whole.length > 2) return whole.map((tick) => 10 ** tick);
  const round = [];
  for (let power = Math.floor(low); power <= high; power += 1)
    for (const digit of [1, 2, 5]) round.push(digit * 10 ** power);
  const inside = round.filter((tick) => Math.log10(tick) >= low && Math.log10(tick) <= high);
  return inside.length > 1 ? inside : ticks(10 ** low, 10 ** high, 4);
}

function extent(values) {
  return [Math.min(...values), Math.max(...values)];
}

function axes(scale, x, y) {
  const bottom = HEIGHT - EDGE.bottom;
  return s(
    "g",
    { class: "axes", "aria-hidden": "true" },
    scale.ys.map((tick) => [
      s("line", { class: "rule", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: scale.y(tick), y2: scale.y(tick) }),
      s(
        "text",
        { x: EDGE.left - 7, y: scale.y(tick) + 4, "text-anchor": "end" },
        number(tick, 2)
          .replace(/(\.\d*?)0+$/, "$1")
          .replace(/\.$/, ""),
      ),
    ]),
    scale.xs.map((tick) => s("text", { x: scale.x(tick), y: bottom + 16, "text-anchor": "middle" }, number(tick))),
    s("line", { class: "axis", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: bottom, y2: bottom }),
    s("text", { x: WIDTH - EDGE.right, y: HEIGHT - 4, "text-anchor": "end" }, x),
    y ? s("text", { x: 4, y: 11 }, y) : null,
  );
}

function line(one, scale) {
  const places = one.points.map(([x, y]) => `${scale.x(x).toFixed(1)},${scale.y(y).toFixed(1)}`);
  const marks = one.points.length <= 30;
  return s(
    "g",
    { class: `series c${one.place % 6}` },
    s("polyline", { points: places.join(" ") }),
    marks &&
      one.points.map(([x, y]) =>
        s(
          "circle",
          { cx: scale.x(x), cy: scale.y(y), r: 3 },
          s("title", {}, `${one.name ?? ""} ${number(x)}: ${number(y)}`),
        ),
      ),
  );
}

function key(series) {
  return h(
    "p",
    { class: "legend" },
    series.map((one) =>
      h(
        "span",
        { class: "legend-item" },
        s(
          "svg",
          { viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" },
          s("g", { class: `series c${one.place % 6}` }, s("polyline", { points: "0,4 28,4" })),
        ),
        one.name,
      ),
    ),
  );
}

function summary(one) {
  const [first, last] = [one.points[0], one.points.at(-1)];
  return `${one.name ?? ""}: ${number(first[1])} at ${number(first[0])}, ${number(last[1])} at ${number(last[0])}.`;
}

function numbers(title, x, series) {
  const places = [...new Set(series.flatMap((one) => one.points.map(([at]) => at)))].sort((a, b) => a - b);
  const columns = series.map((one) => {
    const values = new Map(one.points);
    return { title: one.name ?? "value", number: true, cell: (at) => number(values.get(at)) };
  });
  return table(`${title}: numbers`, [{ title: x, number: true, cell: (at) => number(at) }, ...columns], places, {
    hidden: true,
  });
}
