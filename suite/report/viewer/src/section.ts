// SPDX-License-Identifier: Apache-2.0
// A named part of the page: a region with a heading that the navigation leads to.
import {h} from './dom.ts';

export function section(id: string, title: string, ...children: (Node | null | false)[]): HTMLElement {
  return h('section', {id, 'aria-labelledby': `${id}-title`}, h('h2', {id: `${id}-title`, tabindex: -1}, title), children);
}

export function absent(id: string, title: string, why: string): HTMLElement {
  return section(id, title, h('p', {class: 'absent'}, why));
}
