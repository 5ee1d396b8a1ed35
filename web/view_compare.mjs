// view_compare.mjs - two stored documents by every measure, and side by side
import {getComparison, getDocument, getNear} from './api.mjs';
import {announce, byId, count, el, facts, number, readLabels, share} from './dom.mjs';
import {Place, bar, documentLink, emptyBox} from './show.mjs';
import {compareTexts, sidesView} from './texts.mjs';

/** @import {Comparison, StoredDocument, Which} from './api.mjs' */

const answer = new Place(byId('compare-answer'));
const texts = new Place(byId('compare-texts'));

const NAMES = /** @type {const} */ (['a', 'b']);

/** @param {'a'|'b'|'a-security'|'b-security'} name */
const input = (name) => byId(`compare-${name}`, HTMLInputElement);

/** @param {URLSearchParams} search */
export function showCompare(search) {
  const which = NAMES.map((name) => {
    const security = search.get(`${name}_security`);
    input(name).value = search.get(name) ?? '';
    input(`${name}-security`).value = security ?? '';
    if (security) byId('compare-more', HTMLDetailsElement).open = true;
    return {id: search.get(name) ?? '', security: security === null ? null : security.split(',').filter(Boolean)};
  });
  const [a, b] = which;
  texts.clear();
  if (a?.id && b?.id) {
    void run(a, b);
  } else if (a?.id) {
    void runNearest(a);
  } else {
    answer.clear();
    answer.element.replaceChildren(emptyBox('No documents yet', 'Give one id or two, or follow “Compare” from a document.'));
  }
}

/** Compare with the document that is nearest. @param {Which} a */
async function runNearest(a) {
  /** @type {Which|undefined} */
  let b;
  await answer.fill('Looking for what is nearest…', (signal) => getNear(a, signal, 1), (near) => {
    b = near.documents[0];
    return emptyBox('Nothing is near it', 'No document visible to you is within the threshold of the recipe.');
  }, () => void runNearest(a));
  if (b) await run(a, b);
}

/** @param {Which} a @param {Which} b */
async function run(a, b) {
  /** @type {[Comparison, StoredDocument & {text: string}, StoredDocument & {text: string}]|undefined} */
  let got;
  const done = await answer.fill('Comparing…', (signal) => Promise.all([getComparison(a, b, signal), getDocument(a, signal), getDocument(b, signal)]), (given) => {
    got = given;
    return [measures(given[0]), passages(given[0])];
  }, () => void run(a, b));
  if (!done || !got) return;
  const [comparison, first, second] = got;
  announce(`${first.id} and ${second.id}: ${share(comparison.resemblance)} alike.`);
  await texts.fill('Marking the differences…', (signal) => compareTexts(first.text, second.text, comparison.edit_distance === null ? null : comparison.edits, signal),
    (sides) => sidesView(sides, documentLink(first), documentLink(second)));
}

/** @param {Comparison} c */
function measures(c) {
  const title = c.same_bytes ? 'The same text, byte for byte' : c.same_words ? 'The same words: only marks, cases or spaces differ' : `${share(c.resemblance)} alike`;
  const edits = c.edit_distance === null ? `more than ${count(c.edit_limit ?? 0, 'token')}` : count(c.edit_distance, 'token');
  return el('section', {class: 'panel', 'aria-label': 'Measures'}, el('h2', null, title), bar(c.resemblance, 'Resemblance'), el('details', {class: 'engineer'}, el('summary', null, 'All measures'), facts([
    ['Shared shingles', `${number(c.shared_shingles)} of ${number(c.a.shingles)} and ${number(c.b.shingles)}`],
    ['First within second', share(c.containment_a)], ['Second within first', share(c.containment_b)],
    ['Simhashes', `${c.hamming} of 64 bits differ`], ['Edit distance', edits], ['Cosine of terms', share(c.cosine)],
    ['Tokens', `${number(c.a.tokens)} and ${number(c.b.tokens)}`],
    ['In shared passages', `${number(c.covered_a)} and ${number(c.covered_b)} tokens`]])));
}

/** @param {Comparison} c */
function passages(c) {
  if (!c.passages.length || c.same_words) return null;
  const longest = [...c.passages].sort((x, y) => y.b.tokens - x.b.tokens).slice(0, 20);
  return el('details', {class: 'panel'}, el('summary', null, `${count(c.passages.length, 'passage')} in both`),
    c.passages.length > longest.length && el('p', {class: 'soft'}, `The longest ${longest.length}:`),
    el('ol', {class: 'passages'}, longest.map((p) => el('li', null, el('p', {class: 'soft'}, `${count(p.b.tokens, 'token')}, from byte ${number(p.a.offset)} of the first, ${number(p.b.offset)} of the second`),
      el('blockquote', {class: 'text'}, p.text.length > 600 ? `${p.text.slice(0, 600)}…` : p.text)))));
}

/** @param {(address: string) => void} go */
export function startCompare(go) {
  byId('compare-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const search = new URLSearchParams();
    for (const name of NAMES) {
      search.set(name, input(name).value);
      const security = readLabels(input(`${name}-security`).value);
      if (security.length) search.set(`${name}_security`, security.join(','));
    }
    go(`#/compare?${search}`);
  });
}
