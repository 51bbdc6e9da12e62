// SPDX-License-Identifier: Apache-2.0
// The page's own arithmetic and words, held against values computed here another way; colours against contrast and
// colour blindness. usage: node words.mjs MODULES WORK VIEWER_FOLDER TESTS_FOLDER
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [modules, work, folder, tests] = process.argv.slice(2);
const esbuild = createRequire(join(modules, 'package.json'))('esbuild');
const load = async (name) => {
  const outfile = join(work, `${name.replace('/', '-')}.mjs`);
  esbuild.buildSync({entryPoints: [join(folder, 'src', `${name}.ts`)], bundle: true, format: 'esm', outfile, nodePaths: [join(modules, 'node_modules')]});
  return import(pathToFileURL(outfile));
};
const [format, stats, palette, timed, memory, identity, comparison, roofline, dom] = await Promise.all(
  ['format', 'stats', 'palette', 'timed', 'views/memory', 'views/identity', 'views/comparison', 'views/roofline', 'dom'].map(load));
const {random, runDocument, compareDocument} = await import(pathToFileURL(join(tests, 'fixtures.mjs')));

// Numbers.
for (const [value, text] of [[0, '0 B'], [1023, '1023 B'], [1024, '1.00 KiB'], [14e9, '13.04 GiB'], [2 ** 40 - 1, '1.00 TiB'], [-2048, '-2.00 KiB'], [2 ** 53 - 1, '8.00 PiB']])
  assert.equal(format.bytes(value), text);
for (const [value, text] of [[12, '12 ns'], [1500, '1.500 \u00b5s'], [2.5e6, '2.500 ms'], [6.151e9, '6.151 s']]) assert.equal(format.duration(value), text);
assert.equal(format.quantity({value: null, unit: 'bytes', basis: 'observed', reason: 'no counter'}), 'n/a: no counter');
assert.equal(format.quantity({value: 1024, unit: 'bytes', basis: 'observed'}), '1.00 KiB');
assert.equal(format.percent(1.05), '+5.00 %');
assert.equal(format.percent(0.9), '\u221210.0 %');
for (const most of [1, 999, 1.3e6, 14.7e9, 3e12]) {
  const {values} = format.byteTicks(most, 6);
  assert.ok(values.length >= 2 && values.length <= 14 && values.at(-1) <= most * 1.001, `ticks up to ${most}: ${values}`);
}

// Hidden characters are shown, and only they are touched.
assert.equal(dom.plain('a\u202eb\u0000'), 'a[U+202E]b[U+0000]');
assert.equal(dom.plain('\u043f\u0440\u0438\u0432\u0435\u0442 <b>'), '\u043f\u0440\u0438\u0432\u0435\u0442 <b>');
assert.equal([...dom.shortened('x'.repeat(500), 40)].length, 40);

// The interval of a median covers it as often as it says: 2000 draws from a skewed law with the median 1.
const r = random(7);
for (const n of [6, 8, 15, 40]) {
  let held = 0;
  const level = stats.medianInterval(Array.from({length: n}, (_, i) => i)).level;
  for (let i = 0; i < 2000; ++i) {
    const {low, high} = stats.medianInterval(Array.from({length: n}, () => Math.exp(Math.log(1 / r() - 1))));
    held += low <= 1 && 1 <= high ? 1 : 0;
  }
  assert.ok(level >= 0.95 && Math.abs(held / 2000 - level) < 0.02, `${n} values: ${held / 2000} held, ${level} said`);
}
assert.equal(stats.medianInterval([1, 2, 3, 4, 5]), null);
assert.equal(stats.median([3, 1, 2, 10]), 2.5);
assert.deepEqual([...Array(5).keys()].map(stats.jitter), [...Array(5).keys()].map(stats.jitter));

// Samples: every one of them arrives, each launch once.
const run = runDocument({cases: 11, launches: 6, samples: 9});
const cases = timed.gather([{file: 'a', counters_left_out: 0, document: run}]);
assert.equal(cases.length, 2 + 10);
assert.equal(cases.reduce((n, c) => n + timed.sampleCount(c), 0), 12 * 6 * 9);
for (const c of cases) assert.deepEqual(c.groups.map((g) => g.medians.length), [6]);

// Memory: the drawn parts are disjoint, so they add up to what the device has in use, and reserved stands below it.
for (const launch of run.devices[0].launches) {
  const points = memory.checkpoints(launch);
  const names = memory.partsOf(points);
  assert.equal(points.length, 24);
  for (const p of points) {
    const sum = names.reduce((total, name) => total + p.terms.get(name), 0);
    assert.equal(sum, p.terms.get('device_used'));
    assert.equal(sum - p.terms.get('baseline') - p.terms.get('external'), p.terms.get('reserved'));
  }
  assert.ok(!['reserved', 'allocated', 'active', 'pending', 'device_used'].some((n) => names.includes(n)));
}

