// SPDX-License-Identifier: Apache-2.0
// Samples of all documents, gathered by case: one row a launch, so that launches can be compared by eye.
import {plain} from './dom.ts';
import {workloadName, type Given} from './data.ts';
import {median, medianInterval, type Interval} from './stats.ts';

export interface Row {
  document: number;  // index into the documents
  device: string;
  label: string;     // "launch 3"
  values: number[];
  flags: string[];
  median: number;
}

export interface Timed {
  name: string;
  unit: string;
  basis: string;
  rows: Row[];
  groups: Group[];   // the rows of one document and device together
}

export interface Group {
  document: number;
  device: string;
  medians: number[];  // of its launches
  median: number;
  interval: Interval | null;
}

export function gather(given: Given[]): Timed[] {
  const cases = new Map<string, Timed>();
  const add = (name: string, unit: string, basis: string, row: Omit<Row, 'median'>) => {
    if (row.values.length === 0) return;
    const key = `${name}\u0000${unit}`;
    let timed = cases.get(key);
    if (!timed) cases.set(key, (timed = {name, unit, basis, rows: [], groups: []}));
    timed.rows.push({...row, median: median(row.values)});
  };
  given.forEach((g, document) => {
    for (const device of g.document.devices ?? []) {
      for (const launch of device.launches)
        for (const series of launch.samples)
          add(`${workloadName(g.document.plan?.workloads[launch.workload])}: ${series.name}`, series.unit, series.basis,
            {document, device: device.name, label: `launch ${launch.index + 1}`, values: series.values, flags: series.flags});
      for (const c of device.cases) {
        const seen = new Map<string, number>();
        for (const series of c.samples) {
          // A case's series of one name are its launches, in order.
          const n = (seen.get(series.name) ?? 0) + 1;
          seen.set(series.name, n);
          add(`${c.name}: ${series.name}`, series.unit, series.basis,
            {document, device: device.name, label: `launch ${n}`, values: series.values, flags: series.flags});
        }
      }
    }
  });
  const all = [...cases.values()];
  for (const timed of all) {
    const groups = new Map<string, Group>();
    for (const row of timed.rows) {
      const key = `${row.document}\u0000${row.device}`;
      let group = groups.get(key);
      if (!group) groups.set(key, (group = {document: row.document, device: row.device, medians: [], median: 0, interval: null}));
      group.medians.push(row.median);
    }
    timed.groups = [...groups.values()];
    for (const group of timed.groups) {
      group.median = median(group.medians);
      group.interval = medianInterval(group.medians);
    }
  }
  return all;
}

// How far the launches lie apart: the largest over the smallest median.
export function spread(timed: Timed): number {
  const medians = timed.rows.map((r) => r.median);
  const low = Math.min(...medians);
  return low > 0 ? Math.max(...medians) / low : 1;
}

export function flagged(timed: Timed): number {
  return timed.rows.reduce((n, r) => n + r.flags.filter((f) => f !== '').length, 0);
}

export function sampleCount(timed: Timed): number {
  return timed.rows.reduce((n, r) => n + r.values.length, 0);
}

export function matches(timed: Timed, needle: string): boolean {
  return needle === '' || plain(timed.name).toLowerCase().includes(needle);
}
