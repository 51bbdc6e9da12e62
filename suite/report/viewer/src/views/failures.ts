// SPDX-License-Identifier: Apache-2.0
// What went wrong, and what these documents do not cover: failures, accounts of refused requests, missing values.
import type {Account, CallLatency, Counter, Given, Phase} from '../data.ts';
import {behind, h, own, plain, table} from '../dom.ts';
import {bytes, count, quantity, words} from '../format.ts';
import {section} from '../section.ts';

function accountView(account: Account): Node[] {
  return [h('p', {}, h('strong', {}, 'Account: '), own(account.sentence, 900)),
    behind('The account as a table', () => table('Where the memory was when the request was refused', [
      {name: 'Term', head: true, cell: (c: Counter) => words(c.name)},
      {name: 'Value', number: true, cell: (c) => quantity(c.quantity)},
      {name: 'Perimeter', cell: (c) => own(c.perimeter)},
      {name: 'Basis', cell: (c) => own(c.quantity.basis)},
    ], account.terms))];
}

function failedPhases(g: Given): Node[] {
  return (g.document.devices ?? []).flatMap((d) => d.launches.flatMap((l) => l.phases.filter((p) => p.failure).flatMap((p: Phase) => {
    const f = p.failure!;
    return [h('h3', {}, own(`${g.file}, ${d.name}, launch ${l.index + 1}: ${p.name}`, 160)),
      h('p', {class: 'warn'}, h('strong', {}, `${words(f.code)}: `), own(f.message, 900), '. ', f.requested_bytes.value !== null
        ? `Asked for ${bytes(f.requested_bytes.value)}${f.category ? ` of ${plain(f.category)}` : ''}.` : ''),
      ...(f.account ? accountView(f.account) : [])];
  })));
}

// Each reason why something has no value, with what it stands for and how often it occurs.
export function missing(given: Given[]): {what: string; reason: string; times: number}[] {
  const found = new Map<string, {what: string; reason: string; times: number}>();
  const note = (what: string, reason: string | undefined) => {
    const key = `${what}\u0000${reason ?? ''}`;
    const known = found.get(key);
    if (known) ++known.times;
    else found.set(key, {what, reason: reason ?? 'no reason given', times: 1});
  };
  for (const g of given)
    for (const device of g.document.devices ?? []) {
      for (const [key, field] of Object.entries(device.identity.fields)) if (field.state === 'unknown') note(`identity: ${key}`, field.reason);
      for (const launch of device.launches) {
        if (launch.duration.value === null) note('time of a launch', launch.duration.reason);
        for (const phase of launch.phases) {
          if (phase.duration.value === null) note(`time of ${phase.name}`, phase.duration.reason);
          for (const c of [...phase.start, ...phase.end]) if (c.quantity.value === null) note(`counter ${c.name} (${c.perimeter})`, c.quantity.reason);
          for (const ledger of [phase.ledger_start, phase.ledger_end]) for (const t of ledger?.terms ?? []) {
            if (t.first.value === null) note(`ledger: ${t.name}, first reading`, t.first.reason);
            if (t.second.value === null) note(`ledger: ${t.name}, second reading`, t.second.reason);
          }
        }
      }
      for (const c of device.cases) {
        if (c.status === 'unsupported') note(`case ${c.name}`, c.message || 'unsupported on this device');
        if (c.error.value === null && c.status === 'ok') note(`error of ${c.name}`, c.error.reason);
      }
    }
  return [...found.values()];
}

function latency(given: Given[]): Node[] {
  interface Row { where: string; call: CallLatency }
  const rows: Row[] = given.flatMap((g) => (g.document.devices ?? []).flatMap((d) => d.launches.flatMap((l) =>
    (l.allocator_latency ?? []).map((call) => ({where: `${g.file}, ${d.name}, launch ${l.index + 1}`, call})))));
  if (rows.length === 0) return [];
  return [behind(`Time of the allocator's calls: ${count(rows.length, 'row')}`, () => table('Calls of the allocator: percentiles are the upper ends of their class', [
    {name: 'Launch', head: true, cell: (r: Row) => own(r.where)},
    {name: 'Call', cell: (r) => words(r.call.call)},
    {name: 'Count', number: true, cell: (r) => r.call.count},
    {name: 'Median', number: true, cell: (r) => quantity(r.call.p50)},
    {name: '99 of 100 within', number: true, cell: (r) => quantity(r.call.p99)},
    {name: 'Longest', number: true, cell: (r) => quantity(r.call.max)},
  ], rows))];
}