// Identity: an unknown thing equals nothing, another unknown included; a device alone differs from nothing.
const device = (fields) => ({identity: {fields, findings: []}});
const value = (v, tier = 'thing') => ({tier, state: 'value', value: v, source: ''});
const unknown = {tier: 'thing', state: 'unknown', value: null, reason: 'r', source: ''};
const said = (a, b) => identity.compareFields([device({k: a}), device(b ? {k: b} : {})])[0].verdict;
assert.equal(said(value('x'), value('x')), 'equal');
assert.equal(said(value('x'), value('y')), 'differs');
assert.equal(said(unknown, unknown), 'unknown');
assert.equal(said(value('x'), null), 'differs');
assert.equal(said(value('unknown'), unknown), 'unknown');
assert.equal(identity.compareFields([device({k: unknown})])[0].verdict, 'single');

// The worst change first, whichever direction is better; what has no ratio last.
const order = comparison.byEffect([
  {name: 'faster', ratio: 0.8, better: 'lower'}, {name: 'rate fell', ratio: 0.7, better: 'higher'}, {name: 'none', ratio: null, better: 'lower'},
  {name: 'slower', ratio: 1.2, better: 'lower'}, {name: 'rate rose', ratio: 1.1, better: 'higher'}]).map((c) => c.name);
assert.deepEqual(order, ['rate fell', 'slower', 'rate rose', 'faster', 'none']);
assert.equal(comparison.byEffect(compareDocument({}).body.cases).length, 40);

// Roofline: 100 MB and 40 MFLOP in 50 us are 2 TB/s, 0.8 TFLOP/s and 0.4 FLOP/B.
const q = (v, unit) => ({value: v, unit, basis: 'computed'});
const placed = roofline.place([{file: 'a', document: {devices: [{name: 'd', cases: [{name: 'c', cost: {bytes: q(1e8, 'bytes'), flops: q(4e7, 'flop')},
  samples: [{name: 't', unit: 'ns', basis: 'observed', values: [5e4, 4e4, 9e4], flags: []}]}, {name: 'no cost', samples: []}]}]}}]).placed;
assert.equal(placed.length, 1);
assert.ok(Math.abs(placed[0].reached - 8e11) < 1 && Math.abs(placed[0].bytesRate - 2e12) < 1 && placed[0].intensity === 0.4);

// Colours: each stands 3 : 1 against the ground (WCAG 1.4.11), words in them 4.5 : 1, and neighbours in the stack stay apart for
// every eye, by hue or by lightness (OKLab distance under the three dichromacies after Machado, Oliveira and Fernandes 2009).
const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const luminance = ([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;
const contrast = (a, b) => { const [x, y] = [luminance(linear(a)), luminance(linear(b))].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
const SEEN = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const times = (m, v) => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));
const oklab = (rgb) => times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
  times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb.map((c) => Math.min(1, Math.max(0, c)))).map(Math.cbrt));
const apart = (a, b, eye) => Math.hypot(...oklab(times(SEEN[eye], linear(a))).map((x, i) => x - oklab(times(SEEN[eye], linear(b)))[i]));
const stack = ['weights', 'inputs', 'kv', 'activation', 'workspace', 'output', 'slack', 'inactive_pieces', 'free_segments', 'external', 'baseline'];
const problems = [];
for (const theme of ['light', 'dark']) {
  const ground = palette.ground[theme];
  const need = (name, colour, least) => { const c = contrast(colour, ground); if (c < least) problems.push(`${theme} ${name} ${colour}: contrast ${c.toFixed(2)}, needs ${least}`); };
  for (const [name, c] of Object.entries(palette.parts)) need(name, c[theme], 3);
  palette.series.forEach((c, i) => need(`series ${i}`, c[theme], 3));
  for (const [name, c] of Object.entries(palette.verdicts)) need(name, c[theme], 4.5);
  for (const eye of Object.keys(SEEN)) {
    for (let i = 1; i < stack.length; ++i) {
      const d = apart(palette.parts[stack[i - 1]][theme], palette.parts[stack[i]][theme], eye);
      if (d < 0.08) problems.push(`${theme}, ${eye}: ${stack[i - 1]} and ${stack[i]} are ${d.toFixed(3)} apart`);
    }
    for (const [a, b] of [['regressed', 'improved'], ['regressed', 'same'], ['improved', 'same']]) {
      const d = apart(palette.verdicts[a][theme], palette.verdicts[b][theme], eye);
      if (d < 0.08) problems.push(`${theme}, ${eye}: ${a} and ${b} are ${d.toFixed(3)} apart`);
    }
    const d = apart(palette.series[0][theme], palette.series[1][theme], eye);
    if (d < 0.08) problems.push(`${theme}, ${eye}: series 0 and 1 are ${d.toFixed(3)} apart`);
  }
}
assert.deepEqual(problems, []);
assert.ok(apart('#00558f', '#00568f', 'all') < 0.08 && contrast('#dddddd', '#ffffff') < 3, 'the colour checks can fail');
console.log('words, numbers and colours of the viewer hold');
