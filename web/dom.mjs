// dom.mjs - elements made of text: nothing from a document is ever read as markup

/** @typedef {Node|string|number|null|undefined|false} Child */

/**
 * An element.  Attributes whose names begin with "on" are listeners; false, null: left out; true: empty.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {Record<string, any>|null} attributes
 * @param {...(Child|Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value === true ? '' : String(value));
  }
  add(element, ...children);
  return element;
}

/**
 * @param {Node} parent
 * @param {...(Child|Child[])} children
 */
export function add(parent, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * The element of the page with this id, which index.html has.
 * @template {typeof Element} [T=typeof HTMLElement]
 * @param {string} id
 * @param {T} [kind]
 * @returns {InstanceType<T>}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof (kind ?? HTMLElement))) throw new Error(`index.html has no ${id}`);
  return /** @type {InstanceType<T>} */ (element);
}

/**
 * Let a screen reader say a sentence, once.
 * @param {string} sentence
 */
export function announce(sentence) {
  byId('announce').textContent = sentence;
}

const whole = new Intl.NumberFormat('en');
const percent = new Intl.NumberFormat('en', {style: 'percent', maximumFractionDigits: 1});
const relative = new Intl.RelativeTimeFormat('en', {numeric: 'auto'});
const absolute = new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeStyle: 'short'});

/** @param {number} n */
export const number = (n) => whole.format(n);

/**
 * A share, rounded so that only 1 is 100% and only 0 is 0%.
 * @param {number} x
 */
export function share(x) {
  if (x < 1 && x >= 0.9995) return '> 99.9%';
  if (x > 0 && x < 0.0005) return '< 0.1%';
  return percent.format(x);
}

/** @param {number} n @param {string} one @param {string} [more] */
export const count = (n, one, more) => `${number(n)} ${n === 1 ? one : more ?? `${one}s`}`;

/** @param {number} n */
export function bytes(n) {
  if (n < 1000) return count(n, 'byte');
  const units = ['KB', 'MB', 'GB', 'TB'];
  let unit = -1;
  let value = n;
  do {
    value /= 1000;
    unit++;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${value.toLocaleString('en', {maximumSignificantDigits: 3})} ${units[unit]}`;
}

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [['year', 31557600], ['month', 2629800], ['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];

/**
 * @param {number} seconds
 * @returns {[number, Intl.RelativeTimeFormatUnit]} in the greatest unit of which there is one
 */
function inUnits(seconds) {
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return [Math.round(seconds / length), unit];
  }
  return [0, 'second'];
}

/** How often. @param {number} seconds */
export function every(seconds) {
  const [n, unit] = inUnits(seconds);
  return n === 1 ? `every ${unit}` : `every ${n} ${unit}s`;
}

/** A time, in words; the exact one where the pointer rests. @param {string} rfc3339 */
export function time(rfc3339) {
  const when = new Date(rfc3339);
  if (Number.isNaN(when.getTime())) return el('span', null, rfc3339);
  const [n, unit] = inUnits((when.getTime() - Date.now()) / 1000);
  return el('time', {datetime: rfc3339, title: `${rfc3339}`}, relative.format(n, unit));
}

/** @param {string} rfc3339 */
export function date(rfc3339) {
  const when = new Date(rfc3339);
  return Number.isNaN(when.getTime()) ? rfc3339 : absolute.format(when);
}

/**
 * A count, and who sees what is counted.
 * @param {number} n
 * @param {string} one
 * @param {string} [more]
 */
export function visible(n, one, more) {
  return el('span', {class: 'counted'}, el('span', null, count(n, one, more)), ' ', el('span', {class: 'visible'}, 'visible to you'));
}

/** Security labels, each in a frame; a word where there is none. @param {string[]} security */
export function labelList(security) {
  if (!security.length) return el('span', {class: 'soft'}, 'no security labels');
  return el('ul', {class: 'labels', 'aria-label': 'Security labels'}, security.map((label) => el('li', null, label)));
}

/** Labels as a person writes them, with commas. @param {string} text */
export function readLabels(text) {
  return text.split(',').map((label) => label.trim()).filter((label) => label !== '');
}

/** Pairs of a name and a value. @param {[string, Child|Child[]][]} rows @param {string} [kind] */
export function facts(rows, kind = 'facts') {
  return el('dl', {class: kind}, rows.map(([name, value]) => el('div', null, el('dt', null, name), el('dd', null, ...[value].flat()))));
}
