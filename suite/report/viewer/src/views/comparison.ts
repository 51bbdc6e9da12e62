// SPDX-License-Identifier: Apache-2.0
// A compare document: what may be compared, each case's ratio with its interval and verdict, memory, what stands alone.
import {scaleLinear, scalePoint} from 'd3-scale';
import {axisX, chart, legend, marker, swatch, type Frame} from '../chart.ts';
import type {Given} from '../data.ts';
import {announcer, behind, choice, h, own, plain, s, search, shortened, table} from '../dom.ts';
import {bytes, count, measure, number, percent} from '../format.ts';
import {section} from '../section.ts';

interface Side { medians: number[]; median: number | null; left_out: {launch: string; reason: string}[] }
interface ComparedCase {
  name: string; subject: string; verdict: string; reason: string; ratio: number | null; interval: [number, number] | null;
  unit: string; better: string; p: number | null; adjusted_p: number | null; margin: number; baseline: Side; candidate: Side;
  launches_needed?: number; accepted?: {reason: string; until: string}; anchor?: boolean;
}
interface Memory {
  name: string; subject: string; counter: string; verdict: string; baseline_bytes: number; candidate_bytes: number;
  tolerance_bytes: number; accepted?: {reason: string; until: string};
}
interface Pair {
  subject: string; relation: string; same_board: boolean; time_confounded: boolean;
  baseline: {documents: string[]; launches_ok: number}; candidate: {documents: string[]; launches_ok: number};
  fields: {key: string; tier: string; baseline: string; candidate: string}[];
  findings: {side: string; text: string; refuses: boolean}[]; shared_unknown: string[];
}
export interface Comparison {
  identity: {relation: string; pairs: Pair[]};
  rule: {alpha: number; level: number; margin: number; across: boolean; family: number; launches_least: number};
  counts: Record<string, number>;
  cases: ComparedCase[]; memory: Memory[];
  unmatched: {name: string; subject: string; missing_in: string; reason: string}[];
  notes: string[]; exit_code: number;
}

const ROW = 22;
const SHAPE: Record<string, number> = {regressed: 2, improved: 4, same: 0, inconclusive: 3};

// How bad: above 1 is worse, whichever direction is better.
function harm(c: ComparedCase): number {
  if (c.ratio === null || c.ratio <= 0) return 0;
  return Math.log(c.ratio) * (c.better === 'higher' ? -1 : 1);
}

export function byEffect(cases: ComparedCase[]): ComparedCase[] {
  return [...cases].sort((a, b) => Number(a.ratio === null) - Number(b.ratio === null) || harm(b) - harm(a) || a.name.localeCompare(b.name, 'en'));
}

function verdictClass(verdict: string): string {
  return `verdict-${SHAPE[verdict] === undefined ? 'inconclusive' : verdict}`;
}

function drawForest(frame: Frame, cases: ComparedCase[]): void {
  const {plot, width, height} = frame;
  const ends = cases.flatMap((c) => [c.ratio ?? 1, ...(c.interval ?? []), 1 - c.margin, 1 + c.margin]).filter((v) => v > 0);
  const reach = Math.min(1, Math.max(0.05, ...ends.map((v) => Math.abs(v - 1))) * 1.05);
  const most = Math.max(1 + reach, ...ends);
  const x = scaleLinear([1 - reach, most], [0, width]).clamp(true);
  const y = scalePoint(cases.map((_, i) => i), [ROW / 2, height - ROW / 2]);
  cases.forEach((c, i) => {
    const centre = y(i)!;
    plot.append(s('rect', {class: 'margin', x: x(1 - c.margin), width: x(1 + c.margin) - x(1 - c.margin), y: centre - ROW / 2, height: ROW}));
  });
  const ticks = x.ticks(frame.narrow ? 4 : 7);
  for (const tick of ticks) plot.append(s('line', {class: 'grid', x1: x(tick), x2: x(tick), y1: 0, y2: height}));
  plot.append(s('line', {class: 'unity', x1: x(1), x2: x(1), y1: 0, y2: height}));
  axisX(frame, x, ticks, (v) => percent(v));
  cases.forEach((c, i) => {
    const centre = y(i)!;
    const kind = verdictClass(c.verdict);
    const g = s('g', {}, s('title', {}, caseText(c)));
    if (c.interval) g.append(s('line', {class: `whisker ${kind}`, x1: x(c.interval[0]), x2: x(c.interval[1]), y1: centre, y2: centre}));
    if (c.ratio !== null) g.append(s('path', {class: `point ${kind}`, d: marker(SHAPE[c.verdict] ?? 5, x(c.ratio), centre, 4.5)}));
    else g.append(s('text', {class: 'rowname', x: x(1) + 6, y: centre + 4}, 'no ratio'));
    if (!frame.narrow) g.append(s('text', {class: 'rowname end', x: -10, y: centre + 4}, shortened(c.name, 37)));
    else g.append(s('text', {class: 'rowname end', x: -8, y: centre + 4}, `${i + 1}`));
    plot.append(g);
  });
}

