// mock.mjs - a small service with the answers of docs/http.md, for the tests of the page
//
// It keeps documents in memory and compares sets of three words; nothing of it is fast or durable.
import {createHash} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {createServer} from 'node:http';

const WEB = new URL('../../web/', import.meta.url);
const TYPES = {html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', mjs: 'text/javascript; charset=utf-8', json: 'application/json', svg: 'image/svg+xml'};
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const NOW = Date.parse('2026-03-01T12:00:00Z');

const hash = (text, n = 16) => createHash('sha256').update(text).digest('hex').slice(0, n);
/** What was made of a text before. */
const remembered = (make, known = new Map()) => (text) => {
  if (!known.has(text)) known.set(text, make(text));
  return known.get(text);
};
const words = remembered((text) => [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].map((m) => ({form: m[0].toLowerCase(), at: m.index, end: m.index + m[0].length})));
const shinglesOf = remembered((text) => new Set(words(text).map((w, i, all) => `${w.form} ${all[i + 1]?.form} ${all[i + 2]?.form}`)));
const time = (seconds) => new Date(NOW + seconds * 1000).toISOString().replace(/\.\d+/, '');
const bytesOf = (text) => Buffer.byteLength(text);

const bitsOf = remembered((text) => {
  let bits = 0n;
  const sums = new Array(64).fill(0);
  for (const s of [...shinglesOf(text)].slice(0, 1000)) {
    const h = BigInt(`0x${hash(s)}`);
    for (let i = 0; i < 64; i++) sums[i] += (h >> BigInt(i)) & 1n ? 1 : -1;
  }
  sums.forEach((s, i) => { if (s > 0) bits |= 1n << BigInt(i); });
  return bits;
});
const hex = (bits) => bits.toString(16).padStart(16, '0');
const apart = (a, b) => [...(a ^ b).toString(2)].filter((c) => c === '1').length;

function evidence(a, b) {
  const [one, two] = [shinglesOf(a), shinglesOf(b)];
  const shared = [...one].filter((s) => two.has(s)).length;
  const union = one.size + two.size - shared;
  const same = words(a).map((w) => w.form).join(' ') === words(b).map((w) => w.form).join(' ');
  return {identical: a === b ? 'bytes' : same ? 'tokens' : 'no', resemblance: union ? shared / union : 1, shared, shingles: [one.size, two.size], distance: apart(bitsOf(a), bitsOf(b))};
}

/** The words of one text alone; of their classes only two are told apart. */
function differs(a, b) {
  const [one, two] = [a, b].map((text) => new Set(words(text).map((w) => w.form)));
  const mine = [...one].filter((w) => !two.has(w)), others = [...two].filter((w) => !one.has(w));
  return {in: [...mine, ...others].every((w) => /^\d+$/.test(w)) ? 'numbers' : 'words', this: mine.slice(0, 16), other: others.slice(0, 16)};
}

class Refused extends Error {
  constructor(status, title, detail) {
    super(detail);
    Object.assign(this, {status, title, detail});
  }
}

export class Mock {
  /** @param {{key?: string, least?: number|null}} [options] key: without it every request to /v1 is refused; least: what at= may be */
  constructor({key = '', least = null} = {}) {
    this.key = key;
    this.least = least;
    this.documents = new Map();
    this.order = 0;
  }

  find(id, security) {
    const all = [...this.documents.values()].filter((d) => d.id === id && (security === null || d.security.join() === security));
    if (!all.length) throw new Refused(404, 'Not found', `no document has the id ${id}`);
    if (all.length > 1) throw new Refused(409, 'Ambiguous', 'several documents have this id: name the security labels');
    return all[0];
  }

  all() {
    return [...this.documents.values()].sort((a, b) => a.order - b.order);
  }

  judge(text, except, at = 0.5) {
    const found = this.all().filter((d) => d !== except).map((d) => ({d, e: evidence(text, d.text)}))
      .filter(({e}) => e.resemblance >= at || e.identical !== 'no').sort((a, b) => b.e.resemblance - a.e.resemblance);
    const others = found.filter(({e}) => e.resemblance >= 0.5 || e.identical !== 'no');
    const best = others[0];
    const n = shinglesOf(text).size;
    const nearest = ({d, e}) => ({id: d.id, security: d.security, title: d.title, visited: d.visited, evidence: e, ...(text !== d.text && {differs: differs(text, d.text)})});
    const first = others.toSorted((a, b) => a.d.order - b.d.order)[0];
    return {verdict: !best ? 'new' : best.e.identical !== 'no' ? 'duplicate' : 'near-duplicate', of: best ? {id: best.d.id, security: best.d.security} : null, evidence: best?.e ?? null,
      nearest: found.slice(0, 3).map(nearest), cluster: first ? nearest(first) : null,
      tokens: words(text).length, shingles: n, simhash: hex(bitsOf(text)), short: words(text).length < 3, empty: !words(text).length, cut: false,
      work: {security_sets: 1, candidates: others.length, comparisons: others.length, pairs: 0}};
  }

  put({id, security = [], text, html, title = /<title>([^<]*)/.exec(html)?.[1] ?? null}, dry) {
    text ??= html?.replace(/<[^>]*>/g, ' ');
    if (typeof text !== 'string') throw new Refused(422, 'Not a document', 'there is neither text nor html');
    id ??= hash(text, 32);
    const was = this.documents.get(JSON.stringify([id, security]));
    const verdict = this.judge(text, was);
    const changed = was ? was.text !== text : true;
    const distance = was ? apart(bitsOf(was.text), bitsOf(text)) : null;
    const version = (was?.versions.length ?? 0) + (changed ? 1 : 0);
    if (!dry) {
      const at = time(this.order++ * 3600 - 40 * 3600);
      const v = {version, time: at, visited: at, distance, simhash: verdict.simhash, tokens: verdict.tokens, shingles: verdict.shingles, bytes: bytesOf(text)};
      const versions = was ? (changed ? [...was.versions, v] : was.versions) : [v];
      this.documents.set(JSON.stringify([id, security]), {id, security, title, text, versions, created: was?.created ?? at, order: was && !changed ? was.order : this.order, visits: (was?.visits ?? 0) + 1, visited: at});
    }
    return {id, security, ...verdict, stored: !dry, durable: !dry, version, changed, distance};
  }

  row(d) {
    const last = d.versions.at(-1);
    return {id: d.id, security: d.security, title: d.title, created: d.created, updated: last.time, visited: d.visited, version: last.version, tokens: last.tokens, shingles: last.shingles,
      simhash: last.simhash, bytes: last.bytes, due: new Date(Date.parse(d.visited) + 86400e3).toISOString().replace(/\.\d+/, ''), interval: 86400, visits: d.visits, changes: d.versions.length - 1, priority: last.distance ?? 64};
  }

  /** A part of a list; the cursor is where the next one begins. */
  page(all, search) {
    const from = Number(search.get('cursor') ?? 0), limit = Number(search.get('limit') ?? 100);
    return {rows: all.slice(from, from + limit), next: from + limit < all.length ? String(from + limit) : null};
  }

  newest(search) {
    const since = {'1h': 3600, '1d': 86400, '7d': 604800}[search.get('since')];
    const asked = (search.get('title') ?? '').toLowerCase().split(' ').filter(Boolean);
    const taken = this.all().filter((d) => (!since || Date.parse(d.created) >= NOW - since * 1000) && (!search.get('site') || d.id.includes(`/${search.get('site')}/`))
      && asked.every((word) => words(d.title ?? '').some((w) => w.form === word)));
    const {rows, next} = this.page(taken.sort((a, b) => a.created < b.created ? 1 : a.created > b.created ? -1 : a.id < b.id ? 1 : -1), search);
    return {documents: rows.map((d) => this.row(d)), next, time: time(0)};
  }

  clusters(search) {
    const groups = new Map();
    for (const d of this.all()) {
      const leader = [...groups.keys()].find((l) => evidence(l.text, d.text).resemblance >= 0.5) ?? d;
      groups.set(leader, [...groups.get(leader) ?? [], d]);
    }
    const since = (ds, seconds) => ds.filter((d) => Date.parse(d.created) > NOW - seconds * 1000).length;
    const all = [...groups].filter(([, ds]) => ds.length > 1).map(([leader, ds]) => ({leader: this.row(leader), size: ds.length, newest: ds.map((d) => d.created).sort().at(-1), last_hour: since(ds, 3600), last_day: since(ds, 86400)}));
    const by = {newest: (c) => Date.parse(c.newest), growth: (c) => c.last_hour * 1e6 + c.last_day}[search.get('order')] ?? ((c) => c.size);
    const {rows, next} = this.page(all.sort((a, b) => by(b) - by(a)), search);
    return {clusters: rows, total: all.length, documents: this.documents.size, cut: false, next, time: time(0), work: {security_sets: 0, candidates: 0, comparisons: 0, pairs: 3}};
  }

  near(d, isCluster) {
    const rows = this.all().map((o) => ({...this.row(o), leads: false, evidence: evidence(d.text, o.text)})).filter((o) => o.evidence.resemblance >= 0.5);
    const others = rows.filter((o) => o.id !== d.id || o.security.join() !== d.security.join());
    const list = isCluster ? [{...this.row(d), leads: true, evidence: null}, ...others] : others;
    return {id: d.id, security: d.security, documents: list, total: list.length, cut: false, work: {security_sets: 1, candidates: list.length, comparisons: list.length, pairs: list.length}};
  }

  compare(a, b) {
    const e = evidence(a.text, b.text), [one, two] = [words(a.text), words(b.text)];
    const side = (d, w, n) => ({id: d.id, bytes: bytesOf(d.text), tokens: w.length, terms: new Set(w.map((x) => x.form)).size, shingles: n});
    const edits = [];
    let [i, j] = [0, 0];
    const put = (kind, n, m) => edits.push({kind, a: i, b: j, tokens: Math.max(n, m), ...place('a', a.text, one, i, n), ...place('b', b.text, two, j, m)});
    while (i < one.length && j < two.length && one[i].form === two[j].form) [i, j] = [i + 1, j + 1];
    const head = i;
    [i, j] = [0, 0];
    if (head) put('keep', head, head);
    [i, j] = [head, head];
    let tail = 0;
    while (tail < Math.min(one.length, two.length) - head && one.at(-1 - tail).form === two.at(-1 - tail).form) tail++;
    if (one.length - tail > i) put('remove', one.length - tail - i, 0);
    i = one.length - tail;
    if (two.length - tail > j) put('insert', 0, two.length - tail - j);
    j = two.length - tail;
    if (tail) put('keep', tail, tail);
    const cost = edits.filter((x) => x.kind !== 'keep').reduce((n, x) => n + x.tokens, 0);
    const passages = edits.filter((x) => x.kind === 'keep' && x.tokens >= 8).map((x) => ({a: {token: x.a, tokens: x.tokens, offset: x.a_offset, bytes: x.a_bytes},
      b: {token: x.b, tokens: x.tokens, offset: x.b_offset, bytes: x.b_bytes}, equal: x.tokens, text: Buffer.from(b.text).subarray(x.b_offset, x.b_offset + x.b_bytes).toString()}));
    const covered = passages.reduce((n, p) => n + p.equal, 0);
    return {a: side(a, one, e.shingles[0]), b: side(b, two, e.shingles[1]), same_bytes: a.text === b.text, same_words: e.identical !== 'no', shared_shingles: e.shared, resemblance: e.resemblance,
      resemblance_distance: 1 - e.resemblance, containment_a: e.shared / (e.shingles[0] || 1), containment_b: e.shared / (e.shingles[1] || 1), hamming: e.distance, shared_terms: 0, cosine: e.resemblance, inner: 0, cosine_tf: 0,
      conrad_schriber: false, edit_distance: cost, edits, covered_a: covered, covered_b: covered, passages};
  }

  stats() {
    const all = this.all();
    return {you: {security: [], administrator: true},
      visible: {documents: all.length, versions: all.reduce((n, d) => n + d.versions.length, 0), contents: new Set(all.map((d) => d.text)).size, text_bytes: all.reduce((n, d) => n + bytesOf(d.text), 0), security_sets: new Set(all.map((d) => d.security.join())).size, due: 2},
      recipe: {fingerprint: '0123456789abcdef', text: '[recipe]\nname = default\n', least: this.least},
      store: {documents: all.length, pairs: 3, segment_bytes: 123456, syncs: 12, opened_from_snapshot: false, open_seconds: 0.0123}};
  }

  crawl(limit) {
    return {time: time(0), documents: this.all().slice(0, limit).map((d, i) => ({...this.row(d), is_due: i < 2, gap: null, why: i < 2 ? 'It is due, and its last visit found a change of 12 bits.' : 'It was the same at the last three visits.'}))};
  }

  answer(method, url, body) {
    const at = url.pathname.split('/').slice(1).map(decodeURIComponent);
    const one = () => this.find(at[2], url.searchParams.get('security'));
    if (method === 'POST' && at[1] === 'query') return this.judge(body.text ?? body.html?.replace(/<[^>]*>/g, ' ') ?? '', null, Number(url.searchParams.get('at') ?? 0.5));
    if (method === 'POST' && at[1] === 'documents') return this.put(body, url.searchParams.get('dry') === '1');
    switch (`${at[1]} ${at[3] ?? ''}`) {
      case 'documents ': return at[2] === undefined ? this.newest(url.searchParams) : {...this.row(one()), text: one().text};
      case 'clusters ': return this.clusters(url.searchParams);
      case 'documents versions': return {id: at[2], security: one().security, versions: one().versions, total: one().versions.length};
      case 'documents near': return this.near(one(), false);
      case 'documents cluster': return this.near(one(), true);
      case 'compare ': return this.compare(this.find(url.searchParams.get('a'), url.searchParams.get('a_security')), this.find(url.searchParams.get('b'), url.searchParams.get('b_security')));
      case 'crawl ': return this.crawl(Number(url.searchParams.get('limit') ?? 100));
      case 'stats ': return this.stats();
      default: throw new Refused(404, 'Not found', 'there is no such path');
    }
  }

  async serve(request, response) {
    const url = new URL(request.url, 'http://localhost');
    const send = (status, type, text) => response.writeHead(status, {'Content-Type': type, 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff'}).end(text);
    try {
      if (!url.pathname.startsWith('/v1/')) {
        const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
        send(200, TYPES[name.split('.').at(-1)], await readFile(new URL(name, WEB)));
        return;
      }
      if (this.key && request.headers.authorization !== `Bearer ${this.key}`) throw new Refused(401, 'Unauthorized', 'a key is needed');
      const parts = [];
      for await (const part of request) parts.push(part);
      const body = parts.length ? JSON.parse(Buffer.concat(parts).toString()) : null;
      send(200, 'application/json', JSON.stringify(this.answer(request.method, url, body)) + '\n');
    } catch (error) {
      const {status = 404, title = 'Not found', detail = String(error)} = error;
      send(status, 'application/problem+json', JSON.stringify({type: '/problems/refused', title, status, detail}));
    }
  }

  /** @returns {Promise<string>} its address */
  start(port = 0) {
    this.server = createServer((request, response) => void this.serve(request, response));
    return new Promise((resolve) => { this.server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${this.server.address().port}/`)); });
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

function place(name, text, tokens, at, n) {
  const start = at < tokens.length ? tokens[at].at : text.length;
  return {[`${name}_offset`]: bytesOf(text.slice(0, start)), [`${name}_bytes`]: n ? bytesOf(text.slice(start, tokens[at + n - 1].end)) : 0};
}
