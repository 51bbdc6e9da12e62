// SPDX-License-Identifier: Apache-2.0
// Memory over the phases of a launch: the ledger's terms stacked at every checkpoint, the four counters as lines over it.
import {scaleLinear} from 'd3-scale';
import {area, line} from 'd3-shape';
import {axisX, axisY, chart, legend, stroke, swatch, type Frame} from '../chart.ts';
import {counter, value, workloadName, type Given, type Launch, type Ledger, type Phase} from '../data.ts';
import {behind, choice, h, own, plain, s, shortened, table} from '../dom.ts';
import {byteTicks, bytes, count, duration, quantity, words} from '../format.ts';
import {section} from '../section.ts';

// Disjoint parts of what the device has in use, bottom first. `pending` is part of requested and slack, and reserved is
// everything up to the free segments: neither is a part of its own here, so nothing is counted twice.
const CATEGORIES = ['weights', 'inputs', 'kv', 'activation', 'workspace', 'output'];
const REST = ['slack', 'inactive_pieces', 'free_segments', 'external', 'baseline'];
const LINES: [name: string, text: string][] = [
  ['requested', 'requested'], ['allocated', 'allocated'], ['reserved', 'reserved (allocated included)']];

export interface Checkpoint {
  phase: number;  // index into the launch's phases
  end: boolean;
  ledger: Ledger;
  terms: Map<string, number>;
}

export function checkpoints(launch: Launch): Checkpoint[] {
  const out: Checkpoint[] = [];
  launch.phases.forEach((phase, i) => {
    for (const [ledger, end] of [[phase.ledger_start, false], [phase.ledger_end, true]] as const) {
      if (!ledger) continue;
      const terms = new Map<string, number>();
      for (const term of ledger.terms) if (term.first.value !== null) terms.set(term.name, term.first.value);
      out.push({phase: i, end, ledger, terms});
    }
  });
  return out;
}

// The parts that occur, with the categories where the ledger has them and the one sum of them where it has not.
export function partsOf(points: Checkpoint[]): string[] {
  const has = (name: string) => points.some((p) => p.terms.has(name));
  const held = CATEGORIES.some(has) ? CATEGORIES.filter(has) : ['requested'].filter(has);
  return [...held, ...REST.filter(has)];
}

function phaseName(phase: Phase, phases: Phase[]): string {
  const several = phases.filter((p) => p.name === phase.name).length > 1;
  return plain(phase.name) + (several ? ` ${phase.repeat + 1}` : '');
}

function partText(name: string): string {
  const texts: Record<string, string> = {
    slack: 'rounding and unsplit slack', inactive_pieces: 'inactive pieces (reserved, free, part of a split segment)',
    free_segments: 'whole free segments (reserved)', external: 'external (outside the allocator)',
    baseline: 'baseline (context and modules)', requested: 'requested'};
  return texts[name] ?? words(name);
}