function caseText(c: ComparedCase): string {
  return `${plain(c.name)}: ${c.ratio === null ? 'no ratio' : percent(c.ratio)}` +
    (c.interval ? `, interval ${percent(c.interval[0])} to ${percent(c.interval[1])}` : '') + `, ${plain(c.verdict)}`;
}

function caseTable(cases: ComparedCase[]): HTMLElement {
  let n = 0;
  const left = (c: ComparedCase) => [...c.baseline.left_out.map((l) => `baseline ${l.launch}: ${l.reason}`),
    ...c.candidate.left_out.map((l) => `candidate ${l.launch}: ${l.reason}`)].join('; ');
  return table('Cases, the worst change first. Medians of observed samples; ratio, interval and p computed from them.', [
    {name: 'No.', number: true, cell: () => ++n},
    {name: 'Case', head: true, cell: (c: ComparedCase) => own(c.name, 90)},
    {name: 'Verdict', cell: (c) => h('strong', {class: verdictClass(c.verdict)}, plain(c.verdict), c.accepted ? ' (accepted)' : '')},
    {name: 'Change', number: true, cell: (c) => (c.ratio === null ? 'n/a' : percent(c.ratio))},
    {name: 'Interval', number: true, cell: (c) => (c.interval ? `${percent(c.interval[0])} to ${percent(c.interval[1])}` : 'n/a')},
    {name: 'Better', cell: (c) => own(c.better)},
    {name: 'Baseline', number: true, cell: (c) => (c.baseline.median === null ? 'n/a' : measure(c.baseline.median, c.unit))},
    {name: 'Candidate', number: true, cell: (c) => (c.candidate.median === null ? 'n/a' : measure(c.candidate.median, c.unit))},
    {name: 'Launches', number: true, cell: (c) => `${c.baseline.medians.length} / ${c.candidate.medians.length}`},
    {name: 'p after Holm', number: true, cell: (c) => (c.adjusted_p === null ? 'n/a' : number(c.adjusted_p))},
    {name: 'Margin', number: true, cell: (c) => `\u00b1${+(c.margin * 100).toFixed(2)} %`},
    {name: 'Why', cell: (c) => own([c.reason, c.launches_needed ? `${c.launches_needed} launches a side would decide` : '',
      c.accepted ? `accepted until ${c.accepted.until}: ${c.accepted.reason}` : '', left(c)].filter(Boolean).join('; '))},
  ], cases);
}

function memoryTable(rows: Memory[]): HTMLElement {
  return table('Peaks of memory: exact integers, observed', [
    {name: 'Peak', head: true, cell: (m: Memory) => own(m.name, 120)},
    {name: 'Verdict', cell: (m) => h('strong', {class: m.verdict === 'grown' ? 'verdict-regressed' : m.verdict === 'shrunk' ? 'verdict-improved' : 'verdict-same'}, plain(m.verdict), m.accepted ? ' (accepted)' : '')},
    {name: 'Baseline', number: true, cell: (m) => bytes(m.baseline_bytes)},
    {name: 'Candidate', number: true, cell: (m) => bytes(m.candidate_bytes)},
    {name: 'Difference', number: true, cell: (m) => `${m.candidate_bytes - m.baseline_bytes} B`},
    {name: 'Tolerance', number: true, cell: (m) => `${m.tolerance_bytes} B`},
  ], rows, (m) => (m.verdict === 'grown' ? 'bad' : ''));
}

function pairView(pair: Pair): HTMLElement {
  return h('div', {class: 'pair'},
    h('h3', {}, own(pair.subject), ': ', h('strong', {}, plain(pair.relation))),
    h('p', {}, 'Baseline ', own(pair.baseline.documents.join(', ')), ` (${count(pair.baseline.launches_ok, 'launch', 'launches')}); candidate `,
      own(pair.candidate.documents.join(', ')), ` (${count(pair.candidate.launches_ok, 'launch', 'launches')}). `,
      pair.same_board ? 'Same board. ' : 'Not known to be the same board. ',
      pair.time_confounded ? 'One side was measured before the other: a drift of the machine looks like a change.' : ''),
    pair.findings.length > 0 ? h('ul', {class: 'badlist'}, pair.findings.map((f) => h('li', {}, `${plain(f.side)}: `, own(f.text)))) : null,
    pair.fields.length > 0
      ? table('Fields that differ', [
        {name: 'Field', head: true, cell: (f: Pair['fields'][number]) => own(f.key)},
        {name: 'Tier', cell: (f) => own(f.tier)},
        {name: 'Baseline', cell: (f) => own(f.baseline)},
        {name: 'Candidate', cell: (f) => own(f.candidate)},
      ], pair.fields, (f) => (f.tier === 'thing' ? 'differs tier-thing' : f.tier === 'change' ? 'differs tier-change' : ''))
      : h('p', {}, 'No field differs.'));
}

