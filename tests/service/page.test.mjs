// page.test.mjs - the page in headless Chromium: what people do with it, at two widths, light and dark
//
// PAGE_MODULES: a folder with node_modules, where playwright-core and axe-core are; CHROMIUM: the
// browser; NEARDUP: the command, whose `serve` is tried beside the small service of mock.mjs, where it
// has one; PAGE_SHOTS: a folder for screenshots (none without it).
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {after, before, describe, test} from 'node:test';

import {startService} from './service.mjs';

const require = createRequire(`${process.env.PAGE_MODULES}/`);
const {chromium} = require('playwright-core');
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

const NEWS = `The council meets on Tuesday to decide about the bridge. The bridge stays open until the repairs begin in June, said the mayor.

Drivers have complained about the noise of the works for years. A ferry will take the place of the bridge: it leaves every ten minutes, from six in the morning to eleven at night, and costs nothing for pedestrians. The county pays half of the costs, as it did when the older bridge was rebuilt.

"We have waited for this since the flood," the owner of the mill told this paper. Her grandfather built the first crossing, a rope with a raft, which the river took away twice.

The council will publish the plans next week. Comments may be sent to the town hall until the end of the month.`;
const EDITED = `${NEWS.replace('twice', 'more than once')} A second meeting is planned.`;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const A = 'http://example.org/news/bridge', B = 'http://mirror.example/print/bridge', C = 'http://example.org/news/front';

const RAIN = ['The north', 'A village in the south', 'The whole of the eastern coast'].map((place, i) => `${place} has had more rain in ${['June', 'the last week', 'one night'][i]} than ever before. ${
  ['Roads are closed and schools are shut; farmers fear for the hay.', 'Cellars are full of water, and the fire brigade asks for patience.', 'Ships stay in port, and no train has left since the evening.'][i]} ${
  ['A bridge over the mill stream was carried off by a tree.', 'Two cows were found on the roof of a barn, unharmed and calm.', 'The lighthouse keeper counted forty flashes in a single minute.'][i]}`);

/** Documents that every test finds. */
async function fill(service) {
  await service.post({id: A, title: 'Council decides about the bridge', text: NEWS});
  await service.post({id: B, text: `${NEWS} Printed copy.`});
  for (let i = 0; i < 5; i++) await service.post({id: C, security: ['news', 'front'], text: `${'Version and weather and sport. '.repeat(i + 1)} ${NEWS.split(' ').reverse().slice(i * 7).join(' ')}`});
  for (let i = 0; i < 8; i++) await service.post({id: `http://wire.example/${i}`, title: `Rain in the ${['north', 'south', 'east'][i % 3]}, report ${i}`, text: `${RAIN[i % 3]} ${i > 5 ? `Report number ${i} ends here.` : ''}`});
  await service.post({id: HOSTILE, security: ['<b>x</b>'], text: `${HOSTILE} is what this text says, and nothing of it may become a picture or a script of the page.`});
}

const SHAPES = [[1400, 'light'], [390, 'light'], [1400, 'dark'], [390, 'dark']];

