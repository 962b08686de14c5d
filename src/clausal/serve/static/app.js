// The explorer: draws the page that the address names. A page is a function of its parameters that returns its title
// and its nodes, and may return `live`, a function that is called to stop what it keeps doing.

import * as api from "./api.js";
import { button, h } from "./dom.js";
import { go, here, link } from "./route.js";
import { pages } from "./pages.js";
import { visited } from "./pages/export.js";
import { searchBox } from "./search.js";
import { themeButton } from "./theme.js";

const NAV = [
  ["", "Start"],
  ["question", "Ask"],
  ["clauses", "Clauses"],
  ["whatif", "What if"],
  ["training", "Training"],
  ["export", "Export"],
];
const OF = { clause: "clauses", fact: "question", compare: "training" };

const main = document.getElementById("main");
let drawing = 0;
let stop = null;

async function draw() {
  const number = (drawing += 1);
  const { page, params } = here();
  const first = number === 1;
  stop?.();
  stop = null;
  main.setAttribute("aria-busy", "true");
  frame(page);
  let drawn;
  try {
    const build = pages[page];
    drawn = build ? await build(params) : lost(page);
  } catch (error) {
    if (!(error instanceof api.Refused)) console.error(error);
    drawn = error.status === 401 ? askToken(error) : failed(error);
  }
  if (number !== drawing) {
    drawn.live?.();
    return;
  }
  stop = drawn.live ?? null;
  main.replaceChildren(...drawn.nodes);
  main.removeAttribute("aria-busy");
  main.dataset.drawn = location.hash;
  if (pages[page] && !drawn.failed && page !== "export") visited(location.hash || "#/", drawn.title);
  document.title = page ? `${drawn.title} · clausal` : "clausal";
  const heading = main.querySelector("h1");
  if (heading && !first) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function lost(page) {
  return {
    title: "No such page",
    nodes: [
      h("h1", {}, "No such page"),
      h("p", {}, `There is no page “${page}”. `, h("a", { href: link("") }, "Go to the start page"), "."),
    ],
  };
}

function failed(error) {
  return {
    title: "That did not work",
    failed: true,
    nodes: [
      h("h1", {}, "That did not work"),
      h("p", { class: "problem", role: "alert" }, error.message),
      h("p", {}, button("Try again", draw), " ", h("a", { href: link("") }, "Go to the start page")),
    ],
  };
}

function askToken(error) {
  const input = h("input", { type: "password", id: "token", autocomplete: "current-password" });
  const form = h(
    "form",
    { class: "row" },
    h("label", { for: "token" }, "Token"),
    input,
    h("button", { type: "submit" }, "Enter"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    api.useToken(input.value.trim());
    draw();
  });
  return {
    title: "Token",
    failed: true,
    nodes: [h("h1", {}, "This service asks for a token"), h("p", {}, error.message), form],
  };
}

function frame(page) {
  const nav = document.getElementById("nav");
  nav.replaceChildren(
    ...NAV.map(([to, text]) =>
      h("a", { href: link(to), "aria-current": to === (OF[page] ?? page) ? "page" : null }, text),
    ),
  );
  document.querySelector(".brand").setAttribute("href", link(""));
  tools();
}

async function tools() {
  const names = await api
    .runs()
    .then((runs) => runs.map((one) => one.name))
    .catch(() => []);
  const chosen = here().params.run ?? names[0];
  const choice = h(
    "select",
    { "aria-label": "Run", onchange: (event) => go(link("", { run: event.target.value })) },
    names.map((name) => h("option", { value: name, selected: name === chosen }, name)),
  );
  document.getElementById("tools").replaceChildren(...(names.length > 1 ? [choice] : []), themeButton());
  const about = await api.run().catch(() => null);
  const text = about
    ? `${about.name} · graph ${about.graph} · clausal ${about.version ?? ""} · everything on this page comes from this computer`
    : "";
  document.getElementById("footer").replaceChildren(text);
}

document.getElementById("search").append(searchBox().element);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    document.querySelector("#search input").focus();
  }
});
addEventListener("hashchange", draw);
draw();
