// SPDX-License-Identifier: Apache-2.0
// Samples as strips: every point, a row a launch, the launch's median, and the interval over the launches.
import {scaleLinear, scalePoint} from 'd3-scale';
import {extent} from 'd3-array';
import {axisX, chart, dots, legend, marker, type Frame} from '../chart.ts';
import type {Given} from '../data.ts';
import {announcer, behind, checkbox, choice, h, own, plain, s, search, shortened, table} from '../dom.ts';
import {count, measure, tickText} from '../format.ts';
import {jitter, median} from '../stats.ts';
import {flagged, gather, matches, sampleCount, spread, type Row, type Timed} from '../timed.ts';
import {series as colours} from '../palette.ts';
import {section} from '../section.ts';

const PAGE = 8;
const ROW = 24;

function draw(frame: Frame, timed: Timed): void {
  const {plot, width, height} = frame;
  let [low, high] = extent(timed.rows.flatMap((r) => extent(r.values) as [number, number])) as [number, number];
  if (low === high) [low, high] = low === 0 ? [-1, 1] : [low - Math.abs(low) * 0.05, high + Math.abs(high) * 0.05];
  const x = scaleLinear([low, high], [8, width - 8]).nice(Math.max(2, Math.floor(width / 110)));
  const y = scalePoint(timed.rows.map((_, i) => i), [ROW / 2, height - ROW / 2]);
  axisX(frame, x, x.ticks(Math.max(2, Math.floor(width / 110))), tickText(x.domain()[1]!, timed.unit));
  timed.groups.forEach((group) => {
    const mine = timed.rows.flatMap((r, i) => (r.document === group.document && r.device === group.device ? [i] : []));
    const top = y(mine[0]!)! - ROW / 2 + 1;
    const bottom = y(mine[mine.length - 1]!)! + ROW / 2 - 1;
    const c = group.document % colours.length;
    if (group.interval) {
      const left = x(group.interval.low);
      plot.append(s('rect', {class: `interval series-${c}`, x: left, y: top, width: Math.max(x(group.interval.high) - left, 1), height: bottom - top}));
    }
    if (group.medians.length > 1)
      plot.append(s('line', {class: `groupmedian series-${c}`, x1: x(group.median), x2: x(group.median), y1: top, y2: bottom}));
  });
  timed.rows.forEach((row, i) => {
    const c = row.document % colours.length;
    const centre = y(i)!;
    const clean: [number, number][] = [];
    const suspect: [number, number][] = [];
    row.values.forEach((v, k) => (row.flags[k] ? suspect : clean).push([x(v), centre + jitter(k) * (ROW - 10)]));
    plot.append(
      s('line', {class: 'grid', x1: 0, x2: width, y1: centre, y2: centre}),
      s('path', {class: `dots series-${c}`, d: dots(clean)}),
      s('path', {class: 'flagged', d: suspect.map(([px, py]) => `M${px - 3},${py - 3}l6,6m0,-6l-6,6`).join('')}),
      s('line', {class: 'launchmedian', x1: x(row.median), x2: x(row.median), y1: centre - 9, y2: centre + 9},
        s('title', {}, `${row.label}: median ${measure(row.median, timed.unit)} of ${count(row.values.length, 'sample')}`)),
      s('path', {class: `series-${c}`, d: marker(row.document, -74, centre, 3.5)}),
      s('text', {class: 'rowname', x: -64, y: centre + 4}, shortened(row.label, 11)));
  });
}

function launchTable(timed: Timed, names: string[]): HTMLElement {
  return table(`${shortened(timed.name, 120)}: each launch`, [
    {name: 'Document', head: true, cell: (r: Row) => own(names[r.document]!, 60)},
    {name: 'Device', cell: (r) => own(r.device)},
    {name: 'Launch', cell: (r) => own(r.label)},
    {name: 'Samples', number: true, cell: (r) => r.values.length},
    {name: 'Flagged', number: true, cell: (r) => r.flags.filter((f) => f !== '').length},
    {name: 'Median', number: true, cell: (r) => measure(r.median, timed.unit)},
    {name: 'Lowest', number: true, cell: (r) => measure(Math.min(...r.values), timed.unit)},
    {name: 'Highest', number: true, cell: (r) => measure(Math.max(...r.values), timed.unit)},
    {name: 'Why flagged', cell: (r) => own([...new Set(r.flags.filter((f) => f !== ''))].join('; '))},
  ], timed.rows);
}

function summary(timed: Timed, names: string[]): HTMLElement {
  return h('ul', {class: 'facts'}, timed.groups.map((g) => h('li', {}, own(names[g.document]!, 40), ', ', own(g.device), ': ',
    `median of ${count(g.medians.length, 'launch', 'launches')} ${measure(g.median, timed.unit)}, `,
    g.interval
      ? `interval ${measure(g.interval.low, timed.unit)} to ${measure(g.interval.high, timed.unit)} (${(g.interval.level * 100).toFixed(1)} %)`
      : 'no interval (fewer than 6 launches)')));
}