function one(file: string, body: Comparison): Node[] {
  const holder = h('div');
  const said = announcer();
  const kinds = [...new Set(body.cases.map((c) => c.verdict))];
  let verdict = 'all';
  let needle = '';
  const update = () => {
    const rows = byEffect(body.cases).filter((c) => (verdict === 'all' || c.verdict === verdict) &&
      (needle === '' || plain(c.name).toLowerCase().includes(needle)));
    said.textContent = rows.length === 0 ? 'No case matches.' : `${count(rows.length, 'case')} of ${body.cases.length} shown, the worst change first.`;
    const drawn = rows.slice(0, 80);
    const node: Node[] = [];
    if (drawn.length > 0) {
      // Names stand beside a wide figure; a narrow one numbers its rows as the table does.
      node.push(chart(`Change of each case in ${shortened(file, 60)}, with its interval`, drawn.length * ROW + 40,
        (narrow) => ({top: 4, right: 30, bottom: 34, left: narrow ? 34 : 270}), (frame) => drawForest(frame, drawn)));
      if (rows.length > drawn.length) node.push(h('p', {}, `The first ${drawn.length} are drawn; the table holds all.`));
      node.push(caseTable(rows));
    }
    holder.replaceChildren(...node);
  };
  update();
  const counts = ['regressed', 'accepted', 'improved', 'same', 'inconclusive', 'excluded', 'not_judged', 'memory_grown', 'memory_shrunk', 'unmatched']
    .filter((k) => body.counts[k]).map((k) => `${body.counts[k]} ${k.replace('_', ' ')}`);
  return [
    h('h3', {}, own(file, 80)),
    h('p', {class: body.exit_code === 0 ? null : 'warn'}, h('strong', {}, `Identity: ${plain(body.identity.relation)}. `),
      counts.length > 0 ? `Found: ${counts.join(', ')}. ` : 'Nothing was compared. ', `Exit code ${body.exit_code}.`),
    h('p', {}, body.rule.across ? 'A table across families: no verdicts. ' : `A verdict needs an exact p below ${body.rule.alpha} after Holm over ${count(body.rule.family, 'case')}, and a change beyond \u00b1${+(body.rule.margin * 100).toFixed(2)} %; at least ${count(body.rule.launches_least, 'launch', 'launches')} a side. `,
      `Intervals ${+(body.rule.level * 100).toFixed(1)} %.`),
    body.notes.length > 0 ? h('ul', {class: 'facts'}, body.notes.map((n) => h('li', {}, own(n)))) : h('span'),
    h('div', {class: 'controls'}, choice('Verdict', [['all', `all (${body.cases.length})`], ...kinds.map((k) =>
      [k, `${plain(k)} (${body.cases.filter((c) => c.verdict === k).length})`] as [string, string])], 'all', (v) => { verdict = v; update(); }),
      search('Find a compared case', (w) => { needle = w; update(); })),
    said,
    legend([...['regressed', 'improved', 'same', 'inconclusive'].map((v) => ({text: v, mark: (svg: SVGSVGElement) => svg.append(s('path', {class: `point verdict-${v}`, d: marker(SHAPE[v]!, 8, 7)}))})),
      {text: 'margin: changes inside it do not count', mark: swatch('margin')}]),
    holder,
    body.memory.length > 0 ? behind(`Memory: ${count(body.memory.length, 'peak')}, ${body.memory.filter((m) => m.verdict === 'grown').length} grown`, () => memoryTable(body.memory)) : h('p', {}, 'No peaks of memory were compared.'),
    body.unmatched.length > 0
      ? behind(`${count(body.unmatched.length, 'case')} without a partner`, () => table('Not compared', [
        {name: 'Case', head: true, cell: (u: Comparison['unmatched'][number]) => own(u.name, 120)},
        {name: 'Missing in', cell: (u) => own(u.missing_in)}, {name: 'Why', cell: (u) => own(u.reason)}], body.unmatched))
      : h('p', {}, 'Every case has a partner.'),
    ...body.identity.pairs.map(pairView)];
}

export function comparison(given: Given[]): HTMLElement | null {
  const found = given.filter((g) => g.document.kind === 'compare' && g.document.body);
  if (found.length === 0) return null;
  return section('comparison', 'Comparison', ...found.flatMap((g) => one(g.file, g.document.body as Comparison)));
}
