// SPDX-License-Identifier: Apache-2.0
// Opens pages in headless Chromium, as a reader does: charts are there, filters work, keys lead everywhere, nothing is loaded,
// nothing in a document can act. usage: node browser.mjs MODULES WORK VIEWER CHROMIUM PROGRAM EXAMPLES_FOLDER
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {HOSTILE, compareDocument, estimateDocument, replayDocument, runDocument} from './fixtures.mjs';
import {page as pageAround} from './page.mjs';

const [modules, work, viewer, chromium, program, examples] = process.argv.slice(2);
const require = createRequire(join(modules, 'package.json'));
const playwright = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const after = {driver: {tier: 'change', state: 'value', value: '560.28', source: 'test'}};
const usual = [['before.json', runDocument({})], ['after.json', runDocument({id: 'run-2', seed: 2, shift: 1.06, failing: true, changes: after})],
  ['comparison.json', compareDocument({})], ['replay.json', replayDocument({})], ['estimate.json', estimateDocument({})]];
const file = (name, documents) => {
  const path = join(work, `${name}.html`);
  writeFileSync(path, pageAround(viewer, documents));
  return path;
};

const browser = await playwright.chromium.launch({executablePath: chromium, args: ['--no-sandbox']});
let checks = 0;

// Opens a page and gives it to `body`; whatever it complains of or asks for beyond its own file is a failure.
async function opened(path, {width = 1280, colorScheme = 'light', bypassCSP = false} = {}, body) {
  const context = await browser.newContext({viewport: {width, height: 900}, colorScheme, bypassCSP});
  const page = await context.newPage();
  const wrong = [];
  const own = pathToFileURL(path).href;
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) wrong.push(`${m.type()}: ${m.text()}`); });
  page.on('pageerror', (e) => wrong.push(`error: ${e.message}`));
  page.on('dialog', (d) => { wrong.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => { if (r.url().split('#')[0] !== own && !r.url().startsWith('data:')) wrong.push(`request: ${r.url()}`); });
  page.on('popup', () => wrong.push('a window was opened'));
  await page.goto(own, {waitUntil: 'load'});
  await page.waitForSelector('footer');
  await body(page);
  assert.deepEqual(wrong, [], `${path} at ${width}, ${colorScheme}`);
  await context.close();
  ++checks;
}

const sections = (page) => page.$$eval('main > section', (all) => all.map((x) => x.id));
const text = (page, selector) => page.$eval(selector, (x) => x.textContent);
const count = (page, selector) => page.$$eval(selector, (all) => all.length);

// Every view, with its chart and its table.
const usualPage = file('usual', usual);
await opened(usualPage, {}, async (page) => {
  assert.deepEqual(await sections(page), ['overview', 'comparison', 'memory', 'samples', 'roofline', 'fragmentation', 'numbers', 'identity', 'failures']);
  await page.waitForFunction(() => document.querySelectorAll('figure svg').length >= 12);
  assert.equal(await count(page, '#memory svg path.part'), 11);
  assert.equal(await count(page, '#memory svg line.peak-reserved'), 12 + 1, 'a peak a phase and one in the legend');
  assert.equal(await count(page, '#comparison svg path.point'), 35 + 4, 'a point a case with a ratio, four in the legend');
  assert.equal(await count(page, '#roofline svg path.point'), 22);
  assert.equal(await count(page, '#fragmentation svg rect.segment'), 24);
  // All points: a dot is a "h0" of its path; flagged ones are crosses.
  const drawn = await page.$$eval('#samples .strip figure svg', (all) => all.map((x) => [...x.querySelectorAll('.dots')].reduce((n, p) => n + (p.getAttribute('d').match(/h0/g) ?? []).length, 0) +
    [...x.querySelectorAll('.flagged')].reduce((n, p) => n + (p.getAttribute('d').match(/M/g) ?? []).length, 0)));
  assert.deepEqual(drawn, Array(8).fill(2 * 8 * 40));
  for (const id of ['comparison', 'memory', 'samples', 'roofline', 'fragmentation']) {
    const box = await page.$eval(`#${id} figure svg`, (x) => { const b = x.getBoundingClientRect(); return [b.width, b.height]; });
    assert.ok(box[0] > 300 && box[1] > 100, `${id} is ${box}`);
    assert.ok(await count(page, `#${id} details, #${id} table`) > 0, `${id} has no table`);
  }
  // Tables behind the charts come when they are opened.
  for (const summary of await page.$$('details.behind > summary')) await summary.click();
  for (const details of await page.$$('details.behind')) assert.ok(await details.$('table'), 'a table that did not come');
  assert.match(await text(page, '#failures'), /out of memory.*no room for the next block.*Account: fragmentation/s);
  assert.match(await text(page, '#memory'), /balanced at 24 of 24 checkpoints/);
});