function card(timed: Timed, names: string[]): HTMLElement {
  return h('article', {class: 'strip'},
    h('h3', {}, own(timed.name, 160)),
    chart(`Samples of ${shortened(timed.name, 160)}: ${count(sampleCount(timed), 'sample')} in ${count(timed.rows.length, 'launch', 'launches')}`,
      timed.rows.length * ROW + 40, {top: 6, right: 34, bottom: 30, left: 88}, (frame) => draw(frame, timed)),
    h('p', {class: 'basis'}, `Samples ${plain(timed.basis)}; medians and intervals computed from them.` +
      (flagged(timed) ? ` ${count(flagged(timed), 'sample is', 'samples are')} flagged (crosses).` : '')),
    summary(timed, names), behind('The launches as a table', () => launchTable(timed, names)));
}

function overview(all: Timed[], names: string[]): HTMLElement {
  interface Line { timed: Timed; group: Timed['groups'][number] }
  const lines: Line[] = all.flatMap((timed) => timed.groups.map((group) => ({timed, group})));
  return table('Every case: the median over its launches', [
    {name: 'Case', head: true, cell: (l: Line) => own(l.timed.name, 90)},
    {name: 'Document', cell: (l) => own(names[l.group.document]!, 40)},
    {name: 'Device', cell: (l) => own(l.group.device)},
    {name: 'Launches', number: true, cell: (l) => l.group.medians.length},
    {name: 'Median', number: true, cell: (l) => measure(l.group.median, l.timed.unit)},
    {name: 'Interval', number: true, cell: (l) => (l.group.interval
      ? `${measure(l.group.interval.low, l.timed.unit)} to ${measure(l.group.interval.high, l.timed.unit)}` : 'fewer than 6 launches')},
  ], lines);
}

export function samples(given: Given[]): HTMLElement | null {
  const all = gather(given);
  if (all.length === 0) return null;
  const names = given.map((g) => g.file);
  const list = h('div', {class: 'strips'});
  const said = announcer();
  const more = h('button', {type: 'button'});
  let needle = '';
  let sort = 'document';
  let onlyFlagged = false;
  let shown = PAGE;
  const chosen = (): Timed[] => {
    const picked = all.filter((t) => matches(t, needle) && (!onlyFlagged || flagged(t) > 0));
    if (sort === 'name') picked.sort((a, b) => a.name.localeCompare(b.name, 'en'));
    if (sort === 'spread') picked.sort((a, b) => spread(b) - spread(a));
    if (sort === 'slowest') picked.sort((a, b) => median(b.rows.map((r) => r.median)) - median(a.rows.map((r) => r.median)));
    return picked;
  };
  const update = (from = 0) => {
    const picked = chosen();
    if (from === 0) list.replaceChildren();
    for (const timed of picked.slice(from, shown)) list.append(card(timed, names));
    const left = picked.length - Math.min(shown, picked.length);
    said.textContent = picked.length === 0 ? 'No case matches.'
      : `${count(picked.length, 'case')} of ${all.length}; ${Math.min(shown, picked.length)} drawn.`;
    more.hidden = left === 0;
    more.textContent = `Draw ${Math.min(left, PAGE)} more`;
  };
  more.addEventListener('click', () => {
    const from = shown;
    shown += PAGE;
    update(from);
    (list.children[from] as HTMLElement | undefined)?.querySelector<HTMLElement>('summary')?.focus();
  });
  const reset = () => { shown = PAGE; update(); };
  update();
  return section('samples', 'Samples',
    h('div', {class: 'controls'},
      search('Find a case', (w) => { needle = w; reset(); }),
      choice('Order', [['document', 'as in the document'], ['name', 'by name'], ['spread', 'launches furthest apart'], ['slowest', 'highest value']],
        sort, (v) => { sort = v; reset(); }),
      checkbox('only cases with flagged samples', false, (on) => { onlyFlagged = on; reset(); })),
    said,
    legend([
      {text: 'one sample (its height within the row means nothing)', mark: (svg) => svg.append(s('path', {class: 'dots series-0', d: 'M3,4h0M8,9h0M13,5h0'}))},
      {text: 'median of the launch', mark: (svg) => svg.append(s('line', {class: 'launchmedian', x1: 8, x2: 8, y1: 0, y2: 14}))},
      {text: 'median of the launches, with its interval', mark: (svg) => svg.append(
        s('rect', {class: 'interval series-0', x: 2, y: 0, width: 12, height: 14}), s('line', {class: 'groupmedian series-0', x1: 8, x2: 8, y1: 0, y2: 14}))},
      {text: 'flagged sample', mark: (svg) => svg.append(s('path', {class: 'flagged', d: 'M4,3l7,7m0,-7l-7,7'}))},
    ]),
    h('ul', {class: 'legend'}, names.map((name, i) => {
      if (!all.some((t) => t.groups.some((group) => group.document === i))) return null;
      const svg = s('svg', {width: 16, height: 14, 'aria-hidden': 'true'}, s('path', {class: `series-${i % colours.length}`, d: marker(i, 8, 7)}));
      return h('li', {}, svg, own(name, 60));
    })),
    list, more, behind(`All ${all.length} cases as a table`, () => overview(all, names)));
}

