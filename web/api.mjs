// api.mjs - requests to the service, and the key that they carry

/**
 * The types of docs/http.md, as far as the page reads them.
 * @typedef {{id: string, security: string[]}} Key
 * @typedef {{identical: 'no'|'tokens'|'bytes', resemblance: number|null, shared: number|null,
 *   shingles: [number, number]|null, distance: number|null}} Evidence
 * @typedef {{in: 'nothing'|'order'|'dates'|'numbers'|'names'|'words', this: string[], other: string[], words?: [number, number]}} Differs
 * @typedef {Key & {title: string|null, visited: string, evidence: Evidence, differs?: Differs}} Nearest
 * @typedef {{security_sets: number, candidates: number, comparisons: number, pairs: number}} Work
 * @typedef {{id?: string, security?: string[], verdict: 'new'|'duplicate'|'near-duplicate',
 *   of: Key|null, evidence: Evidence|null, nearest: Nearest[], cluster: Nearest|null,
 *   tokens: number, shingles: number, simhash: string|null, short: boolean, empty: boolean, cut: boolean, work: Work, stored?: boolean, durable?: boolean,
 *   version?: number|null, changed?: boolean|null, distance?: number|null}} Verdict
 * @typedef {Key & {title: string|null, created: string, updated: string, visited: string, version: number,
 *   tokens: number, shingles: number, simhash: string|null, bytes: number, due: string,
 *   interval: number, visits: number, changes: number, priority: number}} StoredDocument
 * @typedef {{version: number, time: string, visited: string, distance: number|null,
 *   simhash: string|null, tokens: number, shingles: number, bytes: number}} Version
 * @typedef {Key & {versions: Version[], total: number}} Versions
 * @typedef {Key & {documents: (StoredDocument & {leads: boolean, evidence: Evidence|null})[],
 *   total: number, cut: boolean, work: Work}} Neighbours
 * @typedef {{kind: 'keep'|'replace'|'remove'|'insert', a: number, b: number, tokens: number,
 *   a_offset: number, a_bytes: number, b_offset: number, b_bytes: number}} Edit
 * @typedef {{token: number, tokens: number, offset: number, bytes: number}} Span
 * @typedef {{bytes: number, tokens: number, terms: number, shingles: number}} Compared
 * @typedef {{a: Compared, b: Compared, same_bytes: boolean, same_words: boolean,
 *   shared_shingles: number, resemblance: number, containment_a: number, containment_b: number,
 *   hamming: number, cosine: number, edit_distance: number|null, edit_limit?: number,
 *   edits: Edit[], covered_a: number, covered_b: number,
 *   passages: {a: Span, b: Span, equal: number, text: string}[]}} Comparison
 * @typedef {{documents: (StoredDocument & {is_due: boolean, gap: number|null, why: string})[], time: string}} CrawlList
 * @typedef {{documents: StoredDocument[], next: string|null, time: string}} DocumentList
 * @typedef {'size'|'newest'|'growth'} ClusterOrder
 * @typedef {{leader: StoredDocument, size: number, newest: string, last_hour: number, last_day: number}} Cluster
 * @typedef {{clusters: Cluster[], total: number, documents: number, cut: boolean,
 *   next: string|null, time: string, work: Work}} ClusterList
 * @typedef {{you: {security: string[], administrator: boolean},
 *   visible: {documents: number, versions: number, contents: number, text_bytes: number,
 *     security_sets: number, due: number},
 *   recipe: {fingerprint: string, text: string, least: number|null}, store?: Record<string, unknown>|null}} Stats
 */

const STORED_AS = 'neardup-key';

/** An error that the service explains (RFC 9457), or that it could not: status 0. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {string} title
   * @param {string} detail
   * @param {number} [retryAfter] seconds
   */
  constructor(status, title, detail, retryAfter = 0) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

let key = '';
try {
  key = sessionStorage.getItem(STORED_AS) ?? '';
} catch { /* A browser that keeps nothing: the key stays in memory. */ }

export const hasKey = () => key !== '';

/**
 * Send this key from now on.
 * @param {string} value empty: none
 * @param {boolean} keep until the tab is closed; else until the page is left
 */
