// The graph around something: nodes are entities, edges facts. A click on a node fetches what is around it.

import { announce, button, h, s, table } from "./dom.js";
import { STATUS, badge, look, sentence } from "./facts.js";
import { layout } from "./layout.js";
import { count, shown } from "./names.js";
import { entityLink } from "./route.js";
import { saveSvg } from "./download.js";

export const MOST_NODES = 150;

/** A graph of facts that grows: `more(name)` returns the facts around an entity, null for one that stays as it is. */
export class GraphView {
  constructor(title, facts, { centre = null, more = null } = {}) {
    Object.assign(this, {
      title,
      centre,
      more,
      nodes: new Map(),
      edges: new Map(),
      grown: new Set(centre ? [centre] : []),
    });
    this.svg = s("svg", { class: "network", role: "group", "aria-label": `${title}, a graph` });
    this.note = h("p", { class: "graph-note" });
    this.list = h("div");
    this.element = h(
      "div",
      { class: "graph" },
      h(
        "div",
        { class: "graph-bar" },
        button("+", () => this.scale(1 / 1.3), { "aria-label": "Zoom in" }),
        button("−", () => this.scale(1.3), { "aria-label": "Zoom out" }),
        button("Whole graph", () => this.fit()),
        button("Save picture", () => saveSvg(this.svg, `${title}.svg`)),
      ),
      this.svg,
      this.note,
      h("details", {}, h("summary", {}, "The facts in this picture"), this.list),
    );
    if (centre) this.nodes.set(centre, { id: centre });
    this.grabbed();
    this.add(facts);
    this.say(more ? "Choose an entity in the picture to show what is around it." : "");
  }

  /** Add facts, as many nodes as there is room for, and draw. */
  add(facts) {
    let left = 0;
    for (const fact of facts) {
      const names = [fact.subject, fact.object];
      const fresh = names.filter((name, place) => !this.nodes.has(name) && names.indexOf(name) === place);
      if (this.nodes.size + fresh.length > MOST_NODES) {
        left += 1;
        continue;
      }
      for (const name of fresh) this.nodes.set(name, { id: name });
      this.edges.set(JSON.stringify([fact.subject, fact.relation, fact.object]), fact);
    }
    const nodes = [...this.nodes.values()];
    const distance = nodes.length > 60 ? 75 : nodes.length > 6 ? 100 : 170;
    layout(
      nodes,
      [...this.edges.values()].map((fact) => ({ source: fact.subject, target: fact.object })),
      { distance },
    );
    this.fit();
    this.draw();
    return left;
  }

  async grow(name) {
    this.chosen = name;
    if (!this.more || this.grown.has(name)) return this.choose(name);
    this.grown.add(name);
    const before = this.nodes.size;
    let facts;
    try {
      facts = await this.more(name);
    } catch (error) {
      this.grown.delete(name);
      return this.say(error.message);
    }
    const left = this.add(facts);
    const added = this.nodes.size - before;
    const full = left ? ` ${count(left, "fact")} did not fit: a picture has at most ${MOST_NODES} entities.` : "";
    this.choose(name, `${count(added, "entity", "entities")} more.${full}`);
    this.svg.querySelector(`[data-name="${CSS.escape(name)}"]`)?.focus();
  }

  choose(name, text = "") {
    this.chosen = name;
    for (const node of this.svg.querySelectorAll(".node")) node.classList.toggle("chosen", node.dataset.name === name);
    this.note.replaceChildren(h("a", { href: entityLink(name) }, `Open ${shown(name)}`), ` ${text}`);
    announce(`${shown(name)}. ${text}`);
  }

  say(text) {
    this.note.replaceChildren(text);
  }

  draw() {
    const facts = [...this.edges.values()];
    const pairs = new Map(); // facts between the same two bend away from each other
    for (const fact of facts) {
      const pair = [fact.subject, fact.object].sort().join("\u0000");
      pairs.set(pair, [...(pairs.get(pair) ?? []), fact]);
    }
    const few = facts.length <= 20;
    const edges = [...pairs.values()].flatMap((some) =>
      some.map((fact, place) => this.edge(fact, place - (some.length - 1) / 2, few)),
    );
    const nodes = [...this.nodes.values()].map((node) => this.node(node));
    this.svg.replaceChildren(
      ...[edges.map((one) => one.line), edges.map((one) => one.text).filter(Boolean), nodes].flat(),
    );
    this.list.replaceChildren(
      table(
        "Facts in the picture",
        [
          { title: "fact", cell: sentence },
          { title: "status", cell: badge },
        ],
        facts,
        { hidden: true },
      ),
    );
  }

