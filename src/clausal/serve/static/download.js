// What is shown, as files: pictures as SVG, tables as CSV and JSON, pages as one HTML file without scripts.

import { button, h } from "./dom.js";

const LOOKS = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
  "paint-order",
  "text-anchor",
];

/** Save text as a file. */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name.replace(/[\\/:*?"<>|]+/g, " ").trim() });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Copy a picture with its looks written into it, so that it needs no style sheet. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [originals, copies] = [
    [svg, ...svg.querySelectorAll("*")],
    [copy, ...copy.querySelectorAll("*")],
  ];
  originals.forEach((original, place) => {
    const looks = getComputedStyle(original);
    for (const property of LOOKS) {
      const value = looks.getPropertyValue(property);
      if (value) copies[place].setAttribute(property, value);
    }
    for (const name of ["class", "tabindex", "role", "data-name"]) copies[place].removeAttribute(name);
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return copy;
}

/** Save a picture as an SVG file. */
export function saveSvg(svg, name) {
  const copy = standalone(svg);
  const [x, y, width, height] = copy.getAttribute("viewBox").split(" ");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({
    x,
    y,
    width,
    height,
    fill: getComputedStyle(document.body).backgroundColor,
  }))
    ground.setAttribute(key, value);
  copy.prepend(ground);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  save(name, "image/svg+xml", new XMLSerializer().serializeToString(copy));
}

/** Return rows of objects as CSV (RFC 4180). */
export function toCsv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value) => {
    const text =
      value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return (
    [columns, ...rows.map((row) => columns.map((column) => row[column]))]
      .map((row) => row.map(cell).join(","))
      .join("\r\n") + "\r\n"
  );
}

/** The buttons that save a table. */
export function saveButtons(name, rows) {
  const all = () => (typeof rows === "function" ? rows() : rows);
  return h(
    "div",
    { class: "saving", "data-not-exported": true },
    button("CSV", () => save(`${name}.csv`, "text/csv", toCsv(all())), { "aria-label": `Save ${name} as CSV` }),
    button("JSON", () => save(`${name}.json`, "application/json", JSON.stringify(all(), null, 2)), {
      "aria-label": `Save ${name} as JSON`,
    }),
    button("Copy link", (event) => copyLink(event.currentTarget), { "aria-label": `Copy a link to ${name}` }),
  );
}

async function copyLink(pressed) {
  try {
    await navigator.clipboard.writeText(location.href);
    pressed.textContent = "Copied";
  } catch {
    pressed.textContent = "See the address bar";
  }
  setTimeout(() => {
    pressed.textContent = "Copy link";
  }, 2_000);
}

/** Return one HTML file of pages [{address, title, nodes}]: no scripts, links only among the pages in it. */
export async function document_of(title, pages) {
  const sheets = [...document.querySelectorAll('link[rel="stylesheet"]')];
  const style = (await Promise.all(sheets.map(async (sheet) => (await fetch(sheet.href)).text()))).join("\n");
  const places = new Map(pages.map((page, place) => [page.address, `page-${place + 1}`]));
  const parts = pages.map((page, place) => {
    const part = h("article", { id: `page-${place + 1}`, class: "exported" }, ...page.nodes);
    part.querySelectorAll("button, input, select, form, [data-not-exported]").forEach((one) => one.remove());
    part.querySelectorAll("details").forEach((one) => {
      one.open = one.open || !one.querySelector("table");
    });
    for (const link of part.querySelectorAll("a[href]")) {
      const target = places.get(link.getAttribute("href"));
      if (target) link.setAttribute("href", `#${target}`);
      else link.replaceWith(...link.childNodes);
    }
    part.querySelectorAll("[role=button]").forEach((one) => {
      one.removeAttribute("tabindex");
      one.setAttribute("role", "img");
    });
    return part.outerHTML;
  });
  const contents = pages
    .map((page, place) => `<li><a href="#page-${place + 1}">${escaped(page.title)}</a></li>`)
    .join("");
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escaped(title)}</title><style>${style}</style></head>\n<body><main><h1>${escaped(title)}</h1><nav aria-label="Contents"><ol>${contents}</ol></nav>\n${parts.join("\n")}\n</main></body></html>\n`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
