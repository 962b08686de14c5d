// Three boxes for a question: subject, relation and object, of which one is left open.

import * as api from "./api.js";
import { completion } from "./completion.js";
import { h } from "./dom.js";
import { shown } from "./names.js";
import { go, questionLink } from "./route.js";

/** Return the form, filled with what is known of the question. */
export function questionForm({ subject = null, relation = null, object = null, more = {} } = {}) {
  const note = h("p", { class: "problem", role: "alert", hidden: true });
  const boxes = [
    box("Subject", subject, (text) => api.entities(text, 8), "entity"),
    box("Relation", relation, (text) => api.relations(text, 8), "relation"),
    box("Object", object, (text) => api.entities(text, 8), "entity"),
  ];
  const form = h(
    "form",
    { class: "question-form", "data-not-exported": true },
    boxes.map((one) => one.element),
    h("button", { type: "submit", class: "primary" }, "Ask"),
    note,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [s, r, o] = boxes.map((one) => one.value());
    const open = [s, r, o].filter((one) => one === null).length;
    if (open > 1) {
      note.textContent = "Leave only one box open (or with “?”): the one that is asked for.";
      note.hidden = false;
    } else if (open === 0) go(questionLink(s, r, o).replace("#/question", "#/fact"));
    else go(questionLink(s, r, o, more));
  });
  return form;
}

/** A box shows names as people do, and gives them back in full. */
function box(label, value, suggest, kind) {
  let full = value;
  const made = completion({
    label,
    placeholder: "?",
    value: value === null || value === undefined ? "" : shown(value),
    type: "text",
    suggest: async (text) =>
      (await suggest(text.trim() === "?" ? "" : text)).map((one) => ({
        kind,
        text: shown(one.name),
        note: shown(one.name) === one.name ? null : one.name,
        value: one.name,
      })),
    choose: (one, input) => {
      full = one.value;
      input.value = shown(one.value);
    },
    enter: (text, first, input) => input.form.requestSubmit(),
  });
  return {
    element: made.element,
    value: () => {
      const text = made.input.value.trim();
      if (text === "" || text === "?") return null;
      return full && text === shown(full) ? full : text;
    },
  };
}
