// view_document.mjs - a document: its text, its versions and their distances, what is near it, its cluster
import {getCluster, getDocument, getNear, getVersions} from './api.mjs';
import {announce, byId, bytes, count, date, el, every, facts, labelList, number, share, time, visible} from './dom.mjs';
import {versionChart} from './chart.mjs';
import {Place, bar, compareAddress, documentLink, emptyBox, evidenceWords} from './show.mjs';

/** @import {Evidence, Key, Neighbours, StoredDocument, Version, Versions, Which} from './api.mjs' */

const answer = new Place(byId('document-answer'));

/** So many characters of a text are shown at first. */
const FIRST = 3000;
/** So many versions are listed at once. */
const ROWS = 50;

/** @param {URLSearchParams} search */
export function showDocument(search) {
  const id = search.get('id') ?? '';
  const security = search.get('security');
  byId('document-id', HTMLInputElement).value = id;
  byId('document-security', HTMLInputElement).value = security ?? '';
  byId('h-document').textContent = id ? 'A document' : 'Look up a document';
  if (!id) {
    answer.element.replaceChildren(emptyBox('No document yet', 'Give the id of a document that is stored: its versions, its near duplicates and its cluster are shown here.'));
    return;
  }
  void open({id, security: security === null ? null : security.split(',').filter(Boolean)}, search.get('part') ?? '');
}

/** @param {Which} which @param {string} wanted the part that is to be seen: versions, near, cluster; or none */
async function open(which, wanted) {
  const done = await answer.fill('Opening the document…', (signal) => getDocument(which, signal), (document) => {
    const key = {id: document.id, security: document.security};
    return [summary(document), ...part('Versions', (place) => versions(place, key), wanted === 'versions'),
      ...part('Near it', (place) => near(place, key), wanted === 'near'), ...part('Its cluster', (place) => cluster(place, key), wanted === 'cluster'),
      textPart(document.text)];
  });
  if (done) announce(`Document ${which.id} is shown.`);
}

/**
 * A part of the page that fills itself.
 * @param {string} title
 * @param {(place: Place) => Promise<boolean>} fill
 * @param {boolean} isWanted
 */
function part(title, fill, isWanted) {
  const inner = el('div', null), head = el('h2', {tabindex: '-1'}, title);
  const section = el('section', {class: 'part', 'aria-label': title}, head, inner);
  const show = async () => {
    await fill(new Place(inner));
    if (!isWanted) return;
    head.focus({preventScroll: true});
    section.scrollIntoView();
  };
  // Once it is in the page.
  queueMicrotask(() => void show());
  return [section];
}

/** @param {StoredDocument} d */
function summary(d) {
  return el('section', {class: 'panel', 'aria-label': 'The document'},
    el('h2', {class: 'id-title'}, d.title ?? d.id), d.title && el('p', {class: 'id soft'}, d.id), labelList(d.security),
    facts([
      ['Version', number(d.version)], ['First seen', time(d.created)], ['Changed', time(d.updated)], ['Visited', [time(d.visited), `, ${count(d.visits, 'visit')}`]],
      ['Due', [time(d.due), `, ${every(d.interval)}`]], ['Length', `${count(d.tokens, 'word')}, ${bytes(d.bytes)}`],
    ]),
    el('details', {class: 'engineer'}, el('summary', null, 'The numbers'), facts([
      ['Tokens', number(d.tokens)], ['Shingles', number(d.shingles)], ['Simhash', d.simhash ? el('code', null, d.simhash) : '–'],
      ['Visits', number(d.visits)], ['Changes', number(d.changes)], ['Priority', number(d.priority)]])));
}

/** @param {Place} place @param {Key} key */
const versions = (place, key) => place.fill('Reading its versions…', (signal) => getVersions(key, signal), versionsView);

/** @param {Versions} v */
function versionsView(v) {
  const total = el('p', null, visible(v.total, 'version'), v.total > v.versions.length && `; the first ${number(v.versions.length)} are shown`);
  if (v.versions.length < 2) {
    return [total, emptyBox('Only one version', 'When another text is stored under this id, this shows how far each version is from the one before.')];
  }
  return [total, el('figure', {class: 'figure', tabindex: '0'}, versionChart(v.versions),
    el('figcaption', {class: 'soft'}, 'Bits in which the simhash of each version differs from the one before. 0: the same words; about 32: unrelated texts.')),
  ...versionTable([...v.versions].reverse())];
}

/**
 * The last version first, some at once.
 * @param {Version[]} rows
 */
