// SPDX-License-Identifier: Apache-2.0
// Documents of every kind in the shapes of schema v1, drawn from a seed: large, broken and hostile ones for the page.

export function random(seed) {
  let state = seed >>> 0;
  return () => {  // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const HOSTILE = [
  '</script><script>window.pwned=1</script>', '<img src=x onerror="window.pwned=1">', '"><svg onload=window.pwned=1>', '<!--<script>',
  "';window.pwned=1;//", '\u202egnp.exe\u202c', '\u200f\u2067right\u2069', 'javascript:window.pwned=1', '&lt;b&gt;&amp;', '{{data}} $& $1 `${1}`',
  'x'.repeat(5000), '\u0000\u0007\u001b[31m', '\u2028\u2029', '__proto__', 'constructor', '\u0e01\u0e34'.repeat(40), '',
];

const q = (value, unit, basis = 'observed') => (value === null ? {value, unit, basis, reason: 'the platform keeps no such value'} : {value, unit, basis});
const bytes = (value, basis) => q(value, 'bytes', basis);
const MIB = 2 ** 20;

function run(id, word) {
  return {id, started_at: '2026-01-02T03:04:05Z', finished_at: '2026-01-02T03:05:05Z', argv: ['assay', 'run', word('argv')],
    suite_version: '0.1.0', suite_commit: 'unknown', suite_dirty: false};
}

function ledger(checkpoint, t) {
  const names = ['weights', 'inputs', 'kv', 'activation', 'workspace', 'output'];
  const requested = names.reduce((sum, n) => sum + t[n], 0);
  const active = requested + t.slack;
  const reserved = active + t.inactive_pieces + t.free_segments;
  const all = {...t, requested, active, allocated: active, pending: 0, reserved, device_used: reserved + t.baseline + t.external};
  const term = (name, value) => ({name, first: bytes(value), first_source: 'counter', second: bytes(value), second_source: 'walk'});
  return {checkpoint, terms: Object.entries(all).map(([n, v]) => term(n, v)),
    equations: [{text: 'device_used = baseline + reserved + external', left: bytes(all.device_used), right: bytes(all.device_used, 'computed'), difference: bytes(0, 'computed'), balanced: true}],
    balanced: true};
}

const SHAPES = {
  environment: [0, 0, 0, 0, 0, 0], model_load: [9000, 0, 0, 0, 0, 0], inputs: [9000, 60, 0, 0, 0, 0], cold_forward: [9000, 60, 1800, 400, 300, 250],
  warmup: [9000, 60, 1800, 400, 300, 250], warm_forward: [9000, 60, 1800, 400, 300, 250], prefill: [9000, 60, 2600, 900, 300, 250], decode: [9000, 60, 3000, 120, 300, 250]};

function terms([weights, inputs, kv, activation, workspace, output], r) {
  const held = weights > 0 ? 1 : 0;
  return {weights: weights * MIB, inputs: inputs * MIB, kv: kv * MIB, activation: activation * MIB, workspace: workspace * MIB, output: output * MIB,
    slack: held * Math.floor(90 * MIB * r()), inactive_pieces: held * Math.floor(900 * MIB * r()), free_segments: held * Math.floor(600 * MIB * r()), baseline: 480 * MIB, external: 130 * MIB};
}

function phases(r, word, failing) {
  const list = ['environment', 'model_load', 'inputs', 'cold_forward', 'warmup', 'warm_forward', 'warm_forward', 'warm_forward', 'prefill', 'decode', 'prefill', 'decode'];
  const seen = {};
  let before = terms(SHAPES.environment, r);
  return list.map((name, i) => {
    const after = terms(SHAPES[name], r);
    const start = ledger(`${name}:start`, before);
    const end = ledger(`${name}:end`, after);
    before = after;
    const get = (n) => end.terms.find((t) => t.name === n).first.value;
    const counter = (n, v) => ({name: n, quantity: bytes(v), perimeter: 'allocator', source: 'caching', exactness: 'exact'});
    const counters = ['requested', 'allocated', 'active', 'reserved'].flatMap((n) => [counter(`${n}_bytes.all.current`, get(n)), counter(`${n}_bytes.all.peak`, Math.floor(get(n) * (1 + 0.06 * r())))]);
    const failed = failing && i === list.length - 1;
    const phase = {name: word(name), repeat: (seen[name] = (seen[name] ?? -1) + 1), configured: {batch: 4}, executed: {batch: 4}, status: failed ? 'failed' : 'ok',
      duration: q(Math.floor(1e6 + 9e8 * r()), 'ns'), start: [], end: [...counters, {name: 'device_used.peak', quantity: bytes(null), perimeter: 'device', source: 'runtime', exactness: 'exact'}],
      peaks_partial: failed, ledger_start: start, ledger_end: end, conditions: []};
    if (failed) phase.failure = {code: 'out_of_memory', message: word('no room for the next block'), requested_bytes: bytes(2 * 1024 * MIB), category: 'kv',
      account: {cause: 'fragmentation', sentence: word('fragmentation: enough is free, in pieces too small'), terms: [counter('needed_bytes', 2 * 1024 * MIB)]}};
    return phase;
  });
}

function identity(word, changes) {
  const f = (tier, value) => ({tier, state: 'value', value, source: 'test'});
  return {fields: {backend: f('thing', word('cuda')), platform: f('thing', 'nvidia'), arch: f('thing', 'sm_90'), device_name: f('info', word('a board')),
    uuid: f('info', 'GPU-1'), driver: f('change', '550.10'), ecc: {tier: 'thing', state: 'unknown', value: null, reason: 'not readable', source: ''},
    xnack: {tier: 'thing', state: 'not_applicable', value: null, reason: 'does not exist on this platform', source: ''}, ...changes},
  findings: [{key: 'load', refuses: false, text: word('another process was on the board')}]};
}

// A run with `cases` timed kernel cases of `launches` x `samples` each, some flagged, with costs and ceilings.
export function runDocument({id = 'run-1', seed = 1, cases = 12, launches = 8, samples = 40, word = (w) => w, changes = {}, failing = false, shift = 1} = {}) {
  const r = random(seed);
  const noise = (scale) => 1 + scale * (r() + r() + r() - 1.5);
  const kernels = ['rmsnorm', 'softmax', 'gemm', 'attention', 'swiglu', 'copy'];
  const devices = [{name: word('cuda:0'), module_path: '', module_sha256: '', identity: identity(word, changes),
    ceilings: [{name: word('copy'), quantity: q(3.2e12, 'bytes/s')}, {name: word('FMA f32'), quantity: q(55e12, 'flop/s')}, {name: 'bf16 matrix (table)', quantity: q(900e12, 'flop/s', 'assumed')}],
    launches: Array.from({length: launches}, (_, n) => ({index: n, order: n, workload: 0, pid: 100 + n, started_at: '2026-01-02T03:04:05Z', duration: q(9e9, 'ns'),
      outcome: failing && n === launches - 1 ? 'failed' : 'ok', exit_code: 0, signal: 0, message: '', phase_in_progress: '', phases: phases(r, word, failing && n === launches - 1), checksum: 'x',
      samples: [{name: word('warm_forward'), unit: 'ns', basis: 'observed', values: Array.from({length: samples}, () => 4.2e8 * shift * noise(0.02)), flags: []},
        {name: 'decode_tokens_per_second', unit: 'tokens/s', basis: 'observed', values: Array.from({length: samples}, () => 95 / shift * noise(0.03)), flags: []}],
      allocator_latency: [{call: 'hit', count: 100000, p50: q(42, 'ns'), p99: q(180, 'ns'), max: q(40000, 'ns')}]})),
    cases: Array.from({length: cases}, (_, n) => {
      const kernel = kernels[n % kernels.length];
      const moved = 1e8 * (1 + n % 7);
      const intensity = [0.4, 0.6, 300, 40, 0.25, 0.1][n % 6] * (1 + (n % 5) / 5);
      const ns = Math.max(moved / 2.7e3, moved * intensity / 6e5) * shift;
      return {name: word(`${kernel}/bf16/portable rows=${128 * (n + 1)} width=4096`), kernel, dtype: 'bf16', implementation: 'portable', source_version: 1,
        status: n % 11 === 10 ? 'unsupported' : 'ok', error: q(0.2, '1'), tolerance: q(1, '1', 'computed'), message: n % 11 === 10 ? word('no such type here') : '',
        cost: {bytes: bytes(moved, 'computed'), flops: q(moved * intensity, 'flop', 'computed')},
        samples: n % 11 === 10 ? [] : Array.from({length: launches}, () => {
          const launch = noise(0.01);
          const values = Array.from({length: samples}, () => Math.round(ns * launch * noise(0.02)));
          return {name: 'time', unit: 'ns', basis: 'observed', values, flags: n % 5 === 4 ? values.map((_, k) => (k % 13 === 12 ? word('throttled') : '')) : []};
        })};
    })}];
  const model = {hidden_size: 4096, intermediate_size: 14336, layers: 32};
  return {schema: 'assay', schema_version: '1.1.0', kind: 'run', run: run(id, word),
    plan: {suite: 'quick', devices: [], allocator: 'caching', allocator_options: word(''), launches, time_limit_s: 600,
      workloads: [{kind: 'decoder', load_name: word('usual'), model, source: {name: word('decoder-8b')}, storage_dtype: 'bf16', compute_dtype: 'f32', batch: 4, prompt_tokens: 512, decode_tokens: 64, kv: 'static'}]},
    devices, status: failing ? 'partial' : 'ok',
    failures: failing ? [{device: 'cuda:0', launch_order: launches - 1, phase: 'decode', code: 'out_of_memory', message: word('no room for the next block')}] : []};
}

export function compareDocument({id = 'compare-1', seed = 3, cases = 40, word = (w) => w} = {}) {
  const r = random(seed);
  const verdicts = ['regressed', 'improved', 'same', 'same', 'same', 'inconclusive', 'excluded'];
  const list = Array.from({length: cases}, (_, n) => {
    const verdict = verdicts[n % verdicts.length];
    const ratio = verdict === 'regressed' ? 1.05 + 0.2 * r() : verdict === 'improved' ? 0.94 - 0.15 * r() : verdict === 'excluded' ? null : 1 + 0.02 * (r() - 0.5);
    const half = verdict === 'inconclusive' ? 0.06 : 0.012;
    const side = (m) => ({median: m, medians: Array.from({length: 8}, () => m * (1 + 0.01 * (r() - 0.5))), left_out: n % 9 === 8 ? [{launch: 'x#3', reason: word('20 of 100 samples are flagged')}] : []});
    return {name: word(`gemm/bf16/portable m=${n + 1} n=4096 k=4096: time`), subject: 'cuda sm_90', verdict, reason: verdict === 'excluded' ? word('a result is wrong in the candidate') : '',
      ratio, interval: ratio === null ? null : [ratio - half, ratio + half], unit: 'ns', better: 'lower', p: 0.001, adjusted_p: 0.02, margin: 0.03, drift: 1,
      baseline: side(4e6), candidate: side(4e6 * (ratio ?? 1)), anchor: false, ...(verdict === 'inconclusive' ? {launches_needed: 14} : {}),
      ...(n === 7 ? {accepted: {reason: word('known'), until: '2026-12-31'}} : {})};
  });
  const n = (v) => list.filter((c) => c.verdict === v).length;
  return {schema: 'assay', schema_version: '1.1.0', kind: 'compare', run: run(id, word), status: 'ok', failures: [], body: {
    identity: {relation: 'change only', pairs: [{subject: word('cuda sm_90'), relation: 'change only', memory_comparable: true, same_board: true, time_confounded: true,
      baseline: {subject: 'cuda sm_90', documents: [word('before.json')], run_ids: ['a'], launches_ok: 8, launches_failed: 0, boards: 1},
      candidate: {subject: 'cuda sm_90', documents: ['after.json'], run_ids: ['b'], launches_ok: 8, launches_failed: 0, boards: 1},
      fields: [{key: 'driver', tier: 'change', baseline: '550.10', candidate: word('560.28')}], findings: [{side: 'candidate', key: 'load', refuses: false, text: word('another process was on the board')}], shared_unknown: []}]},
    rule: {alpha: 0.05, level: 0.95, margin: 0.03, memory_tolerance_bytes: 0, family: cases, launches_least: 7, across: false},
    counts: {regressed: n('regressed'), accepted: 1, improved: n('improved'), same: n('same'), inconclusive: n('inconclusive'), excluded: n('excluded'), not_judged: 0, memory_grown: 1, memory_shrunk: 0, memory_same: 2, unmatched: 1},
    cases: list, memory: [{name: word('decoder-8b: decode, peak reserved'), subject: 'cuda sm_90', counter: 'reserved_bytes.all.peak', verdict: 'grown', baseline_bytes: 14e9, candidate_bytes: 14.2e9, tolerance_bytes: 0}],
    unmatched: [{name: word('softmax/f16'), subject: 'cuda sm_90', missing_in: 'baseline', reason: 'the baseline has no such case'}], notes: [word('one side was measured before the other')], exit_code: 1}};
}

export function replayDocument({id = 'replay-1', seed = 5, points = 400, segments = 24, word = (w) => w} = {}) {
  const r = random(seed);
  const policy = (name, waste) => {
    const series = {events_per_point: 25, event: [], time_us: [], requested_bytes: [], active_bytes: [], reserved_bytes: []};
    let reserved = 0;
    for (let i = 0; i < points; ++i) {
      const active = Math.floor(MIB * (800 + 3000 * Math.abs(Math.sin(i / 23)) * (i / points) + 60 * r()));
      reserved = Math.max(reserved, Math.ceil(active * waste / (2 * MIB)) * 2 * MIB);
      series.event.push(25 * (i + 1));
      series.requested_bytes.push(Math.floor(active * 0.98));
      series.active_bytes.push(active);
      series.reserved_bytes.push(reserved);
    }
    const list = Array.from({length: segments}, (_, n) => {
      const runs = [];
      let left = (n % 3 === 0 ? 20 : 2 + Math.floor(90 * r())) * MIB;
      const whole = left;
      while (left > 0 && runs.length < 12) {
        const size = runs.length === 11 ? left : Math.min(left, Math.ceil(left * (0.2 + 0.5 * r()) / 512) * 512);
        runs.push({state: ['active_allocated', 'inactive', 'active_allocated', 'active_pending_free'][runs.length % 4], bytes: size, blocks: 1 + (runs.length % 3)});
        left -= size;
      }
      const active = runs.filter((x) => x.state !== 'inactive').reduce((a, x) => a + x.bytes, 0);
      return {address: `0x${(0x7f0000000000 + n * 0x10000000).toString(16)}`, bytes: whole, stream: word('0x0'), pool: n % 3 === 0 ? 'small' : 'large', expandable: n % 5 === 4, active_bytes: active,
        largest_free_bytes: Math.max(0, ...runs.filter((x) => x.state === 'inactive').map((x) => x.bytes)), runs: n === segments - 1 ? [] : runs};
    });
    return {policy: word(name), options: '', device: 0, peak_requested_bytes: Math.max(...series.requested_bytes), peak_active_bytes: Math.max(...series.active_bytes), peak_reserved_bytes: reserved,
      reserved_per_active: waste, largest_free_block_bytes: 80 * MIB, external_fragmentation: 0.41, device_allocations: 90, device_calls: {malloc: 90, free: 0, map: 0, unmap: 0, total: 90},
      device_calls_at_beginning: {malloc: 0, free: 0, map: 0, unmap: 0, total: 0}, retries: 1, operations: 20000, out_of_memory: waste > 1.4,
      ...(waste > 1.4 ? {refusal: {at_beginning: false, event: 9000, requested_bytes: 64 * MIB, stream: '0x0', cause: 'fragmentation', sentence: word('fragmentation: 300 MiB are free in pieces too small')}} : {}),
      min_capacity_bytes: reserved, time_per_operation: q(130, 'ns'), series,
      at_peak: {requested_bytes: 1, active_bytes: 3000 * MIB, reserved_bytes: reserved, free_bytes: 700 * MIB, free_pieces: 31, largest_free_bytes: 80 * MIB, streams: [], segments: list, segments_left_out: 3, runs_left_out: 9}};
  };
  return {schema: 'assay', schema_version: '1.1.0', kind: 'replay', run: run(id, word), status: 'ok', failures: [], body: {traces: [{file: word('train.pickle'),
    origin: {format: 'snapshot', framework: 'pytorch', framework_version: '2.5', platform: 'unknown', device: '0', settings: 'unknown'}, events: points * 25, allocations: 9000, devices: 1,
    beginning: {reconstructed: false, blocks: 0, requested_bytes: 0}, warnings: [word('the trace does not say which vendor executed')], capacity_bytes: 6 * 1024 * MIB,
    policies: [policy('caching', 1.3), policy('expandable', 1.08), policy('direct', 1.5)],
    verification: [{device: 0, outcome: 'diverged', options: '', allocations: 9000, allocations_matched: 8999, segment_events: 90, segment_events_matched: 90, blocks_at_beginning: 0, sizes_inferred: 0,
      first_divergence: {event: 12, action: 'alloc', expected: '0x1', got: word('0x2')}, candidates: []}]}]}};
}

export function estimateDocument({id = 'estimate-1', word = (w) => w} = {}) {
  return {schema: 'assay', schema_version: '1.1.0', kind: 'estimate', run: run(id, word), status: 'ok', failures: [],
    body: {weights: {tensor_bytes: bytes(14e9, 'computed'), formula: word('parameters x 2')}, total_bytes: 15e9}};
}
