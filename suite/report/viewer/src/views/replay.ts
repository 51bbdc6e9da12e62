// SPDX-License-Identifier: Apache-2.0
// A replay document: policies beside each other, memory over the events, and the map of segments and blocks at the peak.
import {scaleLinear} from 'd3-scale';
import {line} from 'd3-shape';
import {axisX, axisY, chart, legend, stroke, swatch, type Frame} from '../chart.ts';
import type {Given} from '../data.ts';
import {behind, choice, h, own, plain, s, shortened, table} from '../dom.ts';
import {byteTicks, bytes, count, quantity, words} from '../format.ts';
import type {Layout, Policy, Segment, Series, Trace} from '../replay.ts';
import {absent, section} from '../section.ts';

const LINES = ['requested', 'active', 'reserved'] as const;
const DRAWN = 80;  // segments of the map; the table holds all

function column(series: Series, name: (typeof LINES)[number]): number[] {
  return name === 'requested' ? series.requested_bytes : name === 'active' ? series.active_bytes : series.reserved_bytes;
}

function policyName(p: Policy): string {
  return `${plain(p.policy)}${p.options ? ` (${plain(p.options)})` : ''}${p.device ? `, device ${p.device}` : ''}`;
}

function drawSeries(frame: Frame, series: Series, capacity: number | undefined) {
  const n = series.event.length;
  const x = scaleLinear([series.event[0] ?? 0, Math.max(series.event[n - 1] ?? 1, 1)], [0, frame.width]);
  const peak = Math.max(1, ...LINES.map((name) => column(series, name).reduce((a, b) => Math.max(a, b), 0)));
  const most = Math.max(peak, capacity !== undefined && capacity < peak * 2 ? capacity : 0) * 1.06;
  const y = scaleLinear([0, most], [frame.height, 0]);
  const ticks = byteTicks(most, frame.narrow ? 4 : 6);
  axisY(frame, y, ticks.values, ticks.text);
  axisX(frame, x, x.ticks(frame.narrow ? 3 : 7), (v) => String(v));
  frame.plot.append(s('text', {class: 'axisname', x: frame.width / 2, y: frame.height + 36}, 'event of the trace'));
  if (capacity !== undefined && capacity <= most)
    frame.plot.append(s('line', {class: 'unity', x1: 0, x2: frame.width, y1: y(capacity), y2: y(capacity)}, s('title', {}, `capacity ${bytes(capacity)}`)));
  for (const name of LINES) {
    const values = column(series, name);
    const d = line<number>().x((i) => x(series.event[i]!)).y((i) => y(values[i]!))(values.map((_, i) => i));
    frame.plot.append(s('path', {class: `line-${name === 'active' ? 'allocated' : name}`, d}));
  }
  return {xs: series.event.map((e) => x(e)), say: (i: number) => `Up to event ${series.event[i]}: ` +
    LINES.map((name) => `${name} ${bytes(column(series, name)[i]!)}`).join(', ')};
}

export function stateClass(state: string): string {
  return state === 'active_allocated' ? 'block-allocated' : state === 'active_pending_free' ? 'block-pending' : 'block-free';
}

function drawMap(frame: Frame, segments: Segment[]): void {
  const widest = Math.max(1, ...segments.map((g) => g.bytes));
  const x = scaleLinear([0, widest], [0, frame.width]);
  const row = frame.height / segments.length;
  const ticks = byteTicks(widest, frame.narrow ? 3 : 6);
  axisX(frame, x, ticks.values, ticks.text);
  segments.forEach((g, i) => {
    const top = i * row + 1;
    const tall = Math.max(row - 3, 2);
    const node = s('g', {}, s('rect', {class: 'segment', x: 0, y: top, width: Math.max(x(g.bytes), 1), height: tall}));
    let offset = 0;
    for (const run of g.runs) {
      const left = x(offset);
      offset += run.bytes;
      node.append(s('rect', {class: stateClass(run.state), x: left, y: top, width: Math.max(x(offset) - left, 0.5), height: tall},
        s('title', {}, `${words(run.state)}: ${bytes(run.bytes)} in ${count(run.blocks, 'block')}`)));
    }
    if (g.runs.length === 0) {
      // Only the sum is known: where inside the segment it lies is not.
      node.append(s('rect', {class: 'block-unknown', x: 0, y: top, width: Math.max(x(g.bytes), 1), height: tall},
        s('title', {}, `${bytes(g.active_bytes)} of ${bytes(g.bytes)} active; the document leaves out where`)));
    }
    node.append(s('text', {class: 'rowname end', x: -6, y: top + tall / 2 + 4}, frame.narrow ? plain(g.pool) : `${plain(g.pool)}${g.expandable ? ' exp.' : ''}, stream ${shortened(g.stream, 8)}`));
    frame.plot.append(node);
  });
}

