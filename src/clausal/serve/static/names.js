// How names are shown: a label where the service gave one, else the last part of an IRI, else the name itself.

const labels = new Map();

/** Remember what entities and relations are called in answers of the service. */
export function learn(more) {
  for (const [name, label] of Object.entries(more ?? {})) if (label) labels.set(name, label);
}

/** Return the words by which a name is shown. */
export function shown(name) {
  if (name === null || name === undefined) return "?";
  const label = labels.get(name);
  if (label) return label;
  const iri = /^<?(https?:|urn:)/.test(name);
  const last = iri
    ? name
        .replace(/[>/#]+$/, "")
        .split(/[/#]/)
        .pop()
    : name;
  return last || name;
}

/** Write a number so that it can be compared at a glance. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toPrecision(digits).replace(/\.?0+e/, "e");
  return size >= 100 ? value.toFixed(1) : value.toFixed(digits);
}

/** Write a probability or a share. */
export function percent(value) {
  if (value === null || value === undefined) return "–";
  if (value > 0 && value < 0.001) return "< 0.1 %";
  if (value < 1 && value > 0.999) return "> 99.9 %";
  return `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;
}

/** Write a count with its word. */
export function count(value, word, words = `${word}s`) {
  return `${value.toLocaleString("en")} ${value === 1 ? word : words}`;
}
