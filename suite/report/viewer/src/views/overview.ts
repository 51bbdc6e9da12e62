// SPDX-License-Identifier: Apache-2.0
// What the page holds: a card a document, and a plain table of the numbers of kinds that have no view of their own.
import {fieldText, workloadName, type Given} from '../data.ts';
import {h, own, plain, table} from '../dom.ts';
import {bytes, count, number, words} from '../format.ts';
import {section} from '../section.ts';

function facts(g: Given): [string, Node | string][] {
  const d = g.document;
  const out: [string, Node | string][] = [
    ['Kind', own(d.kind)], ['Status', h('strong', {class: d.status === 'ok' ? 'good' : 'badtext'}, plain(d.status))],
    ['Started', own(d.run.started_at)], ['Run', own(d.run.id)],
    ['Made by', own(`assay ${d.run.suite_version}, commit ${d.run.suite_commit}`, 60)], ['Command', own(d.run.argv.join(' '), 300)]];
  if (d.plan) {
    out.push(['Allocator', own(d.plan.allocator + (d.plan.allocator_options ? ` (${d.plan.allocator_options})` : ''))]);
    d.plan.workloads.forEach((w) => out.push(['Workload', own(workloadName(w), 200)]));
  }
  for (const device of d.devices ?? []) {
    const f = device.identity.fields;
    const well = device.launches.filter((l) => l.outcome === 'ok').length;
    out.push(['Device', h('span', {}, own(device.name), ': ', own([fieldText(f['platform']), fieldText(f['arch']), `backend ${fieldText(f['backend'])}`, fieldText(f['device_name'])].join(', '), 200),
      `; ${well} of ${count(device.launches.length, 'launch', 'launches')} ok`)]);
  }
  if (g.counters_left_out > 0)
    out.push(['Counters', `${g.counters_left_out} counters that no view here shows stand only in the document.`]);
  return out;
}

export function overview(given: Given[]): HTMLElement {
  return section('overview', 'Documents', h('div', {class: 'cards'}, given.map((g) => h('article', {class: 'card'},
    h('h3', {}, own(g.file, 120)), h('dl', {}, facts(g).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))))));
}

const MOST = 1000;

// Every number of a body, by its path; a quantity is one row.
export function flatten(value: unknown, path: string, rows: [string, string][]): void {
  if (rows.length >= MOST) return;
  if (value === null || typeof value !== 'object') {
    const isBytes = typeof value === 'number' && path.endsWith('bytes');
    rows.push([path, typeof value === 'number' ? (isBytes ? bytes(value) : number(value)) : String(value)]);
  } else if ('value' in value && 'unit' in value && 'basis' in value) {
    const q = value as {value: number | null; unit: string; basis: string; reason?: string};
    rows.push([path, q.value === null ? `n/a: ${q.reason}` : `${q.unit === 'bytes' ? bytes(q.value) : `${number(q.value)} ${q.unit}`} (${q.basis})`]);
  } else {
    for (const [key, item] of Object.entries(value)) flatten(item, path ? `${path} / ${key}` : key, rows);
  }
}

export function others(given: Given[]): HTMLElement | null {
  const shown = given.filter((g) => !g.document.devices && !['compare', 'replay'].includes(g.document.kind));
  if (shown.length === 0) return null;
  return section('numbers', 'Numbers', ...shown.flatMap((g) => {
    const rows: [string, string][] = [];
    const known = ['schema', 'schema_version', 'kind', 'run', 'status', 'failures'];
    flatten(Object.fromEntries(Object.entries(g.document).filter(([key]) => !known.includes(key))), '', rows);
    return [h('h3', {}, own(g.file, 120)), h('p', {class: 'absent'}, `Documents of kind ${words(g.document.kind)} have no chart here; their values follow as a table.`),
      rows.length === 0 ? h('p', {}, 'It holds no values.') : table(`Values of ${g.document.kind}`, [
        {name: 'Value of', head: true, cell: (r: [string, string]) => own(words(r[0]), 160)}, {name: 'Value', cell: (r) => own(r[1])}], rows),
      ...(rows.length >= MOST ? [h('p', {}, `The first ${MOST} values are shown.`)] : [])];
  }));
}