  edge(fact, place, few) {
    const [a, b] = [this.nodes.get(fact.subject), this.nodes.get(fact.object)];
    const title = s(
      "title",
      {},
      `${shown(fact.relation)}(${shown(fact.subject)}, ${shown(fact.object)}): ${STATUS[look(fact)].word}`,
    );
    const kind = `edge ${fact.look ?? look(fact)}`;
    if (a === b) {
      const path = `M${a.x - 5},${a.y - 8} c-26,-34 36,-34 10,0`;
      return { line: s("path", { class: kind, d: path }, title), text: null };
    }
    const [x, y] = [b.x - a.x, b.y - a.y];
    const length = Math.hypot(x, y) || 1;
    const bend = place * 36 * (fact.subject < fact.object ? 1 : -1);
    const [mx, my] = [(a.x + b.x) / 2 - (y / length) * bend, (a.y + b.y) / 2 + (x / length) * bend];
    const path = `M${a.x.toFixed(1)},${a.y.toFixed(1)} Q${mx.toFixed(1)},${my.toFixed(1)} ${b.x.toFixed(1)},${b.y.toFixed(1)}`;
    const [ex, ey] = [b.x - mx, b.y - my];
    const end = Math.hypot(ex, ey) || 1;
    const [ux, uy] = [ex / end, ey / end];
    const [tx, ty] = [b.x - ux * 10, b.y - uy * 10];
    const tip = `M${tx},${ty} l${-ux * 9 - uy * 4.5},${-uy * 9 + ux * 4.5} l${uy * 9},${-ux * 9}z`;
    const line = s("g", { class: kind }, title, s("path", { d: path }), s("path", { class: "tip", d: tip }));
    const [lx, ly] = [(a.x + b.x) / 4 + mx / 2, (a.y + b.y) / 4 + my / 2];
    const text = few
      ? s(
          "text",
          { class: "edge-name", x: lx, y: ly - 3, "text-anchor": "middle", "aria-hidden": "true" },
          short(shown(fact.relation).replaceAll("_", " "), 22),
        )
      : null;
    return { line, text };
  }

  node({ id, x, y }) {
    const act = () => this.grow(id);
    const kinds = [
      "node",
      id === this.centre && "centre",
      this.grown.has(id) && "grown",
      id === this.chosen && "chosen",
    ];
    const act_by_key = (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        act();
      } else if (event.key.startsWith("Arrow")) this.step(id, event);
    };
    return s(
      "g",
      {
        class: kinds.filter(Boolean).join(" "),
        role: "button",
        tabindex: id === (this.chosen ?? this.centre ?? [...this.nodes.keys()][0]) ? "0" : "-1",
        "data-name": id,
        "aria-label":
          this.more && !this.grown.has(id) ? `${shown(id)}: show what is around it` : `${shown(id)}: choose`,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        onclick: act,
        onkeydown: act_by_key,
      },
      s("title", {}, id),
      s("circle", { r: id === this.centre ? 10 : 7 }),
      s("text", { y: id === this.centre ? 24 : 20, "text-anchor": "middle" }, short(shown(id), 24)),
    );
  }

  /** Go with the arrow keys to the nearest node on that side. */
  step(from, event) {
    event.preventDefault();
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const own = this.nodes.get(from);
    const ahead = [...this.nodes.values()].filter((node) => (node.x - own.x) * dx + (node.y - own.y) * dy > 1);
    const cost = (node) =>
      Math.hypot(node.x - own.x, node.y - own.y) + 2 * Math.abs((node.x - own.x) * dy + (node.y - own.y) * dx);
    const next = ahead.sort((a, b) => cost(a) - cost(b))[0];
    if (!next) return;
    for (const node of this.svg.querySelectorAll(".node"))
      node.setAttribute("tabindex", node.dataset.name === next.id ? "0" : "-1");
    this.svg.querySelector(`[data-name="${CSS.escape(next.id)}"]`).focus();
  }

  fit() {
    const nodes = [...this.nodes.values()];
    const xs = nodes.map((node) => node.x);
    const ys = nodes.map((node) => node.y);
    const [left, right, top, bottom] = [
      Math.min(...xs) - 70,
      Math.max(...xs) + 70,
      Math.min(...ys) - 34,
      Math.max(...ys) + 40,
    ];
    const [width, height] = [Math.max(right - left, 460), Math.max(bottom - top, 300)];
    this.box = { x: (left + right - width) / 2, y: (top + bottom - height) / 2, width, height };
    this.show();
  }

  scale(by) {
    const { x, y, width, height } = this.box;
    this.box = {
      x: x + (width * (1 - by)) / 2,
      y: y + (height * (1 - by)) / 2,
      width: width * by,
      height: height * by,
    };
    this.show();
  }

  show() {
    const { x, y, width, height } = this.box;
    this.svg.setAttribute("viewBox", [x, y, width, height].map((value) => value.toFixed(1)).join(" "));
  }

  /** The background can be dragged. */
  grabbed() {
    let from = null;
    this.svg.addEventListener("pointerdown", (event) => {
      if (!event.target.closest(".node")) from = { x: event.clientX, y: event.clientY, box: { ...this.box } };
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!from) return;
      const part = this.box.width / this.svg.clientWidth;
      this.box = {
        ...from.box,
        x: from.box.x - (event.clientX - from.x) * part,
        y: from.box.y - (event.clientY - from.y) * part,
      };
      this.show();
    });
    for (const end of ["pointerup", "pointerleave"])
      this.svg.addEventListener(end, () => {
        from = null;
      });
  }
}

function short(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