function layoutView(name: string, layout: Layout): Node[] {
  const drawn = [...layout.segments].slice(0, DRAWN);
  const left = layout.segments.length - drawn.length + layout.segments_left_out;
  return [
    chart(`Segments and blocks at the peak of reserved memory, ${name}`, drawn.length * 20 + 40, (narrow) => ({top: 4, right: 24, bottom: 34, left: narrow ? 54 : 150}),
      (frame) => drawMap(frame, drawn)),
    legend([{text: 'allocated', mark: swatch('block-allocated')}, {text: 'freed, waiting for a stream', mark: swatch('block-pending')},
      {text: 'free: reserved and in no block', mark: swatch('block-free')}, {text: 'not in the document', mark: swatch('block-unknown')}]),
    h('p', {}, `At that instant (computed): reserved ${bytes(layout.reserved_bytes)}, of it active ${bytes(layout.active_bytes)} and free ${bytes(layout.free_bytes)} in ${count(layout.free_pieces, 'piece')}, the largest ${bytes(layout.largest_free_bytes)}. `,
      left > 0 ? `${count(left, 'segment')} not drawn. ` : '', layout.runs_left_out > 0 ? `${count(layout.runs_left_out, 'run')} of blocks left out of the document.` : ''),
    behind('The segments as a table', () => table('Segments at the peak, in the order of their addresses', [
      {name: 'Address', head: true, cell: (g: Segment) => own(g.address)},
      {name: 'Size', number: true, cell: (g) => bytes(g.bytes)},
      {name: 'Pool', cell: (g) => own(g.pool)},
      {name: 'Stream', cell: (g) => own(g.stream)},
      {name: 'Expandable', cell: (g) => (g.expandable ? 'yes' : 'no')},
      {name: 'Active', number: true, cell: (g) => bytes(g.active_bytes)},
      {name: 'Largest free', number: true, cell: (g) => bytes(g.largest_free_bytes)},
      {name: 'Blocks, in address order', cell: (g) => own(g.runs.map((r) => `${words(r.state)} ${bytes(r.bytes)} (${r.blocks})`).join(', '), 600)},
    ], layout.segments)),
  ];
}

function policies(trace: Trace): HTMLElement {
  return table('Policies on this trace. Everything computed, only the time per operation observed.', [
    {name: 'Policy', head: true, cell: (p: Policy) => own(policyName(p))},
    {name: 'Peak requested', number: true, cell: (p) => bytes(p.peak_requested_bytes)},
    {name: 'Peak active', number: true, cell: (p) => bytes(p.peak_active_bytes)},
    {name: 'Peak reserved', number: true, cell: (p) => bytes(p.peak_reserved_bytes)},
    {name: 'Free outside the largest free block', number: true, cell: (p) => `${(p.external_fragmentation * 100).toFixed(1)} %`},
    {name: 'Device allocations', number: true, cell: (p) => p.device_allocations},
    {name: 'Retries', number: true, cell: (p) => p.retries},
    {name: 'Smallest device', number: true, cell: (p) => (p.min_capacity_bytes === undefined ? 'not asked' : bytes(p.min_capacity_bytes))},
    {name: 'Time per operation', number: true, cell: (p) => (p.time_per_operation ? quantity(p.time_per_operation) : 'not measured')},
    {name: 'Out of memory', cell: (p) => (p.out_of_memory ? h('strong', {class: 'verdict-regressed'}, 'yes') : 'no')},
  ], trace.policies, (p) => (p.out_of_memory ? 'bad' : ''));
}

