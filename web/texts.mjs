// texts.mjs - two texts side by side, with their differences marked
import {add, count, el, number} from './dom.mjs';
import {storyWords} from './story.mjs';

/** @import {Row, Sides, Piece} from './rows.mjs' */
/** @import {Child} from './dom.mjs' */

/** So many rows are shown at once; the rest at a button. */
const AT_ONCE = 80;

/**
 * @param {string} a
 * @param {string} b
 * @param {import('./api.mjs').Edit[]|null} edits null: they are found here
 * @param {AbortSignal} signal
 * @returns {Promise<Sides>}
 */
export function compareTexts(a, b, edits, signal) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('compare_worker.mjs', import.meta.url), {type: 'module'});
    const end = () => worker.terminate();
    signal.addEventListener('abort', () => {
      end();
      reject(new DOMException('Another one was asked for', 'AbortError'));
    });
    worker.onmessage = ({data}) => {
      end();
      resolve(data);
    };
    worker.onerror = () => {
      end();
      reject(new Error('The two texts could not be compared.'));
    };
    worker.postMessage({a, b, edits});
  });
}

/**
 * @param {Sides} sides
 * @param {Child} nameA
 * @param {Child} nameB
 */
export function sidesView(sides, nameA, nameB) {
  const section = el('section', {class: 'sides', 'aria-label': 'The two texts side by side'});
  add(section,
    el('div', {class: 'sides-head'}, el('h2', null, storyWords(sides)), el('p', {class: 'soft'}, differenceWords(sides))),
    table(sides.rows, nameA, nameB));
  return section;
}

/** @param {Sides} sides */
export function differenceWords({removed, added, places}) {
  if (!places) return 'No word differs.';
  const parts = [removed && `${count(removed, 'word')} only in the first`, added && `${count(added, 'word')} only in the second`];
  return `${parts.filter(Boolean).join(', ')}, in ${count(places, 'place')}. Case and punctuation do not count.`;
}

/**
 * @param {Row[]} rows
 * @param {Child} nameA
 * @param {Child} nameB
 */
function table(rows, nameA, nameB) {
  const body = el('tbody', {role: 'rowgroup'});
  const more = el('div', {class: 'more'});
  const parts = folded(rows);
  let at = 0;
  const show = () => {
    for (const part of parts.slice(at, at + AT_ONCE)) body.append(...(Array.isArray(part) ? [foldRow(part)] : [textRow(part)]));
    at += AT_ONCE;
    more.replaceChildren();
    const left = parts.length - at;
    if (left > 0) add(more, el('button', {type: 'button', onclick: show}, `Show more: ${count(left, 'row')} left`));
  };
  show();
  return el('div', null,
    el('table', {class: 'texts', role: 'table'},
      el('thead', {role: 'rowgroup'}, el('tr', {role: 'row'},
        el('th', {role: 'columnheader', scope: 'col'}, nameA), el('th', {role: 'columnheader', scope: 'col'}, nameB))),
      body),
    more);
}

/**
 * Rows, where those that are far from every change are put together.
 * @param {Row[]} rows
 * @returns {(Row|Row[])[]}
 */
function folded(rows) {
  /** @type {(Row|Row[])[]} */
  const parts = [];
  rows.forEach((row, i) => {
    const isNear = [i - 1, i, i + 1].some((j) => rows[j]?.changed);
    const last = parts.at(-1);
    if (isNear) parts.push(row);
    else if (Array.isArray(last)) last.push(row);
    else parts.push([row]);
  });
  return parts.flatMap((part) => Array.isArray(part) && part.length === 1 ? part : [part]);
}

/** @param {Row[]} rows */
function foldRow(rows) {
  const words = rows.reduce((n, row) => n + row.left.reduce((m, piece) => m + piece[0].split(/\s+/).filter(Boolean).length, 0), 0);
  const line = el('tr', {role: 'row', class: 'fold'});
  const open = () => {
    // As many as a reader can look at; the others stay folded.
    const now = rows.splice(0, AT_ONCE).map(textRow);
    line.before(...now);
    if (rows.length) line.replaceWith(foldRow(rows));
    else line.remove();
    const first = now[0]?.firstElementChild;
    if (first instanceof HTMLElement) {
      first.tabIndex = -1;
      first.focus();
    }
  };
  add(line, el('td', {role: 'cell', colspan: 2}, el('button', {type: 'button', class: 'link', onclick: open},
    `Show ${number(words)} equal words`)));
  return line;
}

/** @param {Row} row */
function textRow(row) {
  return el('tr', {role: 'row', class: row.changed ? 'changed' : 'same'},
    el('td', {role: 'cell'}, pieces(row.left, 'del')), el('td', {role: 'cell'}, pieces(row.right, 'ins')));
}

/** @param {Piece[]} list @param {'del'|'ins'} mark */
function pieces(list, mark) {
  const text = el('div', {class: 'text'});
  for (const [piece, marked] of list) add(text, marked ? el(mark, null, piece) : piece);
  return text;
}
