// SPDX-License-Identifier: Apache-2.0
// The few statistics that the page computes itself: medians, and the exact interval of a median.
import {ascending, median as middle} from 'd3-array';

export function median(values: number[]): number {
  return middle(values) ?? NaN;
}

export interface Interval {
  low: number;
  high: number;
  level: number;  // the chance it holds, at least 0.95
}

// Interval of the median from order statistics (the sign test turned round): the binomial(n, 1/2) chance that the true
// median lies between the k-th smallest and the k-th largest value. Nothing below six values: none reaches 95 %.
export function medianInterval(values: number[]): Interval | null {
  const n = values.length;
  if (n < 6 || n > 1000) return null;
  const sorted = [...values].sort(ascending);
  let tail = 0;
  let term = 0.5 ** n;
  let k = 0;
  while (tail + term <= 0.025 && k < n) {
    tail += term;
    term *= (n - k) / (k + 1);
    ++k;
  }
  if (k === 0) return null;
  return {low: sorted[k - 1]!, high: sorted[n - k]!, level: 1 - 2 * tail};
}

// The same offset for the same sample each time, in [-0.5, 0.5): golden-ratio steps spread neighbours apart.
export function jitter(index: number): number {
  return ((index * 0.6180339887498949) % 1) - 0.5;
}
