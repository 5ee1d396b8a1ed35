// diff.test.mjs - the page's own comparison of two texts, against slow definitions
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {equalRuns} from '../../web/diff.mjs';
import {sameInEdits, sameInTexts, sideBySide} from '../../web/rows.mjs';
import {differsWords, storyWords} from '../../web/story.mjs';
import {tokensOf} from '../../web/tokens.mjs';

/** The same numbers each time. */
function numbersFrom(seed) {
  let state = seed;
  return (below) => {
    state = Math.imul(state ^ state >>> 15, 0x2C1B3C6D) + 0x9E3779B9 | 0;
    return (state >>> 8) % below;
  };
}

const sequence = (next, length, words) => Int32Array.from({length}, () => next(words));

/** The length of the longest common subsequence, by its definition. */
function longestCommon(a, b) {
  let before = new Int32Array(b.length + 1);
  for (const x of a) {
    const now = new Int32Array(b.length + 1);
    for (let j = 0; j < b.length; j++) now[j + 1] = x === b[j] ? before[j] + 1 : Math.max(before[j + 1], now[j]);
    before = now;
  }
  return before[b.length];
}

function checkRuns(a, b, runs) {
  let [x, y] = [0, 0];
  for (const [a0, a1, b0, b1] of runs) {
    assert.ok(a0 >= x && b0 >= y && a1 > a0 && a1 - a0 === b1 - b0);
    assert.deepEqual(a.slice(a0, a1), b.slice(b0, b1));
    [x, y] = [a1, b1];
  }
  assert.ok(x <= a.length && y <= b.length);
}

test('short sequences share as much as any alignment has', () => {
  const next = numbersFrom(1);
  for (let i = 0; i < 3000; i++) {
    const words = 1 + next(5);
    const a = sequence(next, next(30), words), b = sequence(next, next(30), words);
    const runs = equalRuns(a, b);
    checkRuns(a, b, runs);
    assert.equal(runs.reduce((n, [a0, a1]) => n + a1 - a0, 0), longestCommon(a, b));
  }
});

test('long sequences are cut, and what is found is equal', () => {
  const next = numbersFrom(2);
  for (const words of [2, 50, 100000]) {
    const a = sequence(next, 30000, words);
    const b = Int32Array.from([...a.slice(0, 9000), ...sequence(next, 500, words), ...a.slice(12000, 30000)]);
    const runs = equalRuns(a, b);
    checkRuns(a, b, runs);
    if (words > 2) assert.ok(runs.reduce((n, [a0, a1]) => n + a1 - a0, 0) >= 27000);
  }
});

test('sequences without anything in common are one change', () => {
  const a = Int32Array.from({length: 50000}, (_, i) => i);
  assert.deepEqual(equalRuns(a, a.map((x) => x + 50000)), []);
});

test('many small changes in what repeats itself are found one by one', () => {
  const a = Int32Array.from({length: 150000}, (_, i) => i * 7919 % 50021);
  const b = a.map((x, i) => i % 97 ? x : 60000 + i);
  const runs = equalRuns(a, b);
  checkRuns(a, b, runs);
  assert.equal(runs.reduce((n, [a0, a1]) => n + a1 - a0, 0), b.filter((x) => x < 60000).length);
});

test('words are those of the format page, for marking', () => {
  assert.deepEqual(tokensOf("It's DÉJÀ vu_2").form, ['it', 's', 'déjà', 'vu', '2']);
  assert.deepEqual(tokensOf('日本 a').form, ['日', '本', 'a']);
  assert.deepEqual(tokensOf('ﬁn').form, ['fin']);
});

const bare = (pieces) => pieces.map(([text]) => text).join('');
const marked = (rows, side) => rows.flatMap((row) => row[side].filter(([, is]) => is).map(([text]) => text));

test('rows have both texts whole, and mark what only one has', () => {
  const next = numbersFrom(3);
  const text = (n) => Array.from({length: n}, () => ['one', 'two. ', 'three', '\n\n', '"four"', '日本', '😀', ','][next(8)]).join(next(2) ? ' ' : '');
  for (let i = 0; i < 500; i++) {
    const a = text(next(200)), b = next(3) ? a.replace(/two/g, () => next(3) ? 'two' : 'other words') : text(next(100));
    const {rows} = sideBySide(a, b, sameInTexts(a, b));
    const without = (s) => s.replace(/\s+/g, '');
    assert.equal(without(rows.map((row) => bare(row.left)).join('')), without(a));
    assert.equal(without(rows.map((row) => bare(row.right)).join('')), without(b));
  }
});

