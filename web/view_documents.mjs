// view_documents.mjs - what came in: the newest documents, of a site, with a word in the title
import {getDocuments} from './api.mjs';
import {announce, byId, count, el, number, time, visible} from './dom.mjs';
import {cameChart} from './chart.mjs';
import {Place, Stories, documentLink, emptyBox, storyLinks} from './show.mjs';

/** @import {DocumentList, StoredDocument} from './api.mjs' */

const answer = new Place(byId('documents-answer'));

/** So many are asked for at once, which the plot shows. */
const ASKED = 500;

const FIELDS = /** @type {const} */ (['site', 'title', 'since']);
/** @typedef {{site: string|null, title: string|null, since: string|null}} Asked */

/** @param {'site'|'title'|'since'} name */
const field = (name) => byId(`documents-${name}`, name === 'since' ? HTMLSelectElement : HTMLInputElement);

/** @param {URLSearchParams} search */
export function showDocuments(search) {
  for (const name of FIELDS) field(name).value = search.get(name) ?? '';
  void run({site: search.get('site') || null, title: search.get('title') || null, since: search.get('since') || null});
}

/** @param {Asked} asked */
async function run(asked) {
  /** @type {DocumentList|undefined} */
  let list;
  await answer.fill('Reading what came in…', (signal) => getDocuments({...asked, limit: ASKED}, signal), (given) => {
    list = given;
    return view(given, asked);
  }, () => void run(asked));
  if (list) announce(`${count(list.documents.length, 'document')}${list.next ? ', and there are more' : ''}.`);
}

/** @param {DocumentList} list @param {Asked} asked */
function view(list, asked) {
  const isNarrow = asked.site || asked.title || asked.since;
  if (!list.documents.length && !list.next) {
    return emptyBox(isNarrow ? 'Nothing like this came in' : 'Nothing came in yet', isNarrow ? 'No document visible to you is of this site, has these words in its title and came in this time.'
      : 'Once documents are stored, the newest stand here.');
  }
  const stories = new Stories(list.documents.map(row), list.next, async (cursor) => {
    const more = await getDocuments({...asked, cursor, limit: ASKED});
    return {rows: more.documents.map(row), next: more.next};
  });
  return [el('p', null, visible(list.documents.length, 'document'), list.next ? ', and there are more' : '', ', the newest first'),
    list.documents.length > 1 && el('figure', {class: 'figure', tabindex: '0'}, cameChart(list.documents.map((d) => d.created)),
      el('figcaption', {class: 'soft'}, `When ${list.next ? `the newest ${number(list.documents.length)} of them` : 'they'} came.`)),
    stories.element];
}

/** @param {StoredDocument} d */
function row(d) {
  return el('li', null, el('p', {class: 'story-title'}, documentLink(d)),
    el('p', {class: 'soft'}, d.title ? [el('span', {class: 'id'}, d.id), ' · '] : null, 'came ', time(d.created),
      d.version > 1 ? [` · changed `, time(d.updated), `, version ${number(d.version)}`] : null),
    storyLinks(d));
}

/** @param {(address: string) => void} go */
export function startDocuments(go) {
  byId('documents-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const search = new URLSearchParams();
    for (const name of FIELDS) {
      const value = name === 'site' ? siteOf(field(name).value.trim()) : field(name).value.trim();
      if (value) search.set(name, value);
    }
    go(`#/documents${search.size ? `?${search}` : ''}`);
  });
}

/** The host of an address, or what is there. @param {string} text */
function siteOf(text) {
  try {
    return text.includes('//') ? new URL(text).hostname : text.replace(/[/:].*$/, '');
  } catch {
    return text;
  }
}