export function setKey(value, keep) {
  key = value;
  try {
    sessionStorage.removeItem(STORED_AS);
    if (value && keep) sessionStorage.setItem(STORED_AS, value);
  } catch { /* as above */ }
}

/**
 * @param {Response} response
 * @returns {Promise<Problem>}
 */
async function problemOf(response) {
  const retryAfter = Number(response.headers.get('Retry-After')) || 0;
  try {
    const said = await response.json();
    return new Problem(response.status, String(said.title ?? ''), String(said.detail ?? ''), retryAfter);
  } catch {
    return new Problem(response.status, response.statusText, '', retryAfter);
  }
}

/**
 * @param {string} path
 * @param {{body?: object, signal?: AbortSignal|undefined}} [options] with a body it is a POST
 * @returns {Promise<any>}
 */
async function request(path, {body, signal} = {}) {
  /** @type {Record<string, string>} */
  const headers = {Accept: 'application/json'};
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method: body ? 'POST' : 'GET',
      body: body ? JSON.stringify(body) : null,
      headers,
      signal: signal ?? null,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'The service does not answer', '');
  }
  if (!response.ok) throw await problemOf(response);
  try {
    return await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'The answer was cut off', '');
  }
}

/**
 * @param {Record<string, string|number|string[]|null|undefined>} values lists become a,b
 */
function query(values) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined) search.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  const text = search.toString();
  return text && `?${text}`;
}

/** @param {string} id */
const at = (id) => `v1/documents/${encodeURIComponent(id)}`;

/**
 * A document, by id and security labels; security null: whichever has this id.
 * @typedef {{id: string, security: string[]|null}} Which
 */

/** @param {AbortSignal} [signal] @returns {Promise<Stats>} */
export const getStats = (signal) => request('v1/stats', {signal});

/** @param {object} document @param {AbortSignal} [signal] @param {number} [least] of resemblance @returns {Promise<Verdict>} */
export const checkText = (document, signal, least) => request(`v1/query${query({differs: 1, at: least})}`, {body: document, signal});

/** @param {object} document @param {boolean} dry @param {AbortSignal} [signal] @returns {Promise<Verdict>} */
export const storeDocument = (document, dry, signal) =>
  request(`v1/documents${query({differs: 1, dry: dry ? 1 : null})}`, {body: document, signal});

/** @param {Which} which @param {AbortSignal} [signal] @returns {Promise<StoredDocument & {text: string}>} */
export const getDocument = ({id, security}, signal) => request(at(id) + query({security}), {signal});

/** @param {Which} which @param {AbortSignal} [signal] @returns {Promise<Versions>} */
export const getVersions = ({id, security}, signal) =>
  request(`${at(id)}/versions${query({security, limit: 10000})}`, {signal});

/** @param {Which} which @param {AbortSignal} [signal] @param {number} [limit] @returns {Promise<Neighbours>} */
export const getNear = ({id, security}, signal, limit) => request(`${at(id)}/near${query({security, limit})}`, {signal});

/** @param {Which} which @param {AbortSignal} [signal] @returns {Promise<Neighbours>} */
export const getCluster = ({id, security}, signal) => request(`${at(id)}/cluster${query({security})}`, {signal});

/** @param {Which} a @param {Which} b @param {AbortSignal} [signal] @returns {Promise<Comparison>} */
export const getComparison = (a, b, signal) =>
  request(`v1/compare${query({a: a.id, b: b.id, a_security: a.security, b_security: b.security})}`, {signal});

/** @param {number} limit @param {AbortSignal} [signal] @returns {Promise<CrawlList>} */
export const getCrawl = (limit, signal) => request(`v1/crawl${query({limit})}`, {signal});

/**
 * @param {{site?: string|null, title?: string|null, since?: string|null, cursor?: string, limit: number}} asked
 * @param {AbortSignal} [signal]
 * @returns {Promise<DocumentList>}
 */
export const getDocuments = (asked, signal) => request(`v1/documents${query(asked)}`, {signal});

/** @param {{order: ClusterOrder, cursor?: string, limit: number}} asked @param {AbortSignal} [signal] @returns {Promise<ClusterList>} */
export const getClusters = (asked, signal) => request(`v1/clusters${query(asked)}`, {signal});
