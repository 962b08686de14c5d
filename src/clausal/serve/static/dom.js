// Elements made in one call: h("a", {href: "#/", onclick: f}, "text", child).

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && element.tagName !== "LI") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Make an HTML element. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Tell a screen reader something that changed on the page. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Call a function when nothing has happened for some milliseconds. */
export function debounced(milliseconds, call) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}

let numbers = 0;

/** Return an id that no other element has. */
export function freshId(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}

/** A button. */
export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** A part of a page with its heading. */
export function section(title, ...children) {
  const id = freshId("part");
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** A table: columns are {title, cell(row), number?, sort?(row)}; a click on a title that sorts, sorts. */
export function table(caption, columns, rows, { hidden = false } = {}) {
  const body = h("tbody");
  const shown = (order) =>
    body.replaceChildren(
      ...order.map((row) =>
        h(
          "tr",
          {},
          columns.map((c) => h("td", { class: c.number ? "number" : null }, c.cell(row))),
        ),
      ),
    );
  const heads = columns.map((column) => {
    const head = h("th", { scope: "col", class: column.number ? "number" : null });
    if (!column.sort) return fill(head, {}, [column.title]);
    const sorted = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      shown([...rows].sort((a, b) => compare(column.sort(a), column.sort(b)) * (down ? -1 : 1)));
    };
    return fill(head, {}, [button(column.title, sorted, { class: "sorter" })]);
  });
  shown(rows);
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: hidden ? "sr" : null }, caption), h("thead", {}, h("tr", {}, heads)), body),
  );
}

function compare(a, b) {
  const [x, y] = [a ?? -Infinity, b ?? -Infinity];
  return typeof x === "string" ? x.localeCompare(String(y)) : x - y;
}
