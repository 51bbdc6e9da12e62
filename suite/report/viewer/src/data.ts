// SPDX-License-Identifier: Apache-2.0
// What the page is given: documents of schema v1 as the program embedded them, and the parts of them that it draws.

export interface Quantity {
  value: number | null;
  unit: string;
  basis: string;
  reason?: string;
}
export interface Counter {
  name: string;
  quantity: Quantity;
  perimeter: string;
  source: string;
  exactness: string;
}
export interface LedgerTerm {
  name: string;
  first: Quantity;
  first_source: string;
  second: Quantity;
  second_source: string;
}
export interface Ledger {
  checkpoint: string;
  terms: LedgerTerm[];
  equations: {text: string; difference: Quantity; balanced: boolean}[];
  balanced: boolean;
}
export interface Account {
  cause: string;
  sentence: string;
  terms: Counter[];
}
export interface Phase {
  name: string;
  repeat: number;
  configured: Record<string, number>;
  executed: Record<string, number>;
  status: string;
  duration: Quantity;
  start: Counter[];
  end: Counter[];
  peaks_partial: boolean;
  ledger_start?: Ledger;
  ledger_end?: Ledger;
  failure?: {code: string; message: string; requested_bytes: Quantity; category: string; account?: Account};
  conditions: string[];
}
export interface SampleSeries {
  name: string;
  unit: string;
  basis: string;
  values: number[];
  flags: string[];
}
export interface CallLatency {
  call: string;
  count: number;
  p50: Quantity;
  p99: Quantity;
  max: Quantity;
}
export interface Launch {
  index: number;
  order: number;
  workload: number;
  started_at: string;
  duration: Quantity;
  outcome: string;
  message: string;
  phase_in_progress: string;
  phases: Phase[];
  samples: SampleSeries[];
  allocator_latency?: CallLatency[];
}
export interface Case {
  name: string;
  kernel: string;
  dtype: string;
  implementation: string;
  status: string;
  error: Quantity;
  tolerance: Quantity;
  message: string;
  samples: SampleSeries[];
  cost?: {bytes?: Quantity; flops?: Quantity};  // what one execution moves and computes, where the document states it
}
export interface Ceiling {
  name: string;
  quantity: Quantity;  // bytes/s or flop/s
  source?: string;
}
export interface IdentityField {
  tier: string;
  state: string;
  value: string | number | boolean | null;
  reason?: string;
  source: string;
}
export interface Finding {
  key: string;
  refuses: boolean;
  text: string;
}
export interface Device {
  name: string;
  identity: {fields: Record<string, IdentityField>; findings: Finding[]};
  launches: Launch[];
  cases: Case[];
  ceilings?: Ceiling[];
}
export interface Workload {
  kind: string;
  load_name: string;
  model?: {hidden_size: number; layers: number};
  source?: {name: string};
  storage_dtype: string;
  compute_dtype: string;
  batch: number;
  prompt_tokens?: number;
  decode_tokens?: number;
  kv?: string;
  width?: number;
  depth?: number;
}
export interface Failure {
  device: string;
  launch_order: number;
  phase: string;
  code: string;
  message: string;
}
export interface AnyDocument {
  kind: string;
  schema_version: string;
  run: {id: string; started_at: string; finished_at: string; argv: string[]; suite_version: string; suite_commit: string};
  status: string;
  failures: Failure[];
  plan?: {suite: string; workloads: Workload[]; allocator: string; allocator_options: string; launches: number};
  devices?: Device[];
  body?: unknown;
}
export interface Given {
  file: string;
  counters_left_out: number;  // counters of phases that have no view here and were not embedded
  document: AnyDocument;
}
export interface PageData {
  program: string;  // "assay 0.1.0"
  documents: Given[];
}

export function workloadName(w: Workload | undefined): string {
  if (!w) return 'a workload the plan does not have';
  if (w.kind === 'dense')
    return `dense ${w.depth ?? '?'} x ${w.width ?? '?'}, ${w.load_name}: batch ${w.batch}, ${w.storage_dtype}`;
  return `${w.source?.name || 'decoder'}, ${w.load_name}: batch ${w.batch}, prompt ${w.prompt_tokens}, ` +
    `decode ${w.decode_tokens}, ${w.storage_dtype}, KV ${w.kv}`;
}

export function fieldText(field: IdentityField | undefined): string {
  if (!field) return 'unknown';
  if (field.state === 'value') return String(field.value);
  return field.state === 'not_applicable' ? 'not applicable' : 'unknown';
}

export function counter(counters: Counter[], name: string, perimeter = 'allocator'): Counter | undefined {
  return counters.find((c) => c.name === name && c.perimeter === perimeter);
}

export function value(c: Counter | undefined): number | null {
  return c?.quantity.value ?? null;
}
