// SPDX-License-Identifier: Apache-2.0
// The page: reads the embedded documents, builds the views that they give rise to, and leads to them.
import type {PageData} from './data.ts';
import {h, plain} from './dom.ts';
import {count} from './format.ts';
import {comparison} from './views/comparison.ts';
import {failures} from './views/failures.ts';
import {identity} from './views/identity.ts';
import {memory} from './views/memory.ts';
import {others, overview} from './views/overview.ts';
import {replay} from './views/replay.ts';
import {roofline} from './views/roofline.ts';
import {samples} from './views/samples.ts';

function page(data: PageData): void {
  const given = data.documents;
  const kinds = [...new Set(given.map((g) => g.document.kind))];
  const title = `${given.length === 1 ? plain(given[0]!.file).slice(0, 80) : count(given.length, 'document')}: Assay report`;
  document.title = title;
  const sections = [overview(given), comparison(given), memory(given), samples(given), roofline(given), replay(given),
    others(given), identity(given), failures(given)].filter((view): view is HTMLElement => view !== null);
  const nav = h('nav', {'aria-label': 'Views'}, h('ul', {}, sections.map((view) => h('li', {},
    h('a', {href: `#${view.id}`}, view.querySelector('h2')!.textContent)))));
  document.body.replaceChildren(
    h('a', {class: 'skip', href: '#main'}, 'Skip to the views'),
    h('header', {}, h('h1', {}, 'Assay report'), h('p', {}, `${count(given.length, 'document')} (${kinds.map(plain).join(', ')}). Page made by ${plain(data.program)}; nothing is loaded from a network. ` +
      'Each number says whether it was computed, observed or assumed.')),
    nav, h('main', {id: 'main', tabindex: -1}, sections),
    h('footer', {}, h('p', {}, 'Assay, Apache-2.0. Charts are drawn with d3 modules; their notices stand at the head of the script in this file. GiB is 2^30 bytes, GB is 10^9.')));
  const links = new Map([...nav.querySelectorAll('a')].map((a) => [a.getAttribute('href')!.slice(1), a]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const a of links.values()) a.removeAttribute('aria-current');
      links.get(entry.target.id)?.setAttribute('aria-current', 'true');
    }
  }, {rootMargin: '-20% 0px -70% 0px'});
  for (const view of sections) watch.observe(view);
}

function start(): void {
  const text = document.getElementById('assay-data')?.textContent ?? 'null';
  const data = JSON.parse(text) as PageData | null;
  if (!data || !Array.isArray(data.documents)) {
    document.body.replaceChildren(h('main', {}, h('h1', {}, 'Assay report'), h('p', {}, 'This page holds no documents: make one with assay report DOCUMENT --html FILE.')));
    return;
  }
  page(data);
}

start();
