// SPDX-License-Identifier: Apache-2.0
// Elements from plain values: text from a document only ever becomes a text node, and its hidden characters are shown.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

const SVG = 'http://www.w3.org/2000/svg';

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : plain(String(value)));
  }
  append(element, children);
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : plain(String(child)));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]):
    HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]):
    SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  fill(element, attributes, children);
  return element;
}

// Characters that have no shape of their own or turn the text around them: controls, direction marks, joiners.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

// `text` with each hidden character as its code point, so that nothing in it can pose as something else.
export function plain(text: string): string {
  return text.replace(HIDDEN, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
}

export function shortened(text: string, most: number): string {
  const points = [...plain(text)];
  return points.length <= most ? points.join('') : points.slice(0, most - 1).join('') + '\u2026';
}

// A document's own word, set apart from the page's: its direction cannot reach its neighbours.
export function own(text: string, most = 400): HTMLElement {
  const shown = shortened(text, most);
  // A word that no line would hold may be broken anywhere; others only between words.
  const long = /\S{28}/.test(shown) ? 'long' : null;
  return h('bdi', {class: long, title: shown.endsWith('\u2026') ? plain(text).slice(0, 4000) : null}, shown);
}

export interface Column<Row> {
  name: string;
  number?: boolean;
  cell: (row: Row) => Child;
  head?: boolean;  // the row's own heading
}

export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[], mark?: (row: Row) => string): HTMLElement {
  const body = h('tbody');
  for (const row of rows)
    body.append(h('tr', {class: mark?.(row) || null}, columns.map((c) =>
      h(c.head ? 'th' : 'td', {class: c.number ? 'number' : null, scope: c.head ? 'row' : null}, c.cell(row)))));
  return h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption},
    h('table', {},
      h('caption', {}, h('span', {}, caption)),
      h('thead', {}, h('tr', {}, columns.map((c) => h('th', {scope: 'col', class: c.number ? 'number' : null}, c.name)))),
      body));
}

// A table that is built when it is first opened (or printed): hundreds of them cost nothing until then.
export function behind(summary: string, make: () => Node): HTMLDetailsElement {
  const details = h('details', {class: 'behind'}, h('summary', {}, summary));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(make());
  });
  return details;
}

let ids = 0;
export function fresh(stem: string): string {
  return `${stem}-${++ids}`;
}

export function choice(label: string, options: [value: string, text: string][], chosen: string,
                       change: (value: string) => void): HTMLElement {
  const id = fresh('choice');
  const select = h('select', {id}, options.map(([value, text]) =>
    h('option', {value, selected: value === chosen}, shortened(text, 90))));
  select.addEventListener('change', () => change(select.value));
  return h('span', {class: 'control'}, h('label', {for: id}, label), select);
}

export function search(label: string, change: (words: string) => void): HTMLElement {
  const id = fresh('search');
  const input = h('input', {id, type: 'search', autocomplete: 'off', spellcheck: 'false'});
  input.addEventListener('input', () => change(input.value.trim().toLowerCase()));
  return h('span', {class: 'control'}, h('label', {for: id}, label), input);
}

export function checkbox(label: string, checked: boolean, change: (on: boolean) => void): HTMLElement {
  const id = fresh('check');
  const input = h('input', {id, type: 'checkbox', checked});
  input.addEventListener('change', () => change(input.checked));
  return h('span', {class: 'control'}, input, h('label', {for: id}, label));
}

// What has come of a filter, said aloud.
export function announcer(): HTMLElement {
  return h('p', {class: 'announce', role: 'status'});
}
