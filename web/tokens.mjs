// tokens.mjs - the words of a text, with their places, so that two texts can be compared here
//
// Close to docs/format/text.md, which decides; this only marks what a person sees.  Each character of
// a script without spaces is a word here.

const UNSPACED = '\\u0E00-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u3040-\\u30FF\\u31F0-\\u31FF\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uF900-\\uFAFF\\u{20000}-\\u{323AF}';
const WORD = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
// eslint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/;

/**
 * @typedef {object} Tokens
 * @property {number[]} start in UTF-16 units
 * @property {number[]} end
 * @property {string[]} form two words are equal where their forms are
 */

/**
 * @param {string} text
 * @returns {Tokens}
 */
export function tokensOf(text) {
  const start = [], end = [], form = [];
  WORD.lastIndex = 0;
  for (let match = WORD.exec(text); match; match = WORD.exec(text)) {
    const word = match[0];
    start.push(match.index);
    end.push(match.index + word.length);
    form.push(ASCII.test(word) ? word.toLowerCase() : word.normalize('NFKC').toLowerCase().normalize('NFKC'));
  }
  return {start, end, form};
}

/**
 * Numbers for words, the same for equal ones.
 * @param {string[]} form
 * @param {Map<string, number>} known
 */
export function numbered(form, known) {
  const numbers = new Int32Array(form.length);
  for (let i = 0; i < form.length; i++) {
    const word = /** @type {string} */ (form[i]);
    let n = known.get(word);
    if (n === undefined) known.set(word, n = known.size);
    numbers[i] = n;
  }
  return numbers;
}
