// A text box with suggestions below it, by keyboard, pointer and screen reader (the ARIA pattern "combobox").

import { announce, debounced, freshId, h } from "./dom.js";

/**
 * Make a box: `suggest(text)` returns [{text, kind, note?, value}], `choose(suggestion)` is called with the one taken,
 * and `enter(text)` with what was typed where none was.
 */
export function completion({
  label,
  placeholder = "",
  value = "",
  suggest,
  choose,
  enter = () => {},
  visibleLabel = true,
  type = "search",
}) {
  const [inputId, listId] = [freshId("box"), freshId("list")];
  const list = h("ul", { id: listId, role: "listbox", "aria-label": label, class: "suggestions", hidden: true });
  const input = h("input", {
    id: inputId,
    type,
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    placeholder,
    value,
    "aria-expanded": "false",
    "aria-controls": listId,
    "aria-autocomplete": "list",
  });
  let [found, active, asked, moved] = [[], -1, 0, false];

  const close = () => {
    asked += 1; // what is still asked for comes too late
    [found, active, moved] = [[], -1, false];
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (place) => {
    active = place;
    [...list.children].forEach((item, one) => item.setAttribute("aria-selected", String(one === place)));
    const item = list.children[place];
    if (item) {
      input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const take = (suggestion) => {
    close();
    choose(suggestion, input);
  };
  const ask = debounced(80, async () => {
    const number = (asked += 1);
    const answer = await suggest(input.value).catch(() => []);
    if (number !== asked || document.activeElement !== input) return;
    found = answer;
    list.replaceChildren(
      ...found.map((one) =>
        h(
          "li",
          {
            role: "option",
            id: freshId("option"),
            "aria-selected": "false",
            onpointerdown: (event) => {
              event.preventDefault();
              take(one);
            },
          },
          h("span", { class: "kind" }, one.kind),
          h("span", { class: "option-text" }, one.text),
          one.note ? h("span", { class: "muted" }, one.note) : null,
        ),
      ),
    );
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(Boolean(found.length)));
    mark(-1);
    announce(found.length ? `${found.length} suggestions` : "No suggestions");
  });
  input.addEventListener("input", ask);
  input.addEventListener("focus", ask);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) ask();
      else mark((active + (event.key === "ArrowDown" ? 1 : found.length + (active < 0 ? 1 : 0) - 1)) % found.length);
      moved = true;
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) take(found[active]);
      else {
        const [text, first] = [input.value.trim(), found[0]];
        close();
        enter(text, first, input);
      }
    } else if (event.key === "Escape") close();
  });
  const name = h("label", { for: inputId, class: visibleLabel ? null : "sr" }, label);
  return { element: h("div", { class: "completion" }, name, input, list), input };
}
