// view_figures.mjs - live figures of what the caller sees
import {Problem, getClusters, getDocuments, getStats} from './api.mjs';
import {byId, bytes, count, el, facts, labelList, number} from './dom.mjs';
import {Place, problemBox, waiting} from './show.mjs';
import {cameChart, sizesChart, sparkline} from './chart.mjs';

/** @import {Stats} from './api.mjs' */

/** Milliseconds from one answer to the next request: with the view open, and without. */
const OPEN = 2000, ELSEWHERE = 10_000;
/** So many of the last counts are drawn. */
const REMEMBERED = 60;

/** @type {[keyof Stats['visible'], string, string][]} */
const TILES = [['documents', 'Documents', 'ids with their security labels'], ['contents', 'Contents', 'different texts'], ['versions', 'Versions', 'of all documents'],
  ['due', 'Due', 'to be visited now'], ['text_bytes', 'Text', 'before compression'], ['security_sets', 'Security', 'sets of security labels']];

/** @type {Map<string, number[]>} */
const history = new Map();
let isOpen = false;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;
/** @type {AbortController|null} */
let running = null;

/** @type {Map<string, {value: HTMLElement, line: HTMLElement}>} */
let tiles = new Map();

/** @param {Stats} stats */
function remember(stats) {
  for (const [name] of TILES) {
    const values = history.get(name) ?? [];
    values.push(stats.visible[name]);
    if (values.length > REMEMBERED) values.shift();
    history.set(name, values);
  }
}

/** @param {Stats} stats */
function pulse(stats) {
  byId('pulse').className = 'pulse ok';
  byId('pulse-text').textContent = `${count(stats.visible.documents, 'document')} visible to you`;
}

/** @param {unknown} error */
function noPulse(error) {
  const status = error instanceof Problem ? error.status : 0;
  byId('pulse').className = 'pulse bad';
  byId('pulse-text').textContent = status === 401 ? 'A key is needed' : status === 0 ? 'No answer' : 'The service has a problem';
}

/** @param {Stats['you']} you */
function youWords(you) {
  if (you.administrator) return 'You see all documents: you are the administrator.';
  if (!you.security.length) return 'You see documents without security labels.';
  return 'You see documents that have no security labels but these:';
}

/** The frame, which stays while figures change. @param {Stats} stats */
function frame(stats) {
  tiles = new Map();
  const list = el('ul', {class: 'tiles'}, TILES.map(([name, title, help]) => {
    const value = el('span', null), line = el('div', {class: 'tile-line'});
    tiles.set(name, {value, line});
    return el('li', null, el('h2', null, title), el('p', {class: 'tile-value'}, value, ' ', el('span', {class: 'visible'}, 'visible to you')),
      el('p', {class: 'soft'}, help), line);
  }));
  byId('figures-answer').replaceChildren(
    el('p', {class: 'lead'}, youWords(stats.you)), ...(stats.you.security.length ? [labelList(stats.you.security)] : []), list, plots.element,
    el('div', {id: 'figures-store'}),
    el('section', {class: 'part', 'aria-label': 'Recipe'}, el('h2', null, 'Recipe'), el('p', null, 'What counts as near is decided by the recipe ', el('code', null, stats.recipe.fingerprint), '.'),
      el('details', {class: 'panel'}, el('summary', null, 'Its text'), el('pre', {class: 'code', tabindex: '0'}, stats.recipe.text))));
}

/** @param {Stats} stats */
function draw(stats) {
  if (!byId('figures-answer').querySelector('.tiles')) frame(stats);
  for (const [name, title] of TILES) {
    const tile = tiles.get(name), values = history.get(name) ?? [], now = stats.visible[name];
    if (!tile) continue;
    const text = name === 'text_bytes' ? bytes(now) : number(now);
    if (tile.value.textContent !== text) tile.value.textContent = text;
    const moves = values.some((v) => v !== values[0]);
    tile.line.replaceChildren(...(moves ? [sparkline(values, `${title} since this page was opened`)] : []));
  }
  const store = stats.store;
  const place = document.getElementById('figures-store');
  if (store && place) {
    place.replaceChildren(el('section', {class: 'panel part', 'aria-label': 'The whole store'}, el('h2', null, 'The whole store'),
      el('p', {class: 'soft'}, 'For the administrator: documents of all security labels, all of which are visible to you.'),
      facts(Object.entries(store).filter(([, v]) => typeof v !== 'object').map(([name, v]) => [inWords(name), storeValue(name, v)]), 'facts wide')));
  }
}

/** @param {string} name */
const inWords = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** @param {string} name @param {unknown} value */
function storeValue(name, value) {
  if (typeof value === 'number') return name.endsWith('_bytes') ? bytes(value) : name.endsWith('_seconds') ? `${value.toPrecision(3)} s` : number(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

const plots = new Place(byId('figures-plots'));

/** So many of the newest documents, and of the largest clusters, are plotted. */
const PLOTTED = 1000;

/** When documents came, and how large clusters are: once, as the view is opened. */
function plot() {
  void plots.fill('Drawing what came in…', (signal) => Promise.all([getDocuments({limit: PLOTTED}, signal), getClusters({order: 'size', limit: PLOTTED}, signal)]), ([came, told]) => [
    came.documents.length > 1 && el('section', {class: 'part', 'aria-label': 'What came in'}, el('h2', null, 'What came in'),
      el('figure', {class: 'figure', tabindex: '0'}, cameChart(came.documents.map((d) => d.created)),
        el('figcaption', {class: 'soft'}, `When ${came.next ? 'the newest ' : ''}${count(came.documents.length, 'document')} visible to you came. `, el('a', {href: '#/documents'}, 'Which they are')))),
    told.clusters.length > 0 && el('section', {class: 'part', 'aria-label': 'Clusters'}, el('h2', null, 'Stories that are told more than once'),
      el('figure', {class: 'figure', tabindex: '0'}, sizesChart(told.clusters.map((c) => c.size)),
        el('figcaption', {class: 'soft'}, `How many clusters have how many of ${count(told.documents, 'document')} visible to you. `, el('a', {href: '#/clusters'}, 'Which they are')))),
  ], plot);
}

async function poll() {
  clearTimeout(timer);
  running?.abort();
  const mine = new AbortController();
  running = mine;
  try {
    const stats = await getStats(mine.signal);
    remember(stats);
    pulse(stats);
    if (isOpen) draw(stats);
  } catch (error) {
    if (mine.signal.aborted) return;
    noPulse(error);
    if (isOpen) byId('figures-answer').replaceChildren(problemBox(error, () => void poll()));
  }
  if (!document.hidden) timer = setTimeout(() => void poll(), isOpen ? OPEN : ELSEWHERE);
}

/** What is known is another's: begin anew. */
export function renewFigures() {
  history.clear();
  byId('figures-answer').replaceChildren();
  plots.clear();
  if (isOpen) plot();
  void poll();
}

/** @param {boolean} open whether the view is shown */
export function showFigures(open) {
  const wasOpen = isOpen;
  isOpen = open;
  if (!open || wasOpen) return;
  plot();
  if (!byId('figures-answer').firstChild) byId('figures-answer').replaceChildren(waiting('Reading the figures…'));
  void poll();
}

export function startFigures() {
  document.addEventListener('visibilitychange', () => { if (!document.hidden) void poll(); });
  void poll();
}
