// judging.test.mjs - the page on which a sample is judged, in headless Chromium, from a file
//
// As page.test.mjs, with PAGE_MODULES, CHROMIUM, NEARDUP and PAGE_SHOTS.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';

const require = createRequire(`${process.env.PAGE_MODULES}/`);
const {chromium} = require('playwright-core');
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
const SHAPES = [[1400, 'light'], [390, 'light'], [1400, 'dark'], [390, 'dark']];
const HOSTILE = '"><img src=x onerror="document.title=1"> tab\tand \\ line';

let folder, browser;
const neardup = (...words) => execFileSync(process.env.NEARDUP, words, {cwd: folder, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe']});

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neardup-judging-'));
  const news = 'The port of Hull reopened on Monday after a strike of two days, and twelve ships left in the afternoon. '.repeat(6);
  const texts = Array.from({length: 6}, (_, i) => ({id: i ? `n${i}` : HOSTILE, text: `${news}Report ${i} adds that ${['wheat', 'barley', 'rye', 'oats', 'malt', 'hops'][i]} was <b>quiet</b>.`}));
  writeFileSync(join(folder, 'docs.jsonl'), texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
  neardup('pairs', '-q', '-t', '0.3', 'docs.jsonl', '-o', 'pairs.tsv');
  neardup('sample', '-q', 'pairs.tsv', '-n', '5', '--strata', 'resemblance:0.1', '--documents', 'docs.jsonl', '--html', 'judge.html', '-o', 'judge.tsv');
  browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage']});
});

after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

/** A page of which no request, message or error may come. */
async function open(t, [width, colorScheme] = SHAPES[0], context) {
  context ??= await browser.newContext({viewport: {width, height: 850}, colorScheme, reducedMotion: 'reduce', acceptDownloads: true});
  const page = await context.newPage();
  const wrong = [];
  page.on('request', (request) => { if (!/^(file|blob):/.test(request.url())) wrong.push(`requested ${request.url()}`); });
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  });
  await page.goto(`file://${folder}/judge.html`);
  await page.waitForSelector('#judge:not([hidden])');
  return page;
}

const place = (page) => page.textContent('#place');
async function download(page) {
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('s')]);
  assert.equal(file.suggestedFilename(), 'judged.tsv');
  return readFileSync(await file.path(), 'utf8');
}

for (const shape of SHAPES) {
  test(`it fits, and passes axe-core: ${shape.join('-')}`, async (t) => {
    const page = await open(t, shape);
    assert.equal(await page.locator('.case:visible').count(), 1);
    assert.ok(await page.locator('.case:visible ins, .case:visible del').count() > 0);
    if (process.env.PAGE_SHOTS) await page.screenshot({path: `${process.env.PAGE_SHOTS}/judging-${shape.join('-')}.png`});
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0);
    await page.evaluate(axe);
    const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].any[0]?.message ?? ''}`), []);
  });
}

test('keys judge, go back and on; what was judged is kept; the file goes into eval', async (t) => {
  const page = await open(t);
  assert.match(await place(page), /^Pair 1 of 5\. 0 judged\.$/);
  for (const key of ['1', '2', '3']) await page.keyboard.press(key);
  assert.match(await place(page), /^Pair 4 of 5\. 3 judged\.$/);
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.getAttribute('[data-label="different"]', 'aria-pressed'), 'true');
  await page.keyboard.press('1');
  assert.match(await place(page), /^Pair 4 of 5\. 3 judged\.$/, 'a judgement that is changed counts once');
  const again = await open(t, SHAPES[0], page.context());
  assert.match(await place(again), /^Pair 4 of 5\. 3 judged\.$/, 'it goes on where it was left');
  await again.keyboard.press('Tab');
  await again.keyboard.press('2');
  await again.click('[data-label="same"]');
  assert.match(await place(again), /All are judged/);
  const text = await download(again);
  const drawn = readFileSync(join(folder, 'judge.tsv'), 'utf8').split('\n');
  const labels = ['label', 'same', 'same', 'unsure', 'different', 'same'];
  assert.deepEqual(text.split('\n'), drawn.map((row, i) => row && row.split('\t').with(2, labels[i]).join('\t')));
  writeFileSync(join(folder, 'judged.tsv'), text);
  const row = JSON.parse(neardup('eval', '--judged', '--json', 'judged.tsv'));
  assert.deepEqual([row.judged, row.same, row.different, row.unsure], [5, 3, 1, 1]);
});

test('it is blind: nothing of strata or numbers of pairs can be seen', async (t) => {
  const page = await open(t);
  const seen = await page.evaluate(() => document.body.innerText);
  const [, row] = readFileSync(join(folder, 'judge.tsv'), 'utf8').split('\n');
  assert.ok(row.split('\t')[4]);
  assert.ok(!seen.includes(row.split('\t')[4]) && !seen.includes('resemblance'), seen);
  assert.equal(await page.title(), 'Are these two the same?');
});
