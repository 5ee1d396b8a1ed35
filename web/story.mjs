// story.mjs - how two texts differ, in the words of a newsroom

/** @import {Differs} from './api.mjs' */
/** @import {Sides} from './rows.mjs' */

const SENTENCE_END = /[.!?\u2026\u3002\uFF01\uFF1F]["')\]\u201D\u2019]*\s+|\n+/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const NUMBER = /^\p{N}+(?:st|nd|rd|th)?$/u;
const DATE_WORDS = new Set(('january february march april may june july august september october november december '
  + 'jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday '
  + 'mon tue tues wed thu thur thurs fri sat sun today yesterday tomorrow').split(' '));
const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

/** Of all words, so many must be in both for the same story, and for two that have something in common. */
const SAME_STORY = 0.5, IN_COMMON = 0.15;

/** @param {number} n @param {string} one @param {string} [more] */
const some = (n, one, more = `${one}s`) => `${NUMBERS[n] ?? String(n)} ${n === 1 ? one : more}`;

/**
 * One text of the two: its words, and the sentences that have words of its own.
 * @typedef {{words: number, own: string[], changed: number, whole: number}} Side
 */

/**
 * @param {Sides} sides
 * @param {'left'|'right'} which
 * @returns {Side} whole: sentences all of whose words are its own, which `changed` counts, too
 */
function sideOf(sides, which) {
  let text = '', words = 0;
  /** @type {{at: number, marked: boolean, word: string}[]} */
  const found = [];
  for (const row of sides.rows) {
    for (const [piece, marked] of row[which]) {
      for (const match of piece.matchAll(WORD)) found.push({at: text.length + match.index, marked, word: match[0].toLowerCase()});
      text += piece;
    }
    text += '\n';
  }
  const ends = [...text.matchAll(SENTENCE_END)].map((match) => match.index + match[0].length);
  let sentence = 0, changed = 0, whole = 0, marks = 0, kept = 0;
  const end = () => {
    changed += marks ? 1 : 0;
    whole += marks && !kept ? 1 : 0;
    marks = kept = 0;
  };
  for (const {at, marked} of found) {
    if (at >= (ends[sentence] ?? Infinity)) end();
    while (at >= (ends[sentence] ?? Infinity)) sentence++;
    words++;
    if (marked) marks++;
    else kept++;
  }
  end();
  return {words, own: found.filter((f) => f.marked).map((f) => f.word), changed, whole};
}

/** What alone differs, where it is a number or a date; else an empty string. @param {string[]} words */
function onlyDiffers(words) {
  if (!words.every((word) => NUMBER.test(word) || DATE_WORDS.has(word))) return '';
  if (words.some((word) => DATE_WORDS.has(word))) return 'only the date differs';
  return words.length <= 2 ? 'only a number differs' : 'only numbers differ';
}

/**
 * "The same story, with two sentences changed."
 * @param {Sides} sides
 */
export function storyWords(sides) {
  const left = sideOf(sides, 'left'), right = sideOf(sides, 'right');
  const equal = left.words - left.own.length;
  const alike = left.words + right.words ? 2 * equal / (left.words + right.words) : 1;
  if (!left.own.length && !right.own.length) return 'The same words in the same order.';
  if (alike < IN_COMMON) return 'Two stories with little in common.';
  if (alike < SAME_STORY) return 'Two stories that have passages in common.';
  const only = onlyDiffers([...left.own, ...right.own]);
  if (only) return `The same story: ${only}.`;
  if (!left.own.length && right.whole === right.changed) return `The same story, with ${some(right.whole, 'sentence')} more.`;
  if (!right.own.length && left.whole === left.changed) return `The same story, with ${some(left.whole, 'sentence')} left out.`;
  return `The same story, with ${some(Math.max(left.changed, right.changed), 'sentence')} changed.`;
}

/** @type {Record<Differs['in'], [string, string]>} for one, and for more */
const ONLY = {
  nothing: ['no word differs', 'no word differs'],
  order: ['only the order of the words differs', 'only the order of the words differs'],
  dates: ['only the date differs', 'only dates differ'],
  numbers: ['only a number differs', 'only numbers differ'],
  names: ['only a name differs', 'only names differ'],
  words: ['', ''],
};

/** So many words of each text are named. */
const NAMED = 5;

/** The first of them. @param {string[]} words @param {number|undefined} all */
const named = (words, all) => `${words.slice(0, NAMED).join(', ')}${(all ?? words.length) > NAMED ? ' …' : ''}`;

/**
 * Say in what a text and a document differ, by the service: "only a number differs: 14 here, 12 there"; "only here: more, than, once".
 * @param {Differs} d
 */
export function differsWords(d) {
  const what = ONLY[d.in][d.this.length > 1 || d.other.length > 1 ? 1 : 0];
  const here = d.this.length > 0 && named(d.this, d.words?.[0]), there = d.other.length > 0 && named(d.other, d.words?.[1]);
  if (!what) return [here && `only here: ${here}`, there && `only there: ${there}`].filter(Boolean).join('; ');
  const words = [here && `${here} here`, there && `${there} there`].filter(Boolean).join(', ');
  return words ? `${what}: ${words}` : what;
}
