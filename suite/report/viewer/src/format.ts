// SPDX-License-Identifier: Apache-2.0
// Numbers as a person reads them: the suffix is the divisor that was used, and a missing value says why.
import type {Quantity} from './data.ts';
import {plain} from './dom.ts';

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(value: number): string {
  let unit = 0;
  let scaled = value;
  // 1023.996 would print as 1024.00 of the smaller unit.
  while (Math.abs(scaled) >= (unit === 0 ? 1024 : 1023.995) && unit + 1 < BINARY.length) {
    scaled /= 1024;
    ++unit;
  }
  return unit === 0 ? `${value} B` : `${scaled.toFixed(2)} ${BINARY[unit]}`;
}

// The unit in which a whole axis up to `most` is written, and its ticks at round values of that unit.
export function byteTicks(most: number, count: number): {values: number[]; text: (value: number) => string} {
  let unit = 0;
  while (most / 1024 ** unit >= 1024 && unit + 1 < BINARY.length) ++unit;
  const divisor = 1024 ** unit;
  const rough = most / divisor / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= rough) ?? 10 * power;
  const values: number[] = [];
  for (let i = 0; i * step * divisor <= most * 1.0001; ++i) values.push(i * step * divisor);
  return {values, text: (value) => `${+(value / divisor).toPrecision(6)} ${BINARY[unit]}`};
}

export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(3)} ms`;
  if (size >= 1e3) return `${(ns / 1e3).toFixed(3)} \u00b5s`;
  return `${+ns.toFixed(1)} ns`;
}

// Ticks of one axis share the unit that its largest value is written in.
export function tickText(most: number, unit: string): (value: number) => string {
  const short = (value: number) => String(+value.toPrecision(6));
  if (unit === 'bytes') return (value) => bytes(value);
  if (unit !== 'ns') return (value) => `${short(value)}${unit === '1' ? '' : ` ${plain(unit).slice(0, 12)}`}`;
  const size = Math.abs(most);
  const [divisor, suffix] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, '\u00b5s'] : [1, 'ns'];
  return (value) => `${short(value / (divisor as number))} ${suffix}`;
}

export function number(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const size = Math.abs(value);
  return size >= 0.001 && size < 1e6 ? String(+value.toFixed(3)) : value.toPrecision(3);
}

const RATES: [number, string][] = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

// Rates are decimal: GB/s, TFLOP/s.
export function rate(value: number, unit: string): string {
  const [divisor, prefix] = RATES.find(([d]) => Math.abs(value) >= d) ?? [1, ''];
  return `${+(value / divisor).toPrecision(4)} ${prefix}${unit}`;
}

export function measure(value: number, unit: string): string {
  if (unit === 'bytes') return bytes(value);
  if (unit === 'ns') return duration(value);
  if (unit === 'bytes/s') return rate(value, 'B/s');
  if (unit === 'flop/s') return rate(value, 'FLOP/s');
  if (unit === '1' || unit === '') return number(value);
  return `${number(value)} ${plain(unit)}`;
}

export function quantity(q: Quantity | undefined): string {
  if (q === undefined) return 'not recorded';
  return q.value === null ? `n/a: ${plain(q.reason ?? 'no reason given')}` : measure(q.value, q.unit);
}

export function percent(ratio: number): string {
  const change = (ratio - 1) * 100;
  return `${change >= 0 ? '+' : '\u2212'}${Math.abs(change).toFixed(Math.abs(change) < 9.995 ? 2 : 1)} %`;
}

export function count(n: number, one: string, many = one + 's'): string {
  return `${n} ${n === 1 ? one : many}`;
}

export function words(key: string): string {
  return plain(key).replace(/_/g, ' ');
}
