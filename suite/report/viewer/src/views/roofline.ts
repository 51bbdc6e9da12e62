// SPDX-License-Identifier: Apache-2.0
// Roofline: cases by operations per byte and operations per second under the ceilings of their own run.
// A case is placed when it has samples in ns and states its cost; ceilings are rates in bytes/s and flop/s.
import {scaleLog} from 'd3-scale';
import {axisX, axisY, chart, legend, marker, stroke, type Frame} from '../chart.ts';
import type {Ceiling, Given} from '../data.ts';
import {behind, h, own, plain, s, shortened, table} from '../dom.ts';
import {measure, number, rate} from '../format.ts';
import {series as colours} from '../palette.ts';
import {absent, section} from '../section.ts';
import {median} from '../stats.ts';

export interface Placed {
  document: number;
  device: string;
  name: string;
  intensity: number;  // flop per byte
  reached: number;    // flop/s
  bytesRate: number;  // bytes/s
  basis: string;
}

interface Roof {
  where: string;
  ceilings: Ceiling[];
}

export function place(given: Given[]): {placed: Placed[]; roofs: Roof[]} {
  const placed: Placed[] = [];
  const roofs: Roof[] = [];
  given.forEach((g, document) => {
    for (const device of g.document.devices ?? []) {
      const ceilings = (device.ceilings ?? []).filter((c) => (c.quantity.value ?? 0) > 0);
      if (ceilings.length > 0) roofs.push({where: `${g.file} ${device.name}`, ceilings});
      for (const c of device.cases) {
        const moved = c.cost?.bytes?.value ?? 0;
        const flops = c.cost?.flops?.value ?? 0;
        const timed = c.samples.filter((t) => t.unit === 'ns' && t.values.length > 0);
        if (moved <= 0 || flops <= 0 || timed.length === 0) continue;
        const ns = median(timed.map((t) => median(t.values)));
        if (!(ns > 0)) continue;
        placed.push({document, device: device.name, name: c.name, intensity: flops / moved, reached: flops / (ns * 1e-9),
          bytesRate: moved / (ns * 1e-9), basis: `cost ${c.cost?.flops?.basis}, time ${timed[0]!.basis}`});
      }
    }
  });
  return {placed, roofs};
}

function decades(low: number, high: number): number[] {
  const out: number[] = [];
  for (let e = Math.ceil(Math.log10(low)); e <= Math.log10(high); ++e) out.push(10 ** e);
  return out;
}