// Filters.
await opened(usualPage, {}, async (page) => {
  const rows = () => count(page, '#comparison figure ~ .scroll tbody tr');
  assert.equal(await rows(), 40);
  await page.selectOption('#comparison select', 'regressed');
  assert.equal(await rows(), 6);
  assert.match(await text(page, '#comparison [role=status]'), /^6 cases of 40/);
  await page.fill('#comparison input[type=search]', 'M=22 ');
  assert.equal(await rows(), 1);
  await page.fill('#comparison input[type=search]', 'nothing has this name');
  assert.match(await text(page, '#comparison [role=status]'), /No case matches/);
  const strips = () => count(page, '#samples .strip');
  assert.equal(await strips(), 8);
  await page.click('#samples button');
  assert.equal(await strips(), 13);
  await page.fill('#samples input[type=search]', 'GEMM');
  assert.equal(await strips(), 2);
  await page.fill('#samples input[type=search]', '');
  await page.check('#samples input[type=checkbox]');
  assert.equal(await strips(), 2);
  const fields = () => count(page, '#identity tbody tr');
  assert.equal(await fields(), 2);
  assert.deepEqual(await page.$$eval('#identity tbody tr', (all) => all.map((r) => r.className)), ['differs tier-change', 'differs tier-thing']);
  await page.selectOption('#identity select', 'all');
  assert.equal(await fields(), 8);
  await page.fill('#identity input[type=search]', '560.28');
  assert.equal(await fields(), 1);
  const before = await page.$eval('#memory path.part', (p) => p.getAttribute('d'));
  await page.selectOption('#memory select >> nth=0', '9');
  await page.waitForFunction((d) => { const p = document.querySelector('#memory path.part'); return p && p.getAttribute('d') !== d; }, before);
  await page.selectOption('#memory select >> nth=1', 'time');
  await page.waitForSelector('#memory .axis text');
  await page.selectOption('#fragmentation select', '2');
  await page.waitForFunction(() => /Refused at event 9000/.test(document.querySelector('#fragmentation').textContent));
});

// Keys alone: the skip link, every control in the order of the page, and the cursor of a chart, which is said in words.
await opened(usualPage, {}, async (page) => {
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  let last = -1;
  const seen = new Set();
  for (let i = 0; i < 90; ++i) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return null;
      const style = getComputedStyle(e);
      return {place: [...document.querySelectorAll('*')].indexOf(e), outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2, role: e.getAttribute('role') ?? e.tagName};
    });
    if (at === null) break;
    assert.ok(at.place > last, 'the focus went back');
    assert.ok(at.outline, `no visible focus on ${at.role}`);
    last = at.place;
    seen.add(at.role);
  }
  for (const role of ['A', 'SELECT', 'INPUT', 'SUMMARY', 'BUTTON', 'slider', 'region']) assert.ok(seen.has(role), `${role} was not reached`);
  await page.focus('#memory svg[role=slider]');
  await page.keyboard.press('End');
  assert.match(await text(page, '#memory output'), /^decode 2, end: requested .* GiB, allocated .* GiB, reserved .* GiB, device used .* GiB; ledger balanced$/);
  await page.keyboard.press('Home');
  assert.match(await page.getAttribute('#memory svg', 'aria-valuetext'), /^environment, start/);
});

