// Where we are: everything on a page is in its address, #/page?name=value, so that each view can be sent as a link.

/** Return the page and parameters of an address. */
export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { page: decodeURIComponent(path || ""), params: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/** Return the address of a page; parameters without a value are left out, and the run that is looked at goes along. */
export function link(page, params = {}) {
  const run = "run" in params ? params.run : here().params.run;
  const kept = Object.entries({ ...params, run }).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const query = new URLSearchParams(kept).toString();
  return `#/${page}${query ? `?${query}` : ""}`;
}

/** Return the page and parameters that are shown. */
export function here() {
  return parse(location.hash);
}

/** Go to an address. */
export function go(address) {
  if (location.hash === address) dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = address;
}

/** Change parameters of the address without a new entry in the history and without drawing the page again. */
export function remember(params) {
  const now = here();
  history.replaceState(null, "", link(now.page, { ...now.params, ...params }));
}

export const entityLink = (name) => link("entity", { name });
export const relationLink = (name) => link("relation", { name });
export const clauseLink = (id) => link("clause", { id });
export const factLink = (fact) => link("fact", { subject: fact.subject, relation: fact.relation, object: fact.object });
export const questionLink = (subject, relation, object, more = {}) =>
  link("question", { subject, relation, object, ...more });