function caseTable(given: Given[]): Node[] {
  const rows = given.flatMap((g) => (g.document.devices ?? []).flatMap((d) => d.cases.map((c) => ({file: g.file, device: d.name, c}))));
  if (rows.length === 0) return [];
  const wrong = rows.filter((r) => r.c.status === 'wrong' || r.c.status === 'failed').length;
  const unsupported = rows.filter((r) => r.c.status === 'unsupported').length;
  const well = rows.filter((r) => r.c.status === 'ok').length;
  return [h('p', {class: wrong ? 'warn' : null}, `Kernel checks: ${well} of ${rows.length} within tolerance` + (unsupported ? `, ${unsupported} unsupported on their device` : '') + (wrong ? `, ${wrong} wrong or failed.` : '.')),
    behind('The kernel checks as a table', () => table('Kernels against their fp64 references', [
      {name: 'Case', head: true, cell: (r: (typeof rows)[number]) => own(r.c.name, 90)},
      {name: 'Document', cell: (r) => own(r.file, 40)},
      {name: 'Device', cell: (r) => own(r.device)},
      {name: 'Status', cell: (r) => own(r.c.status)},
      {name: 'Error (observed)', number: true, cell: (r) => quantity(r.c.error)},
      {name: 'Tolerance (computed)', number: true, cell: (r) => quantity(r.c.tolerance)},
      {name: 'Message', cell: (r) => own(r.c.message)},
    ], rows, (r) => (r.c.status === 'wrong' || r.c.status === 'failed' ? 'bad' : '')))];
}

function notCovered(given: Given[]): string[] {
  const out: string[] = [];
  for (const g of given) {
    const platforms = new Set((g.document.devices ?? []).map((d) => d.identity.fields['platform']?.value));
    if (platforms.has('cpu')) out.push(`${g.file}: made on a CPU; it is no GPU measurement.`);
    if (g.document.run.finished_at === '') out.push(`${g.file}: the run was cut short.`);
    if (g.document.devices?.some((d) => d.launches.length === 0)) out.push(`${g.file}: a device has no launch.`);
  }
  if (given.some((g) => g.document.devices)) {
    out.push('What executes is a forward pass with synthetic weights; training, its optimiser state and its saved activations are not measured.');
    out.push('Peaks belong to one counter each; two peaks need not have been reached at one instant.');
  }
  return out;
}

export function failures(given: Given[]): HTMLElement {
  const rows = given.flatMap((g) => g.document.failures.map((f) => ({file: g.file, f})));
  const gaps = missing(given);
  const open = notCovered(given);
  return section('failures', 'Failures and what is not covered',
    rows.length === 0 ? h('p', {}, 'No failure is recorded in these documents.')
      : table('Failures', [
        {name: 'Document', head: true, cell: (r: (typeof rows)[number]) => own(r.file, 60)},
        {name: 'Device', cell: (r) => own(r.f.device)},
        {name: 'Launch', number: true, cell: (r) => (r.f.launch_order < 0 ? 'none' : r.f.launch_order + 1)},
        {name: 'Phase', cell: (r) => own(r.f.phase)},
        {name: 'What', cell: (r) => h('strong', {}, words(r.f.code))},
        {name: 'Message', cell: (r) => own(r.f.message, 900)},
      ], rows, () => 'bad'),
    ...given.flatMap(failedPhases), ...caseTable(given), ...latency(given),
    open.length > 0 ? h('ul', {class: 'facts'}, open.map((text) => h('li', {}, own(text)))) : null,
    gaps.length > 0 ? behind(`${count(gaps.length, 'value')} not read, each with its reason`, () => table('What has no value, and why', [
      {name: 'What', head: true, cell: (m: (typeof gaps)[number]) => own(m.what, 120)},
      {name: 'Why', cell: (m) => own(m.reason)},
      {name: 'Times', number: true, cell: (m) => m.times},
    ], gaps)) : null);
}
