// rows.mjs - two texts as rows: what they have in common stands on the same height
import {equalRuns, readable} from './diff.mjs';
import {numbered, tokensOf} from './tokens.mjs';

/**
 * A stretch of a that is equal to one of b, word by word; in UTF-16 units.
 * @typedef {{a: [number, number], b: [number, number]}} Same
 *
 * A piece of text, and whether the other text lacks it.
 * @typedef {[string, boolean]} Piece
 * @typedef {{changed: boolean, left: Piece[], right: Piece[]}} Row
 * @typedef {{rows: Row[], removed: number, added: number, places: number}} Sides
 */

/** A row ends at the end of a sentence once it has so many characters, and anywhere beyond LONG_ROW. */
const ROW = 160, LONG_ROW = 700;

/**
 * Find the words that two texts have in common.
 * @param {string} a
 * @param {string} b
 * @returns {Same[]}
 */
export function sameInTexts(a, b) {
  const known = new Map();
  const inA = tokensOf(a), inB = tokensOf(b);
  const runs = equalRuns(numbered(inA.form, known), numbered(inB.form, known));
  return readable(runs, inA.form.length, inB.form.length).map(([a0, a1, b0, b1]) => ({
    a: [of(inA.start, a0), of(inA.end, a1 - 1)],
    b: [of(inB.start, b0), of(inB.end, b1 - 1)],
  }));
}

/** @param {number[]} list @param {number} index */
const of = (list, index) => /** @type {number} */ (list[index]);

/**
 * Give the stretches that the edits of /v1/compare keep, with places in UTF-16 units instead of bytes.
 * @param {import('./api.mjs').Edit[]} edits
 * @param {string} a
 * @param {string} b
 * @returns {Same[]}
 */
export function sameInEdits(edits, a, b) {
  const inA = fromBytes(a), inB = fromBytes(b);
  let endA = 0, endB = 0;
  /** @type {Same[]} */
  const same = [];
  for (const e of edits) {
    if (e.kind !== 'keep') continue;
    // Words of scripts without spaces overlap by a character.
    const one = Math.max(endA, inA(e.a_offset)), two = Math.max(endB, inB(e.b_offset));
    endA = Math.max(one, inA(e.a_offset + e.a_bytes));
    endB = Math.max(two, inB(e.b_offset + e.b_bytes));
    if (endA > one && endB > two) same.push({a: [one, endA], b: [two, endB]});
  }
  return same;
}

/**
 * From bytes of UTF-8 to UTF-16 units; to be called with numbers that grow, or nearly.
 * @param {string} text
 */
function fromBytes(text) {
  let units = 0, bytes = 0;
  /** @param {number} wanted */
  return (wanted) => {
    if (wanted < bytes) units = bytes = 0;
    while (bytes < wanted && units < text.length) {
      const c = text.charCodeAt(units);
      if (c >= 0xD800 && c < 0xDC00) {
        bytes += 4;
        units += 2;
      } else {
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
        units++;
      }
    }
    return units;
  };
}

/** Rows that are being made. */
class Rows {
  constructor() {
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Row} */
    this.row = {changed: false, left: [], right: []};
    this.lengths = {left: 0, right: 0};
  }

  get length() {
    return Math.max(this.lengths.left, this.lengths.right);
  }

  /** @param {'left'|'right'} side @param {string} text @param {boolean} marked */
  put(side, text, marked) {
    if (!text) return;
    const last = this.row[side].at(-1);
    if (last && last[1] === marked) last[0] += text;
    else this.row[side].push([text, marked]);
    if (marked) this.row.changed = true;
    this.lengths[side] += text.length;
  }

  end() {
    for (const side of [this.row.left, this.row.right]) trim(side);
    if (this.row.left.length || this.row.right.length) this.rows.push(this.row);
    this.row = {changed: false, left: [], right: []};
    this.lengths = {left: 0, right: 0};
  }
}

/**
 * Rows stand apart anyway: empty lines around them are left out.
 * @param {Piece[]} side
 */
function trim(side) {
  const first = side[0], last = side.at(-1);
  if (first) first[0] = first[0].replace(/^\s*\n/, '');
  if (last) last[0] = last[0].trimEnd();
}

/**
 * @param {string} a
 * @param {string} b
 * @param {Same[]} same in order
 * @returns {Sides}
 */
