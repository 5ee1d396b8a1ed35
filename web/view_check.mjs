// view_check.mjs - a text that is pasted or dropped: have we it already, or nearly?
import {checkText, getComparison, getDocument, getStats, storeDocument} from './api.mjs';
import {announce, add, bytes, byId, count, el, facts, labelList, number, readLabels, time} from './dom.mjs';
import {Place, bar, compareAddress, documentLink, emptyBox, evidenceWords, workWords} from './show.mjs';
import {differsWords} from './story.mjs';
import {compareTexts, sidesView} from './texts.mjs';

/** @import {Nearest, Verdict} from './api.mjs' */

/** A file of more characters is not shown in the field, which would be slow. */
const SHOWN = 100_000;
/** The service's own limit may be lower; it says so. */
const LARGEST = 64_000_000;

/** @type {Record<string, [string, string]>} */
const VERDICTS = {
  'new': ['+', 'New'],
  'duplicate': ['=', 'A duplicate'],
  'near-duplicate': ['≈', 'A near duplicate'],
};

const form = byId('check-form', HTMLFormElement);
const field = byId('check-text', HTMLTextAreaElement);
const kind = byId('check-kind', HTMLSelectElement);
const answer = new Place(byId('check-answer'));
const texts = new Place(byId('check-texts'));

/** A file too long for the field. */
let long = '';

/** @param {string} sentence */
const note = (sentence) => { byId('check-note').textContent = sentence; };

/**
 * @param {string} name
 * @param {string} text
 */
function takeText(name, text) {
  long = text.length > SHOWN ? text : '';
  field.value = long ? '' : text;
  field.hidden = long !== '';
  byId('check-chip').hidden = false;
  byId('check-chip-name').textContent = `${name}, ${count(text.length, 'character')}`;
  announce(`${name} was read.`);
}

function dropFile() {
  long = '';
  field.value = '';
  field.hidden = false;
  byId('check-chip').hidden = true;
  byId('check-file', HTMLInputElement).value = '';
}

/** @param {File} file */
async function readFile(file) {
  if (file.size > LARGEST) {
    note(`${file.name} has ${bytes(file.size)}; this page takes ${bytes(LARGEST)}.`);
    return;
  }
  note(`Reading ${file.name}…`);
  const text = await file.text();
  if (text.slice(0, 4096).includes('\0')) {
    note(`${file.name} is not a text.`);
    return;
  }
  kind.value = /\.x?html?$/i.test(file.name) || file.type === 'text/html' ? 'html' : 'text';
  takeText(file.name, text);
  note('Checking stores nothing.');
  await run(false);
}

/** What the form says, as a document of docs/http.md. */
function documentOf() {
  const text = long || field.value;
  const id = byId('check-id', HTMLInputElement).value.trim();
  const security = readLabels(byId('check-security', HTMLInputElement).value);
  return {...(id && {id}), ...(security.length && {security}), ...(kind.value === 'html' ? {html: text} : {text})};
}

/** @param {boolean} isStored */
async function run(isStored) {
  const document = documentOf();
  const text = 'text' in document ? document.text : document.html;
  texts.clear();
  if (!text) {
    answer.clear();
    note('There is no text yet.');
    field.focus();
    return;
  }
  note(isStored ? 'It is stored if it can be.' : 'Checking stores nothing.');
  /** @type {Verdict|undefined} */
  let verdict;
  const ask = isStored || document.id || document.security ? (/** @type {AbortSignal} */ signal) => storeDocument(document, !isStored, signal)
    : (/** @type {AbortSignal} */ signal) => checkText(document, signal);
  const done = await answer.fill('Looking among the documents visible to you…', ask, (given) => {
    verdict = given;
    return verdictCard(given);
  }, () => void run(isStored));
  if (!done || !verdict) return;
  announce(`${headline(verdict)}.`);
  answer.element.scrollIntoView({block: 'nearest'});
  await showTexts(verdict, 'text' in document ? document.text : null);
}

/** @param {Verdict} v */
function headline(v) {
  if (v.empty && v.verdict === 'new') return 'This text has no words';
  if (!v.of) return 'New: nothing visible to you is near it';
  return `${v.verdict === 'duplicate' ? 'A duplicate of' : 'A near duplicate of'} ${v.of.id}`;
}

/** @param {Verdict} v */
function storedLine(v) {
  if (!v.stored || !v.id) return null;
  const key = {id: v.id, security: v.security ?? []};
  const what = v.changed === false ? 'The same text was there: version' : 'Stored as version';
  return el('p', {class: 'stored'}, `${what} ${v.version ?? 1} of `, documentLink(key),
    v.durable ? '. It is on the disk.' : '. It will be on the disk soon.');
}

/** @param {Verdict} v */
function verdictCard(v) {
  const [sign, name] = VERDICTS[v.verdict] ?? ['?', v.verdict];
  const card = el('section', {class: `verdict ${v.verdict}`, 'aria-label': 'The verdict'});
  const title = v.of ? el('h2', null, `${name} of `, documentLink(v.nearest[0] ?? v.of)) : el('h2', null, headline(v));
  add(card, el('div', {class: 'verdict-head'}, el('span', {class: 'sign', 'aria-hidden': 'true'}, sign), el('div', null, title,
    v.evidence && el('p', {class: 'lead'}, `${[evidenceWords(v.evidence), differences(v.nearest[0])].filter(Boolean).join('; ')}.`),
    v.short && el('p', {class: 'lead'}, 'The text is so short that only an equal one would be found.'))));
  if (v.evidence && v.evidence.resemblance !== null) add(card, bar(v.evidence.resemblance, 'Resemblance'));
  add(card, storedLine(v), ...verdictFacts(v));
  if (v.cut) add(card, el('p', {class: 'soft'}, 'There was more to compare with than the recipe allows (max_checks).'));
  return card;
}

