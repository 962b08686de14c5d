// Dark or light: as the system says, unless it was chosen here.

import { button } from "./dom.js";

const KEY = "clausal-theme";
const chosen = localStorage.getItem(KEY);
if (chosen) document.documentElement.dataset.theme = chosen;

/** The button that changes between dark and light. */
export function themeButton() {
  const dark = () =>
    (document.documentElement.dataset.theme ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const pressed = button(
    "",
    () => {
      const next = dark() ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      localStorage.setItem(KEY, next);
      say();
    },
    { class: "theme" },
  );
  const say = () => {
    pressed.textContent = dark() ? "☀" : "☾";
    pressed.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
  };
  say();
  return pressed;
}