function drawMemory(frame: Frame, launch: Launch, points: Checkpoint[], trueTime: boolean) {
  const {plot, width, height} = frame;
  const phases = launch.phases;
  const spans = phases.map((p) => (trueTime ? Math.max(p.duration.value ?? 0, 0) : 1));
  const starts: number[] = [0];
  for (const span of spans) starts.push(starts[starts.length - 1]! + span);
  const x = scaleLinear([0, starts[starts.length - 1] || 1], [0, width]);
  const at = (p: Checkpoint) => x(starts[p.phase + (p.end ? 1 : 0)]!);
  const names = partsOf(points);
  const stacked = points.map((p) => {
    let sum = 0;
    return names.map((name) => {
      const low = sum;
      sum += p.terms.get(name) ?? 0;
      return [low, sum] as const;
    });
  });
  const peak = (phase: Phase, name: string) => value(counter(phase.end, `${name}_bytes.all.peak`));
  const most = Math.max(1, ...stacked.map((layers) => layers[layers.length - 1]?.[1] ?? 0),
    ...phases.map((p) => peak(p, 'reserved') ?? 0));
  const y = scaleLinear([0, most * 1.06], [height, 0]);
  phases.forEach((phase, i) => {
    const left = x(starts[i]!);
    const span = x(starts[i + 1]!) - left;
    plot.append(s('rect', {class: phase.status === 'ok' ? `phase band${i % 2}` : 'phase bad', x: left, y: 0, width: span, height},
      s('title', {}, `${phaseName(phase, phases)}: ${duration(phase.duration.value ?? 0)}, ${phase.status}`)));
    if (span >= 13) {
      const label = s('text', {class: 'phasename', transform: `translate(${left + span / 2 + 3},${height + 8}) rotate(45)`},
        shortened(phaseName(phase, phases), 22));
      plot.append(label);
    }
  });
  const ticks = byteTicks(most * 1.06, frame.narrow ? 4 : 6);
  axisY(frame, y, ticks.values, ticks.text);
  names.forEach((name, k) => {
    const shape = area<number>().x((i) => at(points[i]!)).y0((i) => y(stacked[i]![k]![0])).y1((i) => y(stacked[i]![k]![1]));
    plot.append(s('path', {class: `part part-${name}`, d: shape(points.map((_, i) => i))}, s('title', {}, partText(name))));
  });
  for (const [name] of LINES) {
    const known = points.filter((p) => p.terms.has(name));
    const path = line<Checkpoint>().x(at).y((p) => y(p.terms.get(name)!));
    if (known.length > 0) {
      plot.append(s('path', {class: 'halo', d: path(known)}), s('path', {class: `line-${name}`, d: path(known)}));
    }
  }
  phases.forEach((phase, i) => {
    for (const name of ['allocated', 'reserved']) {
      const top = peak(phase, name);
      if (top === null) continue;
      const inset = Math.min(2, (x(starts[i + 1]!) - x(starts[i]!)) / 4);
      plot.append(s('line', {class: `peak-${name}`, x1: x(starts[i]!) + inset, x2: x(starts[i + 1]!) - inset, y1: y(top), y2: y(top)},
        s('title', {}, `${phaseName(phase, phases)}: peak ${name} ${bytes(top)}${phase.peaks_partial ? ', partial: the phase did not end' : ''}`)));
    }
  });
  axisX(frame, x, trueTime ? x.ticks(4) : [], (ns) => duration(ns));
  const say = (i: number) => {
    const p = points[i]!;
    const phase = phases[p.phase]!;
    const list = [...LINES.map(([name]) => name), 'device_used'].filter((name) => p.terms.has(name))
      .map((name) => `${words(name)} ${bytes(p.terms.get(name)!)}`);
    return `${phaseName(phase, phases)}, ${p.end ? 'end' : 'start'}: ${list.join(', ')}; ledger ${p.ledger.balanced ? 'balanced' : 'not balanced'}`;
  };
  return {xs: points.map(at), say};
}

function phaseTable(launch: Launch): HTMLElement {
  const now = (name: string) => (p: Phase) => shown(p, `${name}_bytes.all.current`);
  const peak = (name: string) => (p: Phase) => shown(p, `${name}_bytes.all.peak`) + (p.peaks_partial ? ' (partial)' : '');
  const shown = (p: Phase, name: string) => {
    const c = counter(p.end, name);
    return c ? quantity(c.quantity) : 'not recorded';
  };
  const used = (p: Phase) => quantity(p.ledger_end?.terms.find((t) => t.name === 'device_used')?.first);
  return table('Memory at the end of each phase, and the peaks inside it. All values observed; each peak stands alone.', [
    {name: 'Phase', head: true, cell: (p: Phase) => own(phaseName(p, launch.phases))},
    {name: 'Status', cell: (p) => own(p.status)},
    {name: 'Time', number: true, cell: (p) => quantity(p.duration)},
    {name: 'Requested', number: true, cell: now('requested')},
    {name: 'Allocated', number: true, cell: now('allocated')},
    {name: 'Active', number: true, cell: now('active')},
    {name: 'Reserved', number: true, cell: now('reserved')},
    {name: 'Device used', number: true, cell: used},
    {name: 'Peak requested', number: true, cell: peak('requested')},
    {name: 'Peak allocated', number: true, cell: peak('allocated')},
    {name: 'Peak reserved', number: true, cell: peak('reserved')},
    {name: 'Ledger', cell: (p) => (p.ledger_end ? (p.ledger_end.balanced ? 'balanced' : 'NOT balanced') : 'not recorded')},
  ], launch.phases, (p) => (p.status === 'ok' ? '' : 'bad'));
}

