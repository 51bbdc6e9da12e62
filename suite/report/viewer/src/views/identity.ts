// SPDX-License-Identifier: Apache-2.0
// Identity: what executed, field by field, a column a device; fields not known to agree are marked in words and colour.
import {fieldText, type Device, type Given} from '../data.ts';
import {announcer, choice, h, own, search, table} from '../dom.ts';
import {count} from '../format.ts';
import {section} from '../section.ts';

interface Column {
  file: string;
  device: Device;
}

export interface Field {
  key: string;
  tier: string;
  texts: string[];
  verdict: 'equal' | 'differs' | 'unknown' | 'single';
}

const MEANING: Record<string, string> = {
  thing: 'thing: a difference means that different things were measured',
  change: 'change: what an upgrade changes',
  info: 'info: means nothing for the identity',
  validity: 'validity: a run is refused or marked',
};

// An unknown field of tier `thing` equals nothing, another unknown included.
export function compareFields(devices: Device[]): Field[] {
  const keys = [...new Set(devices.flatMap((d) => Object.keys(d.identity.fields)))];
  return keys.map((key) => {
    const fields = devices.map((d) => d.identity.fields[key]);
    const texts = fields.map(fieldText);
    const tier = fields.find((f) => f)?.tier ?? 'info';
    const unknown = fields.some((f) => !f || f.state === 'unknown');
    const same = texts.every((t) => t === texts[0]);
    let verdict: Field['verdict'] = same ? 'equal' : 'differs';
    if (unknown && same && tier === 'thing') verdict = 'unknown';
    return {key, tier, texts, verdict: devices.length < 2 ? 'single' : verdict};
  });
}

const SAID: Record<Field['verdict'], string> = {equal: 'equal', differs: 'differs', unknown: 'unknown: equals nothing', single: ''};

export function identity(given: Given[]): HTMLElement | null {
  const columns: Column[] = given.flatMap((g) => (g.document.devices ?? []).map((device) => ({file: g.file, device})));
  if (columns.length === 0) return null;
  const devices = columns.map((c) => c.device);
  const fields = compareFields(devices);
  const differing = fields.filter((f) => f.verdict === 'differs' || f.verdict === 'unknown');
  const said = announcer();
  const holder = h('div');
  let which = columns.length > 1 && differing.length > 0 ? 'differing' : 'known';
  let needle = '';
  const update = () => {
    const rows = fields.filter((f) => (which === 'all' || (which === 'differing' ? differing.includes(f)
      : which === 'known' ? f.texts.some((t) => t !== 'not applicable') : f.tier === which)) &&
      (needle === '' || `${f.key} ${f.texts.join(' ')}`.toLowerCase().includes(needle)));
    said.textContent = `${count(rows.length, 'field')} of ${fields.length} shown.`;
    holder.replaceChildren(table('Identity of each device', [
      {name: 'Field', head: true, cell: (f: Field) => own(f.key)},
      {name: 'Tier', cell: (f) => own(f.tier)},
      ...(columns.length > 1 ? [{name: 'Devices', cell: (f: Field) => SAID[f.verdict]}] : []),
      ...columns.map((c, i) => ({
        name: `${c.file} ${c.device.name}`.slice(0, 80),
        cell: (f: Field) => {
          const field = c.device.identity.fields[f.key];
          return field?.reason ? h('span', {}, f.texts[i]!, ' ', h('small', {}, own(`(${field.reason})`))) : own(f.texts[i]!);
        },
      })),
    ], rows, (f) => (f.verdict === 'differs' || f.verdict === 'unknown' ? `differs tier-${['thing', 'change'].includes(f.tier) ? f.tier : 'info'}` : '')));
  };
  update();
  const findings = columns.flatMap((c) => c.device.identity.findings.map((f) => ({...f, where: `${c.file}, ${c.device.name}`})));
  const things = differing.filter((f) => f.tier === 'thing');
  return section('identity', 'Identity',
    h('div', {class: 'controls'},
      choice('Fields', [...(columns.length > 1 ? [['differing', `differing (${differing.length})`] as [string, string]] : []),
        ['known', 'applicable'], ['all', 'all'], ['thing', 'tier thing'], ['change', 'tier change'], ['info', 'tier info'],
        ['validity', 'tier validity']], which, (v) => { which = v; update(); }),
      search('Find a field', (w) => { needle = w; update(); })),
    columns.length > 1
      ? h('p', {class: things.length ? 'warn' : null}, things.length
        ? `${count(things.length, 'field')} of tier thing ${things.length === 1 ? 'is' : 'are'} not known to agree: these devices are not the same thing, and their numbers stand beside each other without a verdict. `
        : 'No field of tier thing differs. ', 'Whether two series may be compared is decided by assay compare, not by this page.')
      : null,
    findings.length > 0 ? h('ul', {class: 'badlist'}, findings.map((f) => h('li', {}, h('strong', {}, f.refuses ? 'Refuses: ' : 'Marked: '), own(f.text), ' (', own(f.where), ')'))) : null,
    said, holder,
    h('ul', {class: 'facts'}, Object.values(MEANING).map((text) => h('li', {}, text))));
}