export function sideBySide(a, b, same) {
  const rows = new Rows();
  let [atA, atB, removed, added, places] = [0, 0, 0, 0, 0];
  for (const stretch of [...same, {a: [a.length, a.length], b: [b.length, b.length]}]) {
    const [a0 = 0, a1 = 0] = stretch.a, [b0 = 0, b1 = 0] = stretch.b;
    const changed = putChange(rows, a.slice(atA, a0), b.slice(atB, b0));
    removed += changed.removed;
    added += changed.added;
    places += changed.removed || changed.added ? 1 : 0;
    putSame(rows, a.slice(a0, a1), b.slice(b0, b1));
    [atA, atB] = [a1, b1];
  }
  rows.end();
  return {rows: rows.rows, removed, added, places};
}

/**
 * Show the text between two equal stretches: words are marked, and blanks and marks around them are not.
 * @param {Rows} rows
 * @param {string} left
 * @param {string} right
 */
function putChange(rows, left, right) {
  const one = chunks(left), two = chunks(right);
  for (let i = 0; i < Math.max(one.length, two.length); i++) {
    if (i) rows.end();
    const after = [putMarked(rows, 'left', one[i] ?? ''), putMarked(rows, 'right', two[i] ?? '')];
    const ends = endsRow(after[0] ?? '', rows.length);
    const [rest = '', other = ''] = after.map((gap) => ends ? gap.replace(/^[^]*\s/, '') : '');
    rows.put('left', after[0]?.slice(0, after[0].length - rest.length) ?? '', false);
    rows.put('right', after[1]?.slice(0, after[1].length - other.length) ?? '', false);
    if (ends) rows.end();
    rows.put('left', rest, false);
    rows.put('right', other, false);
  }
  return {removed: wordsIn(left), added: wordsIn(right)};
}

/** @param {string} text */
const wordsIn = (text) => tokensOf(text).form.length;

/**
 * The words of a change, marked, and what stands before them.
 * @param {Rows} rows
 * @param {'left'|'right'} side
 * @param {string} text
 * @returns {string} what stands after them, or all, where there is no word
 */
function putMarked(rows, side, text) {
  const {start, end} = tokensOf(text);
  const first = start[0], last = end.at(-1);
  if (first === undefined || last === undefined) return text;
  rows.put(side, text.slice(0, first), false);
  rows.put(side, text.slice(first, last), true);
  return text.slice(last);
}

/**
 * A long text in parts, cut where a line or a word ends.
 * @param {string} text
 */
function chunks(text) {
  const parts = [];
  let at = 0;
  while (text.length - at > 2 * LONG_ROW) {
    let cut = text.lastIndexOf('\n', at + 2 * LONG_ROW);
    if (cut <= at + ROW) cut = text.lastIndexOf(' ', at + 2 * LONG_ROW);
    if (cut <= at + ROW) cut = at + 2 * LONG_ROW;
    if (/[\uDC00-\uDFFF]/.test(text.charAt(cut))) cut--;
    parts.push(text.slice(at, cut));
    at = cut;
  }
  parts.push(text.slice(at));
  return parts;
}

/**
 * Equal words: rows end where a line or a long enough sentence ends in the first text.
 * @param {Rows} rows
 * @param {string} left
 * @param {string} right
 */
function putSame(rows, left, right) {
  if (rows.length > 2 * LONG_ROW) rows.end();
  const one = tokensOf(left), two = tokensOf(right);
  let [atA, atB] = [0, 0];
  if (one.form.length === two.form.length) {
    for (let t = 1; t < one.form.length; t++) {
      const gap = left.slice(of(one.end, t - 1), of(one.start, t));
      const length = rows.length + of(one.start, t) - atA;
      if (!endsRow(gap, length)) continue;
      const [nextA, nextB] = [beginning(left, one, t), beginning(right, two, t)];
      rows.put('left', left.slice(atA, nextA), false);
      rows.put('right', right.slice(atB, nextB), false);
      [atA, atB] = [nextA, nextB];
      rows.end();
    }
  }
  rows.put('left', left.slice(atA), false);
  rows.put('right', right.slice(atB), false);
}

/**
 * Return the place where a word begins, with the quotation mark or bracket before it.
 * @param {string} text
 * @param {import('./tokens.mjs').Tokens} tokens
 * @param {number} t
 */
function beginning(text, tokens, t) {
  const end = of(tokens.end, t - 1);
  const opening = text.slice(end, of(tokens.start, t)).replace(/^[^]*\s/, '');
  return of(tokens.start, t) - (opening.length < of(tokens.start, t) - end ? opening.length : 0);
}

/** @param {string} gap @param {number} length */
function endsRow(gap, length) {
  return gap.includes('\n\n') || (length > ROW && /[.!?\u3002\uFF01\uFF1F]['")\]\u201D\u2019]*\s|\n/.test(gap)) || length > LONG_ROW;
}
