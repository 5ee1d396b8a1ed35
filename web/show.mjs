// show.mjs - what every view needs: waiting, problems in words, links to documents, evidence
import {Problem} from './api.mjs';
import {add, count, el, number, share} from './dom.mjs';

/** @import {Evidence, Key, Work} from './api.mjs' */

/**
 * Advice on a problem.
 * @param {Problem} problem
 */
function advice({status, retryAfter}) {
  switch (status) {
    case 0: return 'Is it still running?';
    case 401: return 'Enter a key with the button at the top.';
    case 403: return 'Your key does not allow this.';
    case 404: return 'It may not exist, or it may not be visible to you.';
    case 409: return 'Name the security labels of the one that you mean.';
    case 413: return 'The text is larger than this service takes.';
    case 429: return retryAfter ? `Too many writes are waiting. Try again in ${count(retryAfter, 'second')}.` : 'Too many writes are waiting.';
    case 503: return 'The service is busy, or about to end. Try again soon.';
    case 507: return 'Nothing was stored.';
    default: return '';
  }
}

/** @type {Record<number, string>} */
const TITLES = {401: 'A key is needed', 403: 'Not allowed', 404: 'There is no such document', 409: 'Several documents have this id',
  413: 'Too large', 429: 'The service is busy', 503: 'The service is busy', 507: 'The disk of the service is full'};

/**
 * A problem, in words.
 * @param {unknown} error
 * @param {(() => void)|null} retry
 */
export function problemBox(error, retry) {
  const problem = error instanceof Problem ? error : new Problem(-1, 'This page failed', String(error));
  const title = TITLES[problem.status] ?? (problem.title || `The service answered ${problem.status}`);
  const detail = problem.detail && problem.detail !== title ? problem.detail : '';
  return el('div', {class: 'problem', role: 'alert'},
    el('p', {class: 'problem-title'}, title),
    detail && el('p', null, asSentence(detail)),
    el('p', {class: 'soft'}, advice(problem)),
    retry && el('p', null, el('button', {type: 'button', onclick: retry}, 'Try again')));
}

/** With a capital letter and a full stop. @param {string} words */
function asSentence(words) {
  const capital = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(words) ? capital : `${capital}.`;
}

/** @param {string} sentence */
export function waiting(sentence) {
  return el('p', {class: 'waiting'}, el('span', {class: 'spinner', 'aria-hidden': 'true'}), sentence);
}

/** @param {string} title @param {string} sentence */
export function emptyBox(title, sentence) {
  return el('div', {class: 'empty'}, el('p', {class: 'empty-title'}, title), el('p', null, sentence));
}

/**
 * A place of the page that shows one answer at a time: a later request ends an earlier one.
 */
export class Place {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    /** @type {AbortController|null} */
    this.running = null;
  }

  clear() {
    this.running?.abort();
    this.running = null;
    this.element.replaceChildren();
    this.element.removeAttribute('aria-busy');
  }

  /**
   * Say that it is looked for, get it, show it; or show the problem.  Whether it was shown.
   * @template T
   * @param {string} sentence
   * @param {(signal: AbortSignal) => Promise<T>} get
   * @param {(answer: T) => (import('./dom.mjs').Child|import('./dom.mjs').Child[])} show
   * @param {() => void} [again] what "Try again" does, if more follows
   * @returns {Promise<boolean>}
   */
  async fill(sentence, get, show, again) {
    this.running?.abort();
    const mine = new AbortController();
    this.running = mine;
    this.element.setAttribute('aria-busy', 'true');
    // An answer that comes at once needs no word; the element keeps its contents until then.
    const timer = setTimeout(() => this.element.replaceChildren(waiting(sentence)), 120);
    try {
      const answer = await get(mine.signal);
      if (this.running !== mine) return false;
      clearTimeout(timer);
      const children = show(answer);
      this.element.replaceChildren();
      add(this.element, children);
      return true;
    } catch (error) {
      clearTimeout(timer);
      if (this.running !== mine) return false;
      this.element.replaceChildren(problemBox(error, again ?? (() => void this.fill(sentence, get, show))));
      if (error instanceof Problem && error.status === 401) document.dispatchEvent(new CustomEvent('key-needed'));
      return false;
    } finally {
      clearTimeout(timer);
      if (this.running === mine) this.element.removeAttribute('aria-busy');
    }
  }
}