function ledgerTable(points: Checkpoint[]): HTMLElement {
  interface Row { checkpoint: string; name: string; first: string; firstSource: string; second: string; secondSource: string; basis: string }
  const rows: Row[] = points.flatMap((p) => p.ledger.terms.map((t) => ({
    checkpoint: p.ledger.checkpoint, name: t.name, first: quantity(t.first), firstSource: t.first_source,
    second: quantity(t.second), secondSource: t.second_source, basis: `${t.first.basis} / ${t.second.basis}`})));
  return table('Every term of the ledger at every checkpoint, by two ways of reading it', [
    {name: 'Checkpoint', head: true, cell: (r: Row) => own(r.checkpoint)},
    {name: 'Term', cell: (r) => words(r.name)},
    {name: 'First reading', number: true, cell: (r) => r.first},
    {name: 'From', cell: (r) => own(r.firstSource)},
    {name: 'Second reading', number: true, cell: (r) => r.second},
    {name: 'From', cell: (r) => own(r.secondSource)},
    {name: 'Basis', cell: (r) => r.basis},
  ], rows);
}

interface Entry {
  label: string;
  launch: Launch;
}

function show(entry: Entry, trueTime: boolean): Node[] {
  const {launch} = entry;
  const points = checkpoints(launch);
  const nodes: Node[] = [];
  if (points.length === 0) {
    nodes.push(h('p', {class: 'absent'}, 'This launch has no ledger, so its memory cannot be drawn over time.'));
  } else {
    const names = partsOf(points);
    nodes.push(chart(`Memory of ${entry.label}`, 440, {top: 12, right: 48, bottom: 96, left: 74},
      (frame) => drawMemory(frame, launch, points, trueTime), trueTime ? 0 : 74 + 48 + 20 * launch.phases.length));
    nodes.push(legend([
      ...[...names].reverse().map((name) => ({text: partText(name), mark: swatch(`part part-${name}`)})),
      ...[...LINES].reverse().map(([name, text]) => ({text: `${text}, at the checkpoint`, mark: stroke(`line-${name}`)})),
      {text: 'peak reserved inside the phase', mark: stroke('peak-reserved')},
      {text: 'peak allocated inside the phase', mark: stroke('peak-allocated')},
    ]));
    const balanced = points.filter((p) => p.ledger.balanced).length;
    nodes.push(h('p', {}, `Ledger: balanced at ${balanced} of ${count(points.length, 'checkpoint')}. `,
      'Read at the borders of phases (observed); the slopes between them only join the readings. The coloured parts add up to what ',
      'the device has in use. Lines are single counters measured from zero: reserved includes allocated, and no peak is added to or ',
      'taken from another.'));
    const off = points.flatMap((p) => p.ledger.equations.filter((e) => !e.balanced && e.difference.value !== null)
      .map((e) => `${p.ledger.checkpoint}: ${e.text} is off by ${quantity(e.difference)}`));
    if (off.length > 0) nodes.push(h('ul', {class: 'badlist'}, off.slice(0, 50).map((text) => h('li', {}, own(text)))));
  }
  nodes.push(behind('The phases as a table', () => phaseTable(launch)));
  if (points.length > 0) nodes.push(behind('The ledger as a table', () => ledgerTable(points)));
  return nodes;
}

export function memory(given: Given[]): HTMLElement | null {
  const entries: Entry[] = given.flatMap((g) => (g.document.devices ?? []).flatMap((device) => device.launches.map((launch) => ({
    label: `${shortened(g.file, 40)}, ${plain(device.name)}, launch ${launch.index + 1}` +
      ` (${plain(workloadName(g.document.plan?.workloads[launch.workload]))})`, launch}))));
  if (entries.length === 0) return null;
  const body = h('div');
  let chosen = Math.max(0, entries.findIndex((e) => e.launch.phases.length > 0));
  let trueTime = false;
  const update = () => body.replaceChildren(...show(entries[chosen]!, trueTime));
  update();
  return section('memory', 'Memory over time', h('div', {class: 'controls'},
    choice('Launch', entries.map((e, i) => [String(i), e.label]), String(chosen), (v) => { chosen = Number(v); update(); }),
    choice('Width of a phase', [['equal', 'the same for all'], ['time', 'its time']], 'equal',
      (v) => { trueTime = v === 'time'; update(); })), body);
}

