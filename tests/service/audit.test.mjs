// audit.test.mjs - the page of neardup audit --report in headless Chromium, at two widths, light and dark
//
// The environment is that of page.test.mjs.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, describe, test} from 'node:test';

const require = createRequire(`${process.env.PAGE_MODULES}/`);
const {chromium} = require('playwright-core');
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

/** An id of a document, longer than a phone is wide, with markup in it. */
const id = (i) => `http://example.org/a/rather/long/address/of/a/page/<b>${i}</b>`;

/** Documents that share a half of their words with those of the same remainder by 5, and one that is markup. */
function documents() {
  const words = (from) => Array.from({length: 40}, (_, k) => `word${from + k}`).join(' ');
  const rows = Array.from({length: 40}, (_, i) => ({id: id(i), text: `It says: ${words((i % 5) * 100)} and ${words(1000 + 100 * i)}.`}));
  rows.push({id: id(40), text: '<script>alert(1)</script> stands alone'});
  return rows.map((row) => JSON.stringify(row)).join('\n');
}

const SHAPES = [[1400, 'light'], [390, 'light'], [1400, 'dark'], [390, 'dark']];

describe('the page of an audit', {concurrency: false}, () => {
  let folder, address, browser;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'audit-'));
    await writeFile(join(folder, 'in.jsonl'), documents());
    await writeFile(join(folder, 'clusters.tsv'), Array.from({length: 30}, (_, i) => `${id(i + 11)}\t${id(i % 7)}\n`).join(''));
    execFileSync(process.env.NEARDUP, ['audit', '--quiet', join(folder, 'in.jsonl'), '--removed', join(folder, 'clusters.tsv'), '-o', join(folder, 'row'), '--report', join(folder, 'page.html')]);
    address = `file://${join(folder, 'page.html')}`;
    browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage']});
  });

  after(async () => {
    await browser?.close();
    await rm(folder, {recursive: true});
  });

  for (const [width, colorScheme] of SHAPES) test(`it fits, and passes axe-core: ${width} ${colorScheme}`, async (t) => {
    const context = await browser.newContext({viewport: {width, height: 850}, colorScheme, reducedMotion: 'reduce'});
    const page = await context.newPage();
    const wrong = [];
    page.on('request', (request) => { if (request.url() !== address) wrong.push(`requested ${request.url()}`); });
    page.on('dialog', (dialog) => wrong.push(`dialog: ${dialog.message()}`));
    page.on('pageerror', (error) => wrong.push(`error: ${error}`));
    t.after(() => context.close());
    await page.goto(address);
    assert.equal(await page.locator('#farthest article').count(), 20);
    assert.equal(await page.locator('#clusters article').count(), 7);
    assert.ok(await page.locator('#clusters del').count() > 7);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `it is ${over} pixels too wide`);
    await page.keyboard.press('j');
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'case-1');
    await page.evaluate(axe);
    const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].any[0]?.message ?? ''}`), []);
    assert.deepEqual(wrong, []);
  });
});
