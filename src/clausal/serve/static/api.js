// The service: one function for each of its endpoints that the explorer uses (docs/reference/service.md).

import { learn } from "./names.js";
import { here } from "./route.js";

const TOKEN = "clausal-token";

/** What the service refused, with what to do about it. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function call(path, { params = {}, body = null, run = here().params.run } = {}, tries = 2) {
  const given = Object.entries(body ? {} : { ...params, run }).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const query = new URLSearchParams(given).toString();
  const headers = { accept: "application/json" };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.authorization = `Bearer ${token}`;
  if (body) headers["content-type"] = "application/json";
  const options = body ? { method: "POST", headers, body: JSON.stringify(run ? { run, ...body } : body) } : { headers };
  let response;
  try {
    response = await fetch(`v1/${path}${query ? `?${query}` : ""}`, options);
  } catch {
    throw new Refused(
      0,
      "The service does not answer. Is `clausal serve` still running? Start it again and reload this page.",
    );
  }
  if ((response.status === 429 || response.status === 503) && tries > 0) {
    const seconds = Number(response.headers.get("retry-after") ?? 1);
    await new Promise((done) => setTimeout(done, Math.min(5, seconds) * 1000));
    return call(path, { params, body, run }, tries - 1);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, answer.detail ?? `The service answered ${response.status}.`);
  learn(answer.names);
  return answer;
}

/** Keep the token of the service for as long as this tab is open. */
export function useToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

const cached = new Map();

/** Ask once: what does not change while the page is open. */
function once(key, ask) {
  if (!cached.has(key))
    cached.set(
      key,
      ask().catch((error) => {
        cached.delete(key);
        throw error;
      }),
    );
  return cached.get(key);
}

/** Remember how the names that were found are shown. */
function named(found) {
  learn(Object.fromEntries(found.map((one) => [one.name, one.label ?? (one.short === one.name ? null : one.short)])));
  return found;
}

const own = () => here().params.run ?? "";

export const runs = () => once("runs", () => call("runs", { run: null })).then((answer) => answer.runs);
export const run = (name = own()) => call("run", { run: name });
export const log = (name = own(), after = -1) => call("run/log", { params: { after }, run: name });
export const entities = (q, limit = 8) =>
  call("entities", { params: { q, limit } }).then((answer) => named(answer.entities));
export const relations = (q, limit = 8) =>
  call("relations", { params: { q, limit } }).then((answer) => named(answer.relations));
export const relation = (name) => call("relation", { params: { name } });
export const entity = (name) => call("entity", { params: { name } });
export const predicted = (name, k = 20) =>
  call("entity/predicted", { params: { name, k } }).then((answer) => answer.facts);
export const neighbours = (name, limit = 40) =>
  call("entity/neighbours", { params: { name, limit } }).then((answer) => answer.facts);
export const nearest = (name, k = 8) =>
  call("entity/nearest", { params: { name, k } }).then((answer) => answer.nearest);
export const predict = (query, options = {}, run = here().params.run) =>
  call("predict", { body: { queries: [query], ...options }, run }).then((answer) => answer.results[0]);
export const prove = (fact, most = 3) => call("prove", { body: { fact, most } });
export const clauses = () => call("clauses");
export const clause = (id) => call(`clauses/${encodeURIComponent(id)}`);
export const violations = (id) => call(`clauses/${encodeURIComponent(id)}/violations`);
export const certify = (ids) => call("certify", { body: ids ? { clauses: ids } : {} });
export const job = (id) => call(`jobs/${encodeURIComponent(id)}`, { run: null });
export const whatIf = (body) => call("whatif", { body });
export const suggestions = () => call("suggestions").then((answer) => answer.facts);