/** The address of a document's view, perhaps of one of its parts. @param {Key} key @param {'versions'|'near'|'cluster'} [part] */
export const documentAddress = ({id, security}, part) => `#/document?${new URLSearchParams({id, security: security.join(','), ...(part && {part})})}`;

/** Two documents beside each other: the second is the one that is nearest to the first. @param {Key} key */
export const nearestAddress = ({id, security}) => `#/compare?${new URLSearchParams({a: id, a_security: security.join(',')})}`;

/** @param {Key} a @param {Key} b */
export const compareAddress = (a, b) =>
  `#/compare?${new URLSearchParams({a: a.id, b: b.id, a_security: a.security.join(','), b_security: b.security.join(',')})}`;

/** By its title, or else its id. @param {Key & {title?: string|null}} key */
export function documentLink(key) {
  return el('span', {class: 'which'},
    el('a', {href: documentAddress(key), class: 'id', title: key.title ? key.id : null}, key.title ?? key.id),
    key.security.length > 0 && ' ', key.security.length > 0 && el('span', {class: 'soft'}, `[${key.security.join(', ')}]`));
}

/** How alike two texts are, in a few words. @param {Evidence} e */
export function evidenceWords(e) {
  if (e.identical === 'bytes') return 'the same bytes';
  if (e.identical === 'tokens') return 'the same words';
  if (e.resemblance !== null && e.shared !== null) return `${share(e.resemblance)} alike`;
  return e.distance === null ? '' : `${number(e.distance)} of 64 bits differ`;
}

/**
 * A bar from 0 to 1.
 * @param {number} value
 * @param {string} name
 */
export function bar(value, name) {
  const filled = el('div', {class: 'filled'});
  filled.style.width = `${value * 100}%`;
  return el('div', {class: 'meter', role: 'meter', 'aria-label': name, 'aria-valuemin': 0, 'aria-valuemax': 1, 'aria-valuenow': value.toFixed(3),
    'aria-valuetext': share(value)}, filled);
}

/** @param {Work} work */
export function workWords(work) {
  return `${count(work.security_sets, 'set of security labels', 'sets of security labels')} searched, ${count(work.candidates, 'candidate')}, ${count(work.comparisons, 'comparison')}`;
}

/** What can be opened from a row about a document. @param {Key & {title?: string|null}} key */
export function storyLinks(key) {
  /** @type {[string, string][]} */
  const links = [['Its cluster', documentAddress(key, 'cluster')], ['Versions', documentAddress(key, 'versions')], ['Compare with the nearest', nearestAddress(key)]];
  return el('p', {class: 'story-links'}, links.map(([name, href]) => el('a', {href}, name, el('span', {class: 'away'}, `: ${key.title ?? key.id}`))));
}

/** So many rows are shown at once. */
const AT_ONCE = 50;

/**
 * A list that is shown in steps, and goes on behind what is known.
 */
export class Stories {
  /**
   * @param {HTMLLIElement[]} rows
   * @param {string|null} next the cursor of what follows
   * @param {(cursor: string) => Promise<{rows: HTMLLIElement[], next: string|null}>} get
   */
  constructor(rows, next, get) {
    this.rows = rows;
    this.next = next;
    this.get = get;
    this.list = el('ol', {class: 'stories'});
    this.more = el('div', {class: 'more'});
    this.element = el('div', null, this.list, this.more);
    this.step();
  }

  /** Show some more, and offer the rest. */
  step() {
    this.list.append(...this.rows.splice(0, AT_ONCE));
    const left = this.rows.length;
    this.more.replaceChildren(...(left || this.next ? [el('button', {type: 'button', onclick: () => void this.goOn()}, left ? `Show more: ${count(left, 'row')} known` : 'Show more')] : []));
  }

  async goOn() {
    const last = this.list.lastElementChild;
    try {
      if (!this.rows.length && this.next) {
        this.more.replaceChildren(waiting('Reading on…'));
        const {rows, next} = await this.get(this.next);
        this.rows = rows;
        this.next = next;
      }
      this.step();
      const link = (last?.nextElementSibling ?? last)?.querySelector('a');
      link?.focus();
    } catch (error) {
      this.more.replaceChildren(problemBox(error, () => void this.goOn()));
    }
  }
}
