// SPDX-License-Identifier: Apache-2.0
// The body of a replay document, as far as the page draws it.
import type {Quantity} from './data.ts';

export interface ReplayRun {
  state: string;
  bytes: number;
  blocks: number;
}
export interface Segment {
  address: string;
  bytes: number;
  stream: string;
  pool: string;
  expandable: boolean;
  active_bytes: number;
  largest_free_bytes: number;
  runs: ReplayRun[];
}
export interface Layout {
  requested_bytes: number;
  active_bytes: number;
  reserved_bytes: number;
  free_bytes: number;
  free_pieces: number;
  largest_free_bytes: number;
  segments: Segment[];
  segments_left_out: number;
  runs_left_out: number;
}
export interface Series {
  events_per_point: number;
  event: number[];
  time_us: number[];
  requested_bytes: number[];
  active_bytes: number[];
  reserved_bytes: number[];
}
export interface Policy {
  policy: string;
  options: string;
  device: number;
  peak_requested_bytes: number;
  peak_active_bytes: number;
  peak_reserved_bytes: number;
  largest_free_block_bytes: number;
  external_fragmentation: number;
  device_allocations: number;
  retries: number;
  operations: number;
  out_of_memory: boolean;
  refusal?: {event: number; requested_bytes: number; cause: string; sentence: string};
  min_capacity_bytes?: number;
  time_per_operation?: Quantity;
  series?: Series;
  at_peak?: Layout;
}
export interface Verification {
  device: number;
  outcome: string;
  allocations: number;
  allocations_matched: number;
  first_divergence?: {event: number; action: string; expected: string; got: string};
}
export interface Trace {
  file: string;
  origin: {format: string; framework: string; framework_version: string; platform: string; device: string; settings: string};
  events: number;
  allocations: number;
  warnings: string[];
  capacity_bytes?: number;
  policies: Policy[];
  best?: {options: string; tried: number; peak_reserved_bytes: number; default_peak_reserved_bytes: number; fits: boolean};
  verification?: Verification[];
}