function policyView(p: Policy, trace: Trace): Node[] {
  const nodes: Node[] = [];
  const {series} = p;
  if (p.refusal) nodes.push(h('p', {class: 'warn'}, h('strong', {}, `Refused at event ${p.refusal.event}: `), own(p.refusal.sentence, 900)));
  if (series && series.event.length > 0) {
    nodes.push(chart(`Memory over the events, ${policyName(p)}`, 340, {top: 10, right: 20, bottom: 46, left: 74}, (frame) => drawSeries(frame, series, trace.capacity_bytes)),
      legend([{text: 'reserved (active included)', mark: stroke('line-reserved')}, {text: 'active', mark: stroke('line-allocated')}, {text: 'requested', mark: stroke('line-requested')},
        ...(trace.capacity_bytes !== undefined ? [{text: 'capacity', mark: stroke('unity')}] : [])]),
      behind('The series as a table', () => table(`Largest values since the point before, a point every ${count(series.events_per_point, 'event')}`, [
        {name: 'Up to event', head: true, cell: (i: number) => series.event[i]},
        ...LINES.map((name) => ({name: words(name), number: true, cell: (i: number) => bytes(column(series, name)[i]!)})),
      ], series.event.map((_, i) => i))));
  } else {
    nodes.push(h('p', {class: 'absent'}, 'The document holds no series of this policy; replay with series to see memory over time.'));
  }
  if (p.at_peak && p.at_peak.segments.length > 0) nodes.push(...layoutView(policyName(p), p.at_peak));
  else nodes.push(h('p', {class: 'absent'}, 'The document holds no map of segments for this policy.'));
  return nodes;
}

function traceView(trace: Trace): Node[] {
  const body = h('div');
  const show = (i: number) => { const p = trace.policies[i]; if (p) body.replaceChildren(...policyView(p, trace)); };
  show(0);
  const o = trace.origin;
  return [
    h('h3', {}, own(trace.file, 120)),
    h('p', {}, own([o.format, o.framework, o.framework_version, o.platform, o.device].filter((t) => t && t !== 'unknown').join(', ')), `: ${count(trace.events, 'event')}, ${count(trace.allocations, 'allocation')}`,
      trace.capacity_bytes === undefined ? '' : `, on a device of ${bytes(trace.capacity_bytes)} (assumed)`, '.'),
    trace.warnings.length > 0 ? h('ul', {class: 'badlist'}, trace.warnings.map((w) => h('li', {}, own(w)))) : h('span'),
    policies(trace),
    ...(trace.verification ?? []).map((v) => h('p', {class: v.outcome === 'matched' ? null : 'warn'}, `Verification, device ${v.device}: ${plain(v.outcome)}, ${v.allocations_matched} of ${v.allocations} addresses reproduced.`,
      v.first_divergence ? h('span', {}, ' First divergence: ', own(`event ${v.first_divergence.event}, ${v.first_divergence.action}: expected ${v.first_divergence.expected}, got ${v.first_divergence.got}`)) : null)),
    trace.best ? h('p', {}, `Best configuration of ${trace.best.tried} tried: `, own(trace.best.options || 'the defaults'), `, peak reserved ${bytes(trace.best.peak_reserved_bytes)} against ${bytes(trace.best.default_peak_reserved_bytes)} by default`, trace.best.fits ? '.' : '; none of them fits.') : h('span'),
    h('div', {class: 'controls'}, choice('Policy', trace.policies.map((p, i) => [String(i), policyName(p)]), '0', (v) => show(Number(v)))),
    body];
}

export function replay(given: Given[]): HTMLElement | null {
  const traces = given.filter((g) => g.document.kind === 'replay').flatMap((g) => (g.document.body as {traces?: Trace[]} | undefined)?.traces ?? []);
  if (traces.length > 0) return section('fragmentation', 'Replay and fragmentation', ...traces.flatMap(traceView));
  return given.some((g) => g.document.devices)
    ? absent('fragmentation', 'Fragmentation', 'No fragmentation map: it comes with replay documents, and these have none. A run records its inactive pieces and free segments in the ledger above.')
    : null;
}
