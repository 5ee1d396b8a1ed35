// report.test.mjs - pages that the command writes, of a run, its manifest and reproductions, in headless
// Chromium, at two widths, light and dark
//
// The environment is that of page.test.mjs.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, describe, test} from 'node:test';

const require = createRequire(`${process.env.PAGE_MODULES}/`);
const {chromium} = require('playwright-core');
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Documents of which some are near others: numbers, names and words differ; one is markup. */
function documents() {
  const rows = [];
  for (let i = 0; i < 60; i++) {
    const words = Array.from({length: 60}, (_, k) => `word${(i % 12) * 100 + k}`);
    if (i >= 12) words[(i * 7) % 60] = ['12', '1999', 'Smith', 'other'][i % 4];
    rows.push({id: `http://example.org/a/rather/long/address/of/a/page/${i}`, text: `It says: ${words.join(' ')}.`});
  }
  for (const n of [1, 2]) rows.push({id: `<img src=x onerror=alert(${n})>`, text: `<script>alert(${n})</script> ${'and so on '.repeat(30)} of room ${n} & <b>more</b> of all the things that stand here`});
  return rows.map((row) => JSON.stringify(row)).join('\n');
}

const SHAPES = [[1400, 'light'], [390, 'light'], [1400, 'dark'], [390, 'dark']];

describe('the pages of a run, of its manifest and of reproductions', {concurrency: false}, () => {
  let folder, browser;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'report-'));
    await writeFile(join(folder, 'in.jsonl'), documents());
    const run = (...words) => execFileSync(process.env.NEARDUP, words, {cwd: folder, stdio: 'ignore'});
    run('dedup', '--quiet', '--threshold', '.6', 'in.jsonl', '-o', 'out', '--report', 'run.html', '--manifest', 'm');
    await rename(join(folder, 'in.jsonl'), join(folder, 'elsewhere'));
    assert.throws(() => run('report', 'm', '-o', 'manifest.html'), {status: 3});
    run('reproduce', 'slides-rose', 'manku-3.1', 'manku-3.2', '--quiet', '-o', 'report', '--report', 'reproductions.html');
    browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage']});
  });

  after(async () => {
    await browser?.close();
    await rm(folder, {recursive: true});
  });

  /** The page, whose requests and messages are watched. */
  async function open(t, name, [width, colorScheme]) {
    const address = `file://${join(folder, name)}.html`;
    const context = await browser.newContext({viewport: {width, height: 850}, colorScheme, reducedMotion: 'reduce'});
    const page = await context.newPage();
    const wrong = [];
    page.on('request', (request) => { if (request.url() !== address) wrong.push(`requested ${request.url()}`); });
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(`console: ${message.text()}`); });
    page.on('pageerror', (error) => wrong.push(`error: ${error}`));
    page.on('dialog', (dialog) => wrong.push(`dialog: ${dialog.message()}`));
    t.after(async () => {
      await context.close();
      assert.deepEqual(wrong, []);
    });
    await page.goto(address);
    return page;
  }

  for (const name of ['run', 'manifest', 'reproductions']) for (const shape of SHAPES) test(`${name} fits, and passes axe-core: ${shape.join(' ')}`, async (t) => {
    const page = await open(t, name, shape);
    if (process.env.PAGE_SHOTS) await page.screenshot({path: `${process.env.PAGE_SHOTS}/${name}-${shape.join('-')}.png`, fullPage: true});
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `it is ${over} pixels too wide`);
    await page.evaluate(axe);
    const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].any[0]?.message ?? ''}`), []);
  });

  test('words that differ are marked, and j and k go from pair to pair', async (t) => {
    const page = await open(t, 'run', SHAPES[0]);
    assert.ok(await page.locator('#closest del').count() > 10);
    assert.ok(await page.locator('#differs article').count() > 2);
    const focused = () => page.evaluate(() => document.activeElement?.id);
    await page.keyboard.press('k');
    assert.equal(await focused(), 'case-1');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    assert.equal(await focused(), 'case-3');
    await page.keyboard.press('k');
    assert.equal(await focused(), 'case-2');
    assert.equal(await page.evaluate(() => document.title), 'What neardup removed');
  });
});
