// Certificates on demand: the job is started, and its progress is shown until it is done.

import * as api from "./api.js";
import { announce, button, h } from "./dom.js";
import { number } from "./names.js";

/** A button that certifies clauses, all without ids, and then calls `done`. */
export function certifyButton(text, ids, done) {
  const bar = h("progress", { "aria-label": "Progress of the certificates", hidden: true });
  const note = h("span", { class: "muted", role: "status" });
  const pressed = button(text, async () => {
    pressed.disabled = true;
    bar.hidden = false;
    try {
      const started = await api.certify(ids);
      const result = await finished(started.job, bar, note);
      announce("The certificates are there.");
      done(result);
    } catch (error) {
      note.textContent = error.message;
      pressed.disabled = false;
    }
    bar.hidden = true;
  });
  return h("p", { class: "row", "data-not-exported": true }, pressed, bar, note);
}

async function finished(id, bar, note) {
  for (let wait = 100; ; wait = Math.min(1000, wait * 1.5)) {
    const job = await api.job(id);
    if (job.total) [bar.max, bar.value] = [job.total, job.done];
    note.textContent = job.total ? `${number(job.done)} of ${number(job.total)}` : "";
    if (job.state === "done") return job.result;
    if (job.state === "failed" || job.state === "cancelled")
      throw new Error(job.error ?? "The certificates could not be computed.");
    await new Promise((next) => setTimeout(next, wait));
  }
}

const MEANING = {
  "holds for all": "The model cannot break it, whatever the entities' vectors are: this is proved.",
  "holds on this graph": "No entity of this graph breaks it, but other vectors could.",
  "holds for decisions": "Scores of this graph's entities differ from it, but no fact that the model accepts breaks it.",
  violated: "Entities of this graph break it: see the worst example.",
  "not for all": "Some vectors break it; the entities of this graph were not checked.",
  unknown: "The bound is too loose to tell, and the entities were not checked.",
};

/** A verdict as a mark. */
export function verdict(certificate) {
  if (!certificate) return h("span", { class: "muted open-verdict" }, "not certified");
  const kind =
    { "holds for all": "good", "holds on this graph": "fair", "holds for decisions": "fair", violated: "bad" }[
      certificate.verdict
    ] ?? "open";
  return h("span", { class: `verdict ${kind}`, title: MEANING[certificate.verdict] }, certificate.verdict);
}

/** What a verdict means, in a sentence. */
export function meaning(certificate) {
  return MEANING[certificate.verdict] ?? "";
}