function draw(frame: Frame, placed: Placed[], roofs: Roof[]): void {
  const {plot, width, height} = frame;
  const bands = roofs.flatMap((r) => r.ceilings.filter((c) => c.quantity.unit === 'bytes/s'));
  const tops = roofs.flatMap((r) => r.ceilings.filter((c) => c.quantity.unit === 'flop/s'));
  const ridge = bands.flatMap((b) => tops.map((t) => t.quantity.value! / b.quantity.value!));
  const xs = [...placed.map((p) => p.intensity), ...ridge];
  const x = scaleLog([Math.min(...xs) / 3, Math.max(...xs) * 3], [0, width]);
  const ys = [...placed.map((p) => p.reached), ...tops.map((t) => t.quantity.value!)];
  const y = scaleLog([Math.min(...ys) / 3, Math.max(...ys) * 2], [height, 0]);
  axisY(frame, y, decades(y.domain()[0]!, y.domain()[1]!), (v) => rate(v, 'FLOP/s'));
  axisX(frame, x, decades(x.domain()[0]!, x.domain()[1]!), (v) => number(v));
  plot.append(s('text', {class: 'axisname', x: width / 2, y: height + 38}, 'operations per byte moved (FLOP/B)'));
  const highest = Math.max(...tops.map((t) => t.quantity.value!), -Infinity);
  // Two documents with one ceiling need its name once.
  const said = new Set<string>();
  const label = (text: string, left: number, up: number) => {
    if (said.has(text)) return;
    said.add(text);
    plot.append(s('text', {class: 'rowname end', x: left, y: up}, shortened(text, 34)));
  };
  for (const b of bands) {
    const gradient = b.quantity.value!;
    const from = Math.max(x.domain()[0]!, y.domain()[0]! / gradient);
    const to = Math.min(x.domain()[1]!, (Number.isFinite(highest) ? highest : y.domain()[1]!) / gradient);
    if (to <= from) continue;
    plot.append(s('line', {class: 'roof', x1: x(from), y1: y(from * gradient), x2: x(to), y2: y(to * gradient)},
      s('title', {}, `${plain(b.name)}: ${measure(gradient, 'bytes/s')}, ${plain(b.quantity.basis)}`)));
    label(`${b.name} ${measure(gradient, 'bytes/s')}`, x(from) + (x(to) - x(from)) * 0.3 - 8, y(from * gradient) + (y(to * gradient) - y(from * gradient)) * 0.3 - 8);
  }
  const widest = bands.length > 0 ? Math.max(...bands.map((b) => b.quantity.value!)) : null;
  for (const t of tops) {
    const top = t.quantity.value!;
    const from = widest === null ? x.domain()[0]! : Math.max(x.domain()[0]!, top / widest);
    plot.append(s('line', {class: 'roof', x1: x(from), x2: width, y1: y(top), y2: y(top)},
      s('title', {}, `${plain(t.name)}: ${measure(top, 'flop/s')}, ${plain(t.quantity.basis)}`)));
    label(`${t.name} ${measure(top, 'flop/s')}`, width - 4, y(top) - 6);
  }
  for (const p of placed)
    plot.append(s('path', {class: `point series-${p.document % colours.length}`, d: marker(p.document, x(p.intensity), y(p.reached))},
      s('title', {}, `${plain(p.name)}: ${number(p.intensity)} FLOP/B, ${rate(p.reached, 'FLOP/s')}`)));
}

export function roofline(given: Given[]): HTMLElement | null {
  if (!given.some((g) => g.document.devices)) return null;
  const {placed, roofs} = place(given);
  if (placed.length === 0)
    return absent('roofline', 'Roofline', 'No roofline: no case of these documents states both its time and what it moves and computes.');
  return section('roofline', 'Roofline',
    chart(`Roofline: ${placed.length} cases`, 420, {top: 14, right: 16, bottom: 48, left: 92}, (frame) => draw(frame, placed, roofs)),
    legend([...given.flatMap((g, i) => (placed.some((p) => p.document === i) ? [0] : []).map(() => ({text: shortened(g.file, 50), mark: (svg: SVGSVGElement) => svg.append(s('path', {class: `series-${i % colours.length}`, d: marker(i, 8, 7)}))}))),
      ...(roofs.length > 0 ? [{text: 'ceiling', mark: stroke('roof')}] : [])]),
    roofs.length === 0 ? h('p', {class: 'absent'}, 'These documents hold no ceilings: the cases stand without a roof over them.') : null,
    behind('The roofline as a table', () => h('div', {}, table('Cases', [
      {name: 'Case', head: true, cell: (p: Placed) => own(p.name, 90)},
      {name: 'Document', cell: (p) => own(given[p.document]!.file, 40)},
      {name: 'Device', cell: (p) => own(p.device)},
      {name: 'FLOP/B', number: true, cell: (p) => number(p.intensity)},
      {name: 'Reached', number: true, cell: (p) => rate(p.reached, 'FLOP/s')},
      {name: 'Moved', number: true, cell: (p) => rate(p.bytesRate, 'B/s')},
      {name: 'Basis', cell: (p) => own(p.basis)},
    ], placed), table('Ceilings', [
      {name: 'Where', head: true, cell: (r: {where: string; c: Ceiling}) => own(r.where)},
      {name: 'Ceiling', cell: (r) => own(r.c.name)},
      {name: 'Rate', number: true, cell: (r) => measure(r.c.quantity.value!, r.c.quantity.unit)},
      {name: 'Basis', cell: (r) => own(r.c.quantity.basis)},
    ], roofs.flatMap((r) => r.ceilings.map((c) => ({where: r.where, c})))))));
}