// What a checker of accessibility finds, and how wide the page is, in both themes and widths, tables opened.
for (const colorScheme of ['light', 'dark'])
  for (const width of [1280, 390])
    await opened(usualPage, {width, colorScheme, bypassCSP: true}, async (page) => {
      for (const summary of await page.$$('details.behind > summary')) await summary.click();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(wide, width, 'the page scrolls sideways');
      await page.evaluate(axe);
      const found = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
      assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.length} x ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].failureSummary}`), [], `${colorScheme} ${width}`);
      await page.screenshot({path: join(work, `usual-${colorScheme}-${width}.png`), fullPage: true});
    });

// On paper.
await opened(usualPage, {colorScheme: 'dark'}, async (page) => {
  await page.emulateMedia({media: 'print', colorScheme: 'dark'});
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('nav')).display), 'none');
  const pdf = await page.pdf({path: join(work, 'usual.pdf'), format: 'A4'});
  assert.ok(pdf.length > 50000);
});

// Hostile words in every place a document has for words.
for (const bad of HOSTILE)
  await opened(file('hostile', [[`${bad}.json`, runDocument({cases: 6, launches: 3, samples: 5, failing: true, word: () => bad || 'x'})],
    ['r', replayDocument({points: 20, segments: 4, word: () => bad || 'x'})], ['c', compareDocument({cases: 9, word: () => bad || 'x'})], ['e', estimateDocument({word: () => bad || 'x'})]]),
  {width: 390}, async (page) => {
    for (const summary of await page.$$('details.behind > summary')) await summary.evaluate((x) => x.click());
    const state = await page.evaluate(() => ({pwned: window.pwned, scripts: document.querySelectorAll('script').length, images: document.querySelectorAll('img, iframe, object, embed, form').length,
      handlers: [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on'))).length,
      links: [...document.querySelectorAll('a')].filter((a) => !a.getAttribute('href').startsWith('#')).length,
      hidden: /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\u0000-\u0008]/.test(document.body.textContent), wide: document.documentElement.scrollWidth}));
    assert.deepEqual(state, {pwned: undefined, scripts: 0, images: 0, handlers: 0, links: 0, hidden: false, wide: 390}, JSON.stringify(bad.slice(0, 40)));
  });

// Views say plainly what a document does not have.
const bare = runDocument({cases: 0, launches: 0});
delete bare.devices[0].ceilings;
await opened(file('bare', [['bare.json', bare]]), {}, async (page) => {
  assert.deepEqual(await sections(page), ['overview', 'roofline', 'fragmentation', 'identity', 'failures']);
  assert.match(await text(page, '#roofline'), /No roofline: no case/);
  assert.match(await text(page, '#fragmentation'), /No fragmentation map/);
});

// Large: 200 cases x 10 launches x 100 samples. Figures for the reader; a bound only against a page that hangs.
const large = file('large', [['large.json', runDocument({cases: 200, launches: 10, samples: 100})]]);
await opened(large, {}, async (page) => {
  const times = await page.evaluate(() => { const n = performance.getEntriesByType('navigation')[0]; const p = performance.getEntriesByName('first-contentful-paint')[0];
    return {loaded: Math.round(n.loadEventEnd), painted: Math.round(p?.startTime ?? -1)}; });
  const typing = await page.evaluate(() => { const t = performance.now(); const i = document.querySelector('#samples input[type=search]'); i.value = 'softmax'; i.dispatchEvent(new Event('input'));
    return Math.round(performance.now() - t); });
  console.log(`200 cases x 10 launches x 100 samples, ${(readFileSync(large).length / 1e6).toFixed(1)} MB: loaded after ${times.loaded} ms, painted after ${times.painted} ms, filtered in ${typing} ms`);
  assert.match(await text(page, '#samples [role=status]'), /cases? of 184/);
});

// The program's own pages of the published examples.
for (const name of ['run-ok', 'run-out-of-memory', 'run-hung-launch', 'run-recovered', 'measure-dense', 'estimate-reserved']) {
  const page = join(work, `${name}.html`);
  rmSync(page, {force: true});
  execFileSync(program, ['report', join(examples, `${name}.json`), '--html', page]);
  await opened(page, {}, async (p) => {
    assert.match(await text(p, '#overview'), new RegExp(`${name}\\.json`));
    if (name === 'run-ok') assert.ok(await count(p, '#memory svg path.part') > 0);
  });
}

await browser.close();
console.log(`${checks} pages opened, ${HOSTILE.length} hostile words inert`);