function versionTable(rows) {
  const body = el('tbody', null);
  const more = el('p', {class: 'more'});
  let at = 0;
  const show = () => {
    body.append(...rows.slice(at, at += ROWS).map(versionRow));
    more.replaceChildren(...(at < rows.length ? [el('button', {type: 'button', onclick: show}, `Show more: ${count(rows.length - at, 'version')} left`)] : []));
  };
  show();
  const names = ['Version', 'Distance', 'Since', 'Last visit', 'Tokens', 'Size'];
  return [el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of versions'}, el('table', {class: 'list'},
    el('thead', null, el('tr', null, names.map((name) => el('th', {scope: 'col'}, name)))), body)), rows.length > ROWS && more];
}

/** @param {Version} v */
const versionRow = (v) => el('tr', null, el('th', {scope: 'row'}, number(v.version)),
  el('td', null, v.distance === null ? el('span', {class: 'soft'}, 'the first') : count(v.distance, 'bit')), el('td', null, date(v.time)), el('td', null, time(v.visited)),
  el('td', {class: 'n'}, number(v.tokens)), el('td', {class: 'n'}, bytes(v.bytes)));

/** @param {Place} place @param {Key} key */
const near = (place, key) => place.fill('Looking for what is near it…', (signal) => getNear(key, signal), (n) => {
  if (!n.documents.length) return emptyBox('Nothing is near it', 'No document visible to you is within the threshold of the recipe.');
  return [totalLine(n, 'document'), neighbourList(n, key)];
});

/** @param {Place} place @param {Key} key */
const cluster = (place, key) => place.fill('Reading its cluster…', (signal) => getCluster(key, signal), (n) => {
  if (n.documents.length < 2) return emptyBox('Alone in its cluster', 'It leads, and no document visible to you follows it.');
  const leader = n.documents.find((d) => d.leads) ?? n.documents[0];
  return [totalLine(n, 'document'), neighbourList(n, leader ?? key)];
});

/** @param {Neighbours} n @param {string} what */
const totalLine = (n, what) => el('p', null, visible(n.total, what), n.total > n.documents.length && `; ${number(n.documents.length)} are shown`, n.cut && '; there may be more, since not all pairs of a crowd are stored');

/**
 * @param {Neighbours} n
 * @param {Key} origin which the evidence compares with
 */
function neighbourList(n, origin) {
  return el('ul', {class: 'cards'}, n.documents.map((d) => {
    const isOrigin = d.id === origin.id && d.security.join() === origin.security.join();
    const isThis = d.id === n.id && d.security.join() === n.security.join();
    return el('li', null,
      el('p', {class: 'card-title'}, documentLink(d), d.leads && el('span', {class: 'badge lead-badge'}, 'leader'), isThis && el('span', {class: 'badge'}, 'this one')),
      d.evidence && el('p', {class: 'soft'}, evidenceWords(d.evidence)), d.evidence && evidenceBar(d.evidence),
      d.title && el('p', {class: 'id soft'}, d.id),
      el('p', {class: 'soft'}, `${count(d.tokens, 'word')}, version ${d.version}, changed `, time(d.updated)),
      !isOrigin && el('p', null, el('a', {href: compareAddress(origin, d)}, 'Compare', el('span', {class: 'away'}, ` ${origin.id} with ${d.id}`))));
  }));
}

/** @param {Evidence} e */
const evidenceBar = (e) => e.resemblance === null ? null : bar(e.resemblance, `Resemblance: ${share(e.resemblance)}`);

/** @param {string} text */
function textPart(text) {
  const shown = el('div', {class: 'text whole', tabindex: '0', role: 'region', 'aria-label': 'The text'}, text.slice(0, FIRST));
  const section = el('section', {class: 'part', 'aria-label': 'Text'}, el('h2', null, 'Text'), text ? shown : emptyBox('No text', 'The document is empty.'));
  let at = FIRST;
  const more = el('button', {type: 'button', onclick: () => {
    // In steps that a browser lays out without a pause.
    const next = at + 60_000;
    shown.append(document.createTextNode(text.slice(at, next)));
    at = next;
    if (at >= text.length) more.remove();
    else more.textContent = `Show more: ${number(text.length - at)} characters left`;
  }}, `Show more: ${number(text.length - at)} characters left`);
  if (text.length > FIRST) section.append(more);
  return section;
}

/** @param {(address: string) => void} go */
export function startDocument(go) {
  byId('document-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const id = byId('document-id', HTMLInputElement).value;
    const security = byId('document-security', HTMLInputElement).value;
    go(`#/document?${new URLSearchParams(security.trim() ? {id, security: security.split(',').map((l) => l.trim()).join(',')} : {id})}`);
  });
}