/** What alone differs, if the texts are not the same. @param {Nearest|undefined} document */
const differences = (document) => document?.differs && document.evidence.identical === 'no' ? differsWords(document.differs) : '';

/** @param {Nearest} document */
function nearWords(document) {
  return [documentLink(document), `, ${[evidenceWords(document.evidence), differences(document)].filter(Boolean).join('; ')}`];
}

/** What an editor asks, and the engineer's numbers a click away. @param {Verdict} v */
function verdictFacts(v) {
  /** @type {[string, import('./dom.mjs').Child|import('./dom.mjs').Child[]][]} */
  const rows = [];
  const [nearest, ...others] = v.nearest;
  if (nearest) rows.push(['Last visit', [`${nearest.title ?? nearest.id} was visited `, time(nearest.visited)]]);
  if (others.length > 0) rows.push(['Also near', el('ul', {class: 'plain'}, others.map((other) => el('li', null, nearWords(other))))]);
  if (v.cluster && (v.cluster.id !== v.of?.id || v.cluster.security.join() !== v.of.security.join())) {
    rows.push(['In the cluster of', nearWords(v.cluster)]);
  }
  if (v.security) rows.push(['Security labels', labelList(v.security)]);
  return [rows.length > 0 && facts(rows), el('details', {class: 'engineer'}, el('summary', null, 'The numbers'), facts(numbers(v)))];
}

/**
 * @param {Verdict} v
 * @returns {[string, import('./dom.mjs').Child|import('./dom.mjs').Child[]][]}
 */
function numbers(v) {
  const e = v.evidence;
  /** @type {[string, import('./dom.mjs').Child|import('./dom.mjs').Child[]][]} */
  const rows = [];
  if (e?.shared !== null && e?.shared !== undefined && e.shingles) {
    rows.push(['Shared shingles', `${number(e.shared)} of ${number(e.shingles[0])} here, ${number(e.shingles[1])} there`]);
  }
  if (e?.distance !== null && e?.distance !== undefined) rows.push(['Simhashes', `${number(e.distance)} of 64 bits differ`]);
  rows.push(['Length', `${count(v.tokens, 'token')}, ${count(v.shingles, 'shingle')}`]);
  if (v.simhash) rows.push(['Simhash', el('code', null, v.simhash)]);
  rows.push(['Work for it', [workWords(v.work), ' ', el('span', {class: 'visible'}, 'visible to you')]]);
  return rows;
}

/**
 * The texts beside each other: as the service compares them if both are stored, else by this page.
 * @param {Verdict} v
 * @param {string|null} text null: it is in HTML, and its text is known to the service alone
 */
async function showTexts(v, text) {
  const other = v.nearest[0] ?? v.of;
  if (!other) {
    if (text) await showBelow(text, v);
    return;
  }
  if (v.stored && v.id) {
    const mine = {id: v.id, security: v.security ?? []};
    await texts.fill('Comparing the two texts…', async (signal) => {
      const [comparison, a, b] = await Promise.all([getComparison(other, mine, signal), getDocument(other, signal), getDocument(mine, signal)]);
      return compareTexts(a.text, b.text, comparison.edit_distance === null ? null : comparison.edits, signal);
    }, (sides) => [sidesView(sides, documentLink(other), documentLink(mine)),
      el('p', null, el('a', {href: compareAddress(other, mine)}, 'All measures of these two'))]);
  } else if (text === null) {
    texts.element.replaceChildren(el('p', {class: 'hint'}, 'To see both texts side by side, store the page: its text is then kept. ',
      el('button', {type: 'button', onclick: () => void run(true)}, 'Store it')));
  } else {
    await texts.fill('Comparing the two texts…', async (signal) => compareTexts((await getDocument(other, signal)).text, text, null, signal),
      (sides) => sidesView(sides, documentLink(other), 'Your text'));
  }
}

/**
 * Show the document that comes closest to a new text, if the store finds those below the threshold, too.
 * @param {string} text
 * @param {Verdict} v
 */
async function showBelow(text, v) {
  const {recipe} = await getStats().catch(() => ({recipe: {least: null}}));
  const least = recipe.least;
  if (least === null) return;
  await texts.fill('Looking for what comes closest…', (signal) => checkText({text}, signal, least), ({nearest}) => {
    const others = nearest.filter((d) => d.id !== v.id);
    if (!others.length) return emptyBox('Nothing comes close', 'No document visible to you shares enough with it to be named.');
    return el('section', {class: 'panel', 'aria-label': 'What comes closest'}, el('h2', null, 'What comes closest, below the threshold'),
      el('ul', {class: 'plain'}, others.map((other) => el('li', null, nearWords(other)))));
  });
}

function wireDrop() {
  const veil = byId('drop');
  /** @param {DragEvent} event */
  const hasFile = (event) => event.dataTransfer?.types.includes('Files') ?? false;
  window.addEventListener('dragover', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  window.addEventListener('dragleave', (event) => { if (event.relatedTarget === null) veil.hidden = true; });
  window.addEventListener('drop', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    veil.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    location.hash = '#/check';
    void readFile(file);
  });
}

/** What was answered to another key. */
export function clearCheck() {
  answer.clear();
  texts.clear();
}

export function startCheck() {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(false);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  byId('check-store').addEventListener('click', () => void run(true));
  byId('check-chip-remove').addEventListener('click', () => {
    dropFile();
    field.focus();
  });
  byId('check-file', HTMLInputElement).addEventListener('change', (event) => {
    const file = event.target instanceof HTMLInputElement ? event.target.files?.[0] : null;
    if (file) void readFile(file);
  });
  wireDrop();
}

