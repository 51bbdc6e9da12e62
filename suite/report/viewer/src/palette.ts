// SPDX-License-Identifier: Apache-2.0
// The colours of charts, once: written into the style sheet, and checked for contrast and colour blindness by a test.

export type Colour = {light: string; dark: string};

// Parts of the stacked memory area, from the bottom up. Neighbours differ in lightness as well as in hue.
export const parts: Record<string, Colour> = {
  weights: {light: '#00558f', dark: '#5aaef0'},
  inputs: {light: '#c66a00', dark: '#b8651b'},
  kv: {light: '#005a43', dark: '#6fd6b0'},
  activation: {light: '#bd5288', dark: '#b14f86'},
  workspace: {light: '#5b3a8c', dark: '#c9b3ff'},
  output: {light: '#8a7400', dark: '#8f7a12'},
  requested: {light: '#00558f', dark: '#5aaef0'},
  slack: {light: '#3f4750', dark: '#dfe5ea'},
  inactive_pieces: {light: '#7a848e', dark: '#7d8791'},
  free_segments: {light: '#59636d', dark: '#aeb8c1'},
  external: {light: '#8c3b00', dark: '#f2a06a'},
  baseline: {light: '#7d7d7d', dark: '#868686'},
};

// Documents, sides and policies: told apart by their mark's shape as well.
export const series: Colour[] = [
  {light: '#00558f', dark: '#5aaef0'},
  {light: '#b04a00', dark: '#f0a050'},
  {light: '#006b50', dark: '#6fd6b0'},
  {light: '#8e3370', dark: '#e08cc4'},
  {light: '#6a5a00', dark: '#d3c14a'},
  {light: '#4b4f9c', dark: '#a9aef5'},
];

export const verdicts: Record<string, Colour> = {
  regressed: {light: '#a8200d', dark: '#ff8f7a'},
  improved: {light: '#00558f', dark: '#6db8f2'},
  same: {light: '#69747e', dark: '#dbe1e6'},
  inconclusive: {light: '#7a5c00', dark: '#d9b84a'},
};

export const ground: Colour = {light: '#ffffff', dark: '#14181c'};

export function variables(theme: keyof Colour): string {
  const lines = [
    ...Object.entries(parts).map(([name, c]) => `--part-${name}:${c[theme]}`),
    ...series.map((c, i) => `--series-${i}:${c[theme]}`),
    ...Object.entries(verdicts).map(([name, c]) => `--verdict-${name}:${c[theme]}`),
    `--ground:${ground[theme]}`,
  ];
  return lines.join(';');
}