test('only words that differ are marked', () => {
  const a = 'The cat sat. The dog ran home.', b = 'The cat sat; the DOG walked home!';
  const {rows, removed, added, places} = sideBySide(a, b, sameInTexts(a, b));
  assert.deepEqual([marked(rows, 'left'), marked(rows, 'right')], [['ran'], ['walked']]);
  assert.deepEqual([removed, added, places], [1, 1, 1]);
});

test('rows end with paragraphs, and an opening quotation mark stays with its sentence', () => {
  const a = 'First part.\n\n"Second part," she said.\n\nThird part.';
  const {rows} = sideBySide(a, a.replace('she', 'he'), sameInTexts(a, a.replace('she', 'he')));
  assert.deepEqual(rows.map((row) => bare(row.left)), ['First part.', '"Second part," she said.', 'Third part.']);
});

test('the edits of the service are places in bytes', () => {
  const a = 'Käse und Brot 😀 heute', b = 'Käse und Wein 😀 heute';
  const keep = (from, to) => ({kind: 'keep', a: 0, b: 0, tokens: 2, a_offset: from, a_bytes: to - from, b_offset: from, b_bytes: to - from});
  const change = {kind: 'replace', a: 2, b: 2, tokens: 1, a_offset: 10, a_bytes: 4, b_offset: 10, b_bytes: 4};
  const bytes = Buffer.byteLength(a);
  const same = sameInEdits([keep(0, 9), change, keep(bytes - 5, bytes)], a, b);
  assert.deepEqual(same.map(({a: [from, to]}) => a.slice(from, to)), ['Käse und', 'heute']);
  const {rows} = sideBySide(a, b, same);
  assert.deepEqual([marked(rows, 'left'), marked(rows, 'right')], [['Brot'], ['Wein']]);
});

const STORY = 'The council meets on Tuesday to decide about the bridge. It stays open until June, said the mayor of the town. Drivers complain about the noise of 12 machines. "A ferry will come," she said. Comments may be sent until 3 May.';
const said = (a, b) => storyWords(sideBySide(a, b, sameInTexts(a, b)));

test('differences are told in the words of a newsroom', () => {
  assert.equal(said(STORY, STORY), 'The same words in the same order.');
  assert.equal(said(STORY, STORY.toUpperCase()), 'The same words in the same order.');
  assert.equal(said(STORY, STORY.replace('Tuesday', 'Monday')), 'The same story: only the date differs.');
  assert.equal(said(STORY, STORY.replace('3 May', '4 June')), 'The same story: only the date differs.');
  assert.equal(said(STORY, STORY.replace('12', '13')), 'The same story: only a number differs.');
  assert.equal(said(STORY, STORY.replace('12', '13').replace('3 May', '5 May')), 'The same story: only numbers differ.');
  assert.equal(said(STORY, STORY.replace('mayor', 'governor')), 'The same story, with one sentence changed.');
  assert.equal(said(STORY, STORY.replace('mayor', 'governor').replace('ferry', 'boat')), 'The same story, with two sentences changed.');
  assert.equal(said(STORY, `${STORY} The plans are published next week. Nobody knows more.`), 'The same story, with two sentences more.');
  assert.equal(said(STORY, STORY.replace('"A ferry will come," she said. ', '')), 'The same story, with one sentence left out.');
  assert.equal(said(STORY, `${STORY.slice(0, 56)} ${'Quite another story about the weather in the north follows here and goes on. '.repeat(2)}`), 'Two stories that have passages in common.');
  assert.equal(said(STORY, 'Nothing here is like the other text, which speaks of rivers, boats and rain.'), 'Two stories with little in common.');
  assert.equal(said('', ''), 'The same words in the same order.');
});

test('what the service says that two texts differ in is told in words', () => {
  const words = (kind, mine, others, all) => differsWords({in: kind, this: mine, other: others, ...(all && {words: all})});
  assert.equal(words('nothing', [], []), 'no word differs');
  assert.equal(words('order', [], []), 'only the order of the words differs');
  assert.equal(words('dates', ['Tuesday'], ['Monday']), 'only the date differs: Tuesday here, Monday there');
  assert.equal(words('numbers', ['14', '15'], ['12']), 'only numbers differ: 14, 15 here, 12 there');
  assert.equal(words('names', [], ['Smith']), 'only a name differs: Smith there');
  assert.equal(words('words', ['a', 'b', 'c', 'd', 'e', 'f'], []), 'only here: a, b, c, d, e …');
  assert.equal(words('words', ['a'], ['b'], [1, 30]), 'only here: a; only there: b …');
});
