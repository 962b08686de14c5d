// The one box: entities, relations and questions.

import * as api from "./api.js";
import { completion } from "./completion.js";
import { shown } from "./names.js";
import { entityLink, go, link, questionLink, relationLink } from "./route.js";

/** Return the box. */
export function searchBox({ visibleLabel = false } = {}) {
  return completion({
    label: "Search",
    placeholder: "Search, or ask: relation(subject, ?)",
    visibleLabel,
    suggest,
    choose: ({ address, fill }, input) => {
      if (address) {
        input.value = "";
        input.blur();
        go(address);
      } else {
        input.value = fill;
        input.dispatchEvent(new Event("input"));
      }
    },
    enter: (text, first, input) => {
      if (!text) return;
      input.blur();
      if (/\(.*\)/s.test(text)) go(link("question", { q: text }));
      else if (first?.address) go(first.address);
      else go(link("search", { q: text }));
    },
  });
}

/** Return suggestions for what was typed. */
export async function suggest(text) {
  const typed = text.trim();
  if (!typed) return [];
  if (typed.includes("(")) return questionParts(typed);
  const [entities, relations, questions] = await Promise.all([
    api.entities(typed, 6),
    api.relations(typed, 4),
    fromWords(typed),
  ]);
  return [
    ...questions,
    ...relations.flatMap((one, place) => [
      { kind: "relation", text: shown(one.name), address: relationLink(one.name) },
      ...(place
        ? []
        : [{ kind: "question", text: `${shown(one.name)}(…, ?)`, fill: `${one.name}(`, note: "go on typing" }]),
    ]),
    ...entities.map((one) => ({
      kind: "entity",
      text: shown(one.name),
      note: shown(one.name) === one.name ? null : one.name,
      address: entityLink(one.name),
    })),
  ];
}

/** Complete `relation(subject, object)` part by part. */
async function questionParts(typed) {
  const open = typed.indexOf("(");
  const relation = typed.slice(0, open).trim();
  const inside = typed.slice(open + 1).replace(/\)\s*\.?$/, "");
  const comma = inside.lastIndexOf(",");
  const whole = typed.endsWith(")");
  if (whole) return [{ kind: "question", text: typed, address: link("question", { q: typed }) }];
  const [known] = relation === "?" ? [{ name: null }] : await api.relations(relation, 1);
  if (!known) return [];
  if (comma < 0) {
    const found = await api.entities(inside.trim().replace(/^\?$/, ""), 6);
    const ask =
      known.name === null
        ? []
        : [{ kind: "question", text: `${relation}(?, …`, note: "who or what?", fill: `${relation}(?, ` }];
    return [
      ...(inside.trim() ? [] : ask),
      ...found.map((one) => ({
        kind: "subject",
        text: `${relation}(${shown(one.name)}, …`,
        fill: `${relation}(${one.name}, `,
      })),
    ];
  }
  const subject = inside.slice(0, comma).trim();
  const last = inside.slice(comma + 1).trim();
  const asked = subject === "?" ? null : subject;
  const answers = asked !== null && known.name !== null && (!last || last === "?");
  const ask = answers
    ? [{ kind: "question", text: `${relation}(${subject}, ?)`, address: questionLink(asked, known.name, null) }]
    : [];
  const found = last === "?" ? [] : await api.entities(last, 6);
  return [
    ...ask,
    ...found.map((one) => ({
      kind: asked === null || known.name === null ? "question" : "fact",
      text: `${relation}(${subject}, ${shown(one.name)})`,
      address:
        asked === null || known.name === null
          ? questionLink(asked, known.name, one.name)
          : link("fact", { subject: asked, relation: known.name, object: one.name }),
    })),
  ];
}

/** "Spain borders" and "borders Spain" are questions too. */
async function fromWords(typed) {
  const words = typed.split(/\s+/);
  if (words.length < 2 || words.length > 8) return [];
  const splits = [...new Set([1, words.length - 1])];
  const found = await Promise.all(
    splits.flatMap((place) => {
      const [left, right] = [words.slice(0, place).join(" "), words.slice(place).join(" ")];
      return [pair(left, right, false), pair(right, left, true)];
    }),
  );
  return found.filter(Boolean).slice(0, 3);
}

async function pair(entityText, relationText, asksSubject) {
  const [[entity], [relation]] = await Promise.all([
    api.entities(entityText, 1),
    api.relations(relationText.replace(/\s+/g, "_"), 1),
  ]);
  const found = relation ?? (await api.relations(relationText, 1))[0];
  if (!entity || !found) return null;
  const [name, verb] = [shown(entity.name), shown(found.name)];
  return asksSubject
    ? { kind: "question", text: `${verb}(?, ${name})`, address: questionLink(null, found.name, entity.name) }
    : { kind: "question", text: `${verb}(${name}, ?)`, address: questionLink(entity.name, found.name, null) };
}