for (const kind of ['mock', 'real']) describe(`the page on the ${kind} service`, {concurrency: false}, () => {
  let service, browser;

  before(async (t) => {
    service = await startService(kind);
    if (service.missing) {
      t.skip?.(service.missing);
      return;
    }
    await fill(service);
    browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage']});
  });

  after(async () => {
    await browser?.close();
    await service.stop?.();
  });

  /** A page whose requests and messages are watched, closed when the test ends. */
  async function open(t, [width, colorScheme] = SHAPES[0], {expect = [], at = service} = {}) {
    const context = await browser.newContext({viewport: {width, height: 850}, colorScheme, reducedMotion: 'reduce'});
    const page = await context.newPage();
    const wrong = [];
    page.on('request', (request) => { if (!request.url().startsWith(at.address)) wrong.push(`requested ${request.url()}`); });
    page.on('console', (message) => {
      const text = message.text();
      if (['error', 'warning'].includes(message.type()) && !expect.some((status) => text.includes(`status of ${status}`) || text.includes(`net::${status}`))) wrong.push(`console: ${text}`);
    });
    page.on('pageerror', (error) => wrong.push(`error: ${error}`));
    page.on('dialog', (dialog) => wrong.push(`dialog: ${dialog.message()}`));
    t.after(async () => {
      await context.close();
      assert.deepEqual(wrong, []);
    });
    page.setDefaultTimeout(30000);
    await page.goto(at.address);
    return page;
  }

  const go = (page, address) => page.evaluate((hash) => { location.hash = hash; }, address);
  const skipped = (t) => service.missing && (t.skip(service.missing), true);

  async function shot(page, name) {
    if (process.env.PAGE_SHOTS) await page.screenshot({path: `${process.env.PAGE_SHOTS}/${kind}-${name}.png`, fullPage: true});
  }

  async function check(page, text) {
    await page.fill('#check-text', text);
    await page.click('#check-go');
    await page.waitForSelector('#check-answer:not([aria-busy]) .verdict');
  }

  const VIEWS = {
    check: [(page) => check(page, EDITED), '#check-texts .texts ins'],
    document: [(page) => go(page, `#/document?${new URLSearchParams({id: C})}`), '#document-answer .chart'],
    near: [(page) => go(page, `#/document?${new URLSearchParams({id: A})}`), '.cards .meter'],
    compare: [(page) => go(page, `#/compare?${new URLSearchParams({a: A, b: B})}`), '#compare-texts .texts ins'],
    documents: [(page) => go(page, '#/documents'), '#documents-answer .stories li'],
    clusters: [(page) => go(page, '#/clusters'), '#clusters-answer .stories li'],
    crawl: [(page) => go(page, '#/crawl'), '.list tbody tr'],
    figures: [(page) => go(page, '#/figures'), '#figures-plots .chart'],
  };

  for (const shape of SHAPES) {
    const name = shape.join('-');
    test(`each view fits, and passes axe-core: ${name}`, async (t) => {
      if (skipped(t)) return;
      const page = await open(t, shape);
      await page.waitForSelector('.pulse.ok');
      for (const [view, [act, shown]] of Object.entries(VIEWS)) {
        await act(page);
        await page.waitForSelector(shown);
        await page.waitForFunction(() => !document.querySelector('[aria-busy]'));
        await shot(page, `${view}-${name}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${view} is ${over} pixels too wide`);
        await page.evaluate(axe);
        const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
        assert.deepEqual(violations.map((v) => `${view}: ${v.id}: ${v.nodes[0].html} ${v.nodes[0].any[0]?.message ?? ''}`), []);
      }
    });
  }

  test('a pasted text: verdict, evidence, both texts with their differences', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await check(page, EDITED);
    assert.match(await page.textContent('.verdict h2'), /^A near duplicate of (Council decides about the bridge|http:\/\/mirror.example\/print\/bridge)$/);
    await page.waitForSelector('.texts ins');
    assert.ok((await page.$$eval('.texts ins', (all) => all.map((e) => e.textContent))).includes('more than once'));
    assert.ok((await page.$$eval('.texts del', (all) => all.map((e) => e.textContent))).includes('twice'));
    assert.match(await page.textContent('#announce'), /near duplicate/);
    assert.match(await page.textContent('.verdict .lead'), /^\d+(\.\d)?% alike; only here: more, than, once.*; only there: (twice|printed, copy, twice|twice, printed, copy)\.$/i);
    assert.match(await page.textContent('.verdict dl'), /Last visit.* was visited .*Also near.*bridge.*alike/s);
    await check(page, 'Nothing like this has ever been stored here before today.');
    assert.equal(await page.textContent('.verdict h2'), 'New: nothing visible to you is near it');
    await page.waitForFunction(() => !document.querySelector('.texts'));
  });

  test('of a new text, what comes closest below the threshold, where the store finds it', async (t) => {
    if (skipped(t)) return;
    const finding = await startService(kind, {least: 0.2});
    t.after(() => finding.stop());
    await finding.post({id: 'whole', title: 'Council decides about the bridge', text: NEWS});
    const page = await open(t, SHAPES[1], {at: finding});
    await check(page, `${NEWS.slice(0, 420)} ${RAIN[0]}`);
    assert.match(await page.textContent('.verdict h2'), /^New/);
    await page.waitForSelector('#check-texts section[aria-label="What comes closest"]');
    assert.match(await page.textContent('#check-texts li'), /^Council decides about the bridge, \d+(\.\d)?% alike; only here: /);
    await shot(page, 'closest');
    await check(page, RAIN[1]);
    await page.waitForSelector('#check-texts .empty:has-text("Nothing comes close")');
  });

  test('a text is stored under its id, and is a duplicate from then on', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    const id = `stored by a test, ${kind}`;
    const text = 'This text is stored by a test of the page, with an id of its own and without any security labels at all.';
    await page.click('#check-more summary');
    await page.fill('#check-id', id);
    await page.fill('#check-text', text);
    await page.click('#check-store');
    await page.waitForSelector('.stored');
    assert.match(await page.textContent('.stored'), /Stored as version 1 of stored by a test.*It is on the disk\./);
    await page.fill('#check-id', '');
    await check(page, text);
    assert.equal(await page.textContent('.verdict h2'), `A duplicate of ${id}`);
    await page.waitForSelector('.sides');
    assert.match(await page.textContent('.sides-head'), /The same words in the same order.*No word differs/s);
  });

  test('a file is read; of a page the text is compared once it is stored', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    const html = `<!doctype html><title>x</title><p>${EDITED.replaceAll('\n\n', '</p><p>')}</p>`;
    await page.setInputFiles('#check-file', {name: 'bridge.html', mimeType: 'text/html', buffer: Buffer.from(html)});
    await page.waitForSelector('.verdict.near-duplicate');
    assert.match(await page.textContent('#check-chip-name'), /^bridge.html, /);
    await page.click('.hint button');
    await page.waitForSelector('.stored');
    await page.waitForSelector('.texts ins');
    await page.setInputFiles('#check-file', {name: 'x.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2, 0])});
    await page.waitForFunction(() => document.getElementById('check-note').textContent === 'x.bin is not a text.');
  });

  test('a document: versions with their distances, near ones, cluster', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.click('.tabs a[href="#/documents"]');
    await page.click('#documents-form a[href="#/document"]');
    assert.equal(await page.textContent('.tabs a[aria-current]'), 'Documents');
    await page.fill('#document-id', C);
    await page.click('#document-form button[type=submit]');
    await page.waitForSelector('#document-answer .chart .bar');
    assert.equal(await page.locator('#document-answer .chart .bar').count(), 4);
    assert.equal(await page.locator('section[aria-label=Versions] tbody tr').count(), 5);
    assert.match(await page.textContent('section[aria-label=Versions]'), /5 versions visible to you/);
    assert.match(await page.textContent('section[aria-label=Versions] tbody tr:first-child'), /^5\d+ bits?/);
    assert.deepEqual(await page.$$eval('.panel .labels li', (all) => all.map((e) => e.textContent).sort()), ['front', 'news']);
    await go(page, `#/document?${new URLSearchParams({id: A})}`);
    await page.waitForSelector('section[aria-label="Near it"] .cards');
    assert.match(await page.textContent('section[aria-label="Near it"]'), /visible to you.*print\/bridge/s);
    await page.waitForSelector('section[aria-label="Its cluster"] .lead-badge');
    await page.click('section[aria-label="Near it"] .cards a:has-text("Compare")');
    await page.waitForSelector('.texts');
    assert.match(page.url(), /#\/compare\?a=/);
  });

  test('what came in: the newest documents, and those of a site or with a word in the title', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.click('.tabs a[href="#/documents"]');
    await page.waitForSelector('#documents-answer .stories li');
    assert.match(await page.textContent('#documents-answer'), /\d+ documents visible to you, the newest first/);
    assert.ok((await page.getAttribute('#documents-answer .chart', 'aria-label')).match(/^\d+ documents from/));
    await page.fill('#documents-site', 'http://example.org/news/');
    await page.fill('#documents-title', 'BRIDGE council');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('#documents-answer .stories li').length === 1);
    assert.match(page.url(), /#\/documents\?site=example\.org&title=BRIDGE\+council$/);
    assert.match(await page.textContent('.stories li'), /^Council decides about the bridge.*example\.org\/news\/bridge · came /s);
    await page.click('.stories a:has-text("Versions")');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Versions');
    await page.goBack();
    await page.click('.stories a:has-text("Its cluster")');
    await page.waitForFunction(() => document.activeElement?.textContent === 'Its cluster');
    assert.equal(await page.textContent('.id-title'), 'Council decides about the bridge');
    await page.goBack();
    await page.click('.stories a:has-text("Compare with the nearest")');
    await page.waitForSelector('.texts ins');
    assert.match(await page.textContent('.sides-head h2'), /^The same story, with one sentence more\.$/);
    await go(page, '#/documents?site=nothing.example');
    await page.waitForSelector('#documents-answer .empty:has-text("Nothing like this came in")');
  });

  test('a long list is shown in steps, and goes on from its cursor', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.route('**/v1/documents?*', async (route) => {
      const url = new URL(route.request().url());
      const from = Number(url.searchParams.get('cursor') ?? 0);
      const documents = Array.from({length: 60}, (_, i) => ({id: `document ${from + i}`, security: [], title: null, created: '2026-01-31T12:00:00Z', updated: '2026-01-31T12:00:00Z', version: 1}));
      await route.fulfill({json: {documents, next: from ? null : '60', time: '2026-01-31T12:00:00Z'}});
    });
    await go(page, '#/documents');
    for (const shown of [50, 60, 110, 120]) {
      await page.waitForFunction((n) => document.querySelectorAll('.stories li').length === n, shown);
      if (shown < 120) await page.click('#documents-answer .more button');
    }
    assert.equal(await page.locator('#documents-answer .more button').count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'document 110');
    await page.unrouteAll({behavior: 'ignoreErrors'});
  });

  test('stories that are told more than once: in three orders, with their sizes', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.click('.tabs a[href="#/clusters"]');
    await page.waitForSelector('#clusters-answer .stories li');
    assert.match(await page.textContent('#clusters-answer'), /\d+ clusters? among \d+ documents visible to you/);
    assert.match(await page.textContent('#clusters-answer .stories li'), /^Council decides about the bridge.*\d documents, the newest/s);
    for (const [order, name] of [['newest', 'The newest'], ['growth', 'Those that grow'], ['size', 'The largest']]) {
      const asked = page.waitForRequest((request) => request.url().includes(`order=${order}`));
      await page.click(`#clusters-order a:has-text("${name}")`);
      await asked;
      assert.equal(await page.textContent('#clusters-order a[aria-current]'), name);
    }
    await page.click('#clusters-answer .stories a:has-text(" documents")');
    await page.waitForSelector('section[aria-label="Its cluster"] .lead-badge');
  });

  test('two documents: measures and passages, the edits marked', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.click('.tabs a[href="#/compare"]');
    await page.fill('#compare-a', A);
    await page.fill('#compare-b', B);
    await page.click('#compare-form button[type=submit]');
    await page.waitForSelector('.texts ins');
    assert.deepEqual(await page.$$eval('.texts ins', (all) => all.map((e) => e.textContent)), ['Printed copy']);
    assert.equal(await page.locator('.texts del').count(), 0);
    await page.click('#compare-answer summary');
    assert.match(await page.textContent('.passages'), /The council meets/);
    await page.click('.fold button');
    assert.match(await page.textContent('.texts tbody'), /The council meets/);
  });

  test('what to crawl next, and why', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.click('.tabs a[href="#/crawl"]');
    await page.waitForSelector('.list tbody tr');
    assert.match(await page.textContent('#crawl-answer'), /documents visible to you/);
    for (const why of await page.$$eval('td[data-name=Why]', (all) => all.map((e) => e.textContent))) assert.match(why, /\.$/);
  });

  test('figures are live, and say whose they are', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await go(page, '#/figures');
    await page.waitForSelector('.tile-value');
    const documents = () => page.textContent('.tiles li:first-child .tile-value');
    const was = await documents();
    assert.match(was, /^[\d,]+ visible to you$/);
    await service.post({id: `later, ${kind}`, text: 'Another document that is stored while the page is open.'});
    await page.waitForFunction((old) => document.querySelector('.tiles li:first-child .tile-value').textContent !== old, was);
    assert.equal(parseInt(await documents()), parseInt(was) + 1);
  });

  test('what a document says never becomes part of the page', async (t) => {
    if (skipped(t)) return;
    const page = await open(t, SHAPES[1], {expect: [404]});
    await go(page, `#/document?${new URLSearchParams({id: HOSTILE})}`);
    await page.waitForSelector('.text.whole');
    await check(await (await go(page, '#/check'), page), `${HOSTILE} is what this text says, and nothing of it may become a picture or a script of any page.`);
    await page.waitForSelector('.texts');
    await go(page, `#/document?${new URLSearchParams({id: `${HOSTILE}?`})}`);
    await page.waitForSelector('#document-answer .problem');
    assert.equal(await page.locator('main img, main script, main b').count(), 0);
    assert.match(await page.title(), /neardup$/);
  });

  test('texts of a megabyte: a worker compares them, and a part of the rows is shown', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    const words = Array.from({length: 150000}, (_, i) => `word${i * 7919 % 50021}${i % 12 ? '' : '.'}`);
    const other = words.map((word, i) => i % 97 ? word : `other${i}`);
    await service.post({id: 'large', text: words.join(' ')});
    await page.setInputFiles('#check-file', {name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.from(other.join(' '))});
    await page.waitForSelector('#check-texts .sides');
    assert.equal(await page.locator('#check-text').isVisible(), false);
    assert.match(await page.textContent('.sides-head'), /words only in the first/);
    assert.ok(await page.locator('.texts tbody tr').count() <= 80);
    await page.click('.more button');
    assert.ok(await page.locator('.texts tbody tr').count() <= 160);
    await go(page, '#/document?id=large');
    await page.waitForSelector('.text.whole');
    assert.ok((await page.textContent('.text.whole')).length <= 3000);
  });

  test('every control is reached by the keyboard, and shows that it is', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    await page.reload();
    const seen = new Set();
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab');
      const {name, outline} = await page.evaluate(() => {
        const e = document.activeElement;
        const shown = e.id === 'check-file' ? document.querySelector('label[for=check-file]') : e;
        return {name: e.id || e.getAttribute('href') || e.tagName, outline: getComputedStyle(shown).outlineStyle};
      });
      if (name === 'BODY') break;
      assert.notEqual(outline, 'none', `${name} does not show its focus`);
      seen.add(name);
    }
    for (const name of ['open-key', '#/check', '#/documents', '#/clusters', '#/compare', '#/crawl', '#/figures', 'check-text', 'check-file', 'check-kind', 'SUMMARY', 'check-go', 'check-store']) assert.ok(seen.has(name), `${name} is not reached`);
    await page.focus('#check-text');
    await page.keyboard.type('A text that is typed and sent by the keyboard alone.');
    await page.keyboard.press('Control+Enter');
    await page.waitForSelector('.verdict');
  });

  test('a key: needed, refused, used, forgotten; never in a cookie', async (t) => {
    if (skipped(t)) return;
    const keyed = await startService(kind, {withKey: true});
    t.after(() => keyed.stop());
    const page = await open(t, SHAPES[1], {expect: [401], at: keyed});
    await page.waitForSelector('.pulse.bad');
    await page.click('.tabs a[href="#/crawl"]');
    await page.waitForSelector('#key-dialog[open]');
    await page.fill('#key-value', 'wrong');
    await page.click('#key-form button[type=submit]');
    await page.waitForSelector('#key-problem:has-text("does not know this key")');
    await shot(page, 'key-refused');
    await page.fill('#key-value', keyed.key);
    await page.click('#key-form button[type=submit]');
    await page.waitForSelector('#key-dialog:not([open])', {state: 'attached'});
    await page.waitForSelector('.pulse.ok');
    assert.deepEqual(await page.evaluate(() => [document.cookie, sessionStorage.length]), ['', 0]);
    await page.click('#open-key');
    await page.fill('#key-value', keyed.key);
    await page.check('#key-keep');
    await page.click('#key-form button[type=submit]');
    await page.waitForSelector('#key-dialog:not([open])', {state: 'attached'});
    await page.reload();
    await page.waitForSelector('.pulse.ok');
    await page.click('#open-key');
    await page.click('#key-forget');
    await page.waitForSelector('.pulse.bad');
    assert.deepEqual(await page.evaluate(() => [document.cookie, sessionStorage.length]), ['', 0]);
  });

  test('problems are told in words, and what can be tried again can be', async (t) => {
    if (skipped(t)) return;
    const page = await open(t, SHAPES[0], {expect: [404, 409, 413, 429, 503, 507, 'ERR_FAILED']});
    const answers = [
      [429, /Too many writes are waiting\. Try again in 7 seconds\./], [413, /Too large/], [503, /busy/], [507, /disk of the service is full/], [409, /Name the security labels/],
    ];
    for (const [status, words] of answers) {
      await page.route('**/v1/query*', (route) => route.fulfill({status, headers: {'Content-Type': 'application/problem+json', 'Retry-After': '7'}, body: JSON.stringify({type: '/problems/x', title: 'A title', status, detail: 'the detail of it'})}));
      await page.fill('#check-text', `a text for ${status}`);
      await page.click('#check-go');
      await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#check-answer .problem')?.textContent ?? ''), words.source);
      assert.match(await page.textContent('#check-answer .problem'), /The detail of it\./);
      await page.unroute('**/v1/query*');
    }
    await page.route('**/v1/query*', (route) => route.abort());
    await page.fill('#check-text', `${EDITED} It ends otherwise.`);
    await page.click('#check-go');
    await page.waitForSelector('.problem:has-text("does not answer")');
    await shot(page, 'no-answer');
    await page.unroute('**/v1/query*');
    await page.click('#check-answer .problem button');
    await page.waitForSelector('.verdict');
    await page.waitForSelector('#check-texts .texts ins');
    await go(page, '#/document?id=not-there');
    await page.waitForSelector('#document-answer .problem:has-text("no such document")');
  });

  test('while an answer takes long the page says so, and a later one counts', async (t) => {
    if (skipped(t)) return;
    const page = await open(t);
    let free;
    const held = new Promise((resolve) => { free = resolve; });
    await page.route('**/v1/query*', async (route) => {
      if (route.request().postData().includes('the first')) await held;
      await route.continue().catch(() => {});
    });
    await page.fill('#check-text', 'the first text, which waits');
    await page.click('#check-go');
    await page.waitForSelector('#check-answer .waiting');
    await shot(page, 'waiting');
    await check(page, 'the second text, which does not');
    free();
    assert.match(await page.textContent('.verdict h2'), /^New/);
    await page.unrouteAll({behavior: 'ignoreErrors'});
  });
});
