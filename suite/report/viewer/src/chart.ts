// SPDX-License-Identifier: Apache-2.0
// What every chart has: a frame that follows its column, axes, a name, a cursor moved by keys, and paper.
import {axisBottom, axisLeft, type AxisScale} from 'd3-axis';
import {select} from 'd3-selection';
import {fresh, h, s} from './dom.ts';

const NARROW = 560;

export interface Frame {
  svg: SVGSVGElement;
  plot: SVGGElement;
  width: number;   // of the plot
  height: number;
  narrow: boolean;
}

export interface Margins {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

export interface Cursor {
  xs: number[];                      // stops in plot coordinates, from left to right
  say: (index: number) => string;    // what stands there
}

// Draws into a figure as wide as its column and again when that changes. `draw` may return stops for a cursor.
export function chart(name: string, height: number, margin: Margins | ((narrow: boolean) => Margins), draw: (frame: Frame) => Cursor | void,
                      leastWidth = 0): HTMLElement {
  const title = fresh('chart');
  const readout = h('output', {class: 'readout'});
  const holder = h('div', {class: 'chart'});
  const figure = h('figure', {'aria-labelledby': title}, h('figcaption', {id: title}, name), holder, readout);
  let drawn = 0;
  const render = (outer: number) => {
    const whole = Math.max(Math.round(outer), leastWidth, 240);
    if (whole === drawn) return;
    drawn = whole;
    const margins = typeof margin === 'function' ? margin(whole < NARROW) : margin;
    const svg = s('svg', {viewBox: `0 0 ${whole} ${height}`, width: whole, height, role: 'img', 'aria-label': name});
    const plot = s('g', {transform: `translate(${margins.left},${margins.top})`});
    svg.append(plot);
    const frame: Frame = {svg, plot, width: whole - margins.left - margins.right,
      height: height - margins.top - margins.bottom, narrow: whole < NARROW};
    const cursor = draw(frame);
    holder.replaceChildren(svg);
    readout.textContent = '';
    if (cursor && cursor.xs.length > 0) follow(frame, margins, cursor, readout);
    const scrolls = leastWidth > outer + 1;
    holder.classList.toggle('scrolls', scrolls);
    if (scrolls && !cursor) {
      holder.tabIndex = 0;
      holder.setAttribute('role', 'region');
      holder.setAttribute('aria-label', name);
    }
  };
  new ResizeObserver(() => { if (holder.clientWidth > 0) render(holder.clientWidth); }).observe(holder);
  return figure;
}

function follow(frame: Frame, margins: Margins, cursor: Cursor, readout: HTMLElement): void {
  const {svg, plot} = frame;
  const line = s('line', {class: 'cursor', y1: 0, y2: frame.height, visibility: 'hidden'});
  plot.append(line);
  let at = -1;
  const show = (index: number) => {
    at = Math.max(0, Math.min(cursor.xs.length - 1, index));
    line.setAttribute('x1', String(cursor.xs[at]));
    line.setAttribute('x2', String(cursor.xs[at]));
    line.setAttribute('visibility', 'visible');
    readout.textContent = cursor.say(at);
  };
  svg.setAttribute('tabindex', '0');
  svg.setAttribute('role', 'slider');
  svg.setAttribute('aria-valuemin', '1');
  svg.setAttribute('aria-valuemax', String(cursor.xs.length));
  const said = (index: number) => {
    show(index);
    svg.setAttribute('aria-valuenow', String(at + 1));
    svg.setAttribute('aria-valuetext', readout.textContent ?? '');
  };
  svg.setAttribute('aria-valuenow', '1');
  svg.setAttribute('aria-valuetext', cursor.say(0));
  svg.addEventListener('keydown', (event) => {
    const steps: Record<string, number> = {ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0,
      End: cursor.xs.length - 1, PageUp: at + 10, PageDown: at - 10};
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    said(next);
  });
  svg.addEventListener('focus', () => said(at < 0 ? 0 : at));
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * (svg.viewBox.baseVal.width / box.width) - margins.left;
    let best = 0;
    cursor.xs.forEach((stop, i) => { if (Math.abs(stop - x) < Math.abs(cursor.xs[best]! - x)) best = i; });
    if (best !== at) show(best);
  });
}

export function axisX<T extends number | string>(frame: Frame, scale: AxisScale<T>, ticks: T[], text: (value: T) => string): void {
  const g = s('g', {class: 'axis', transform: `translate(0,${frame.height})`, 'aria-hidden': 'true'});
  select(g).call(axisBottom<T>(scale).tickValues(ticks).tickFormat(text).tickSizeOuter(0));
  frame.plot.append(g);
}

export function axisY<T extends number | string>(frame: Frame, scale: AxisScale<T>, ticks: T[], text: (value: T) => string,
                      grid = true): void {
  const g = s('g', {class: 'axis', 'aria-hidden': 'true'});
  select(g).call(axisLeft<T>(scale).tickValues(ticks).tickFormat(text).tickSizeOuter(0));
  if (grid)
    for (const tick of ticks) {
      const y = scale(tick) ?? 0;
      frame.plot.append(s('line', {class: 'grid', x1: 0, x2: frame.width, y1: y, y2: y}));
    }
  frame.plot.append(g);
}

// Points as one path of dots: a thousand of them are one element.
export function dots(points: [x: number, y: number][]): string {
  let d = '';
  for (const [x, y] of points) d += `M${x.toFixed(1)},${y.toFixed(1)}h0`;
  return d;
}

// The mark of the i-th series, so that colour is not alone in telling them apart.
export function marker(i: number, x: number, y: number, r = 4): string {
  const shapes = [
    `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
    `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x},${y - r * 1.3}L${x + r * 1.2},${y + r}H${x - r * 1.2}z`,
    `M${x},${y - r * 1.4}L${x + r * 1.4},${y}L${x},${y + r * 1.4}L${x - r * 1.4},${y}z`,
    `M${x},${y + r * 1.3}L${x + r * 1.2},${y - r}H${x - r * 1.2}z`,
    `M${x - r},${y - r / 3}h${r * 0.67}v${-r * 0.67}h${r * 0.67}v${r * 0.67}h${r * 0.67}v${r * 0.67}h${-r * 0.67}v${r * 0.67}h${-r * 0.67}v${-r * 0.67}h${-r * 0.67}z`,
  ];
  return shapes[i % shapes.length]!;
}

export function legend(entries: {text: string; mark: (svg: SVGSVGElement) => void}[]): HTMLElement {
  return h('ul', {class: 'legend'}, entries.map((entry) => {
    const svg = s('svg', {width: 16, height: 14, 'aria-hidden': 'true'});
    entry.mark(svg);
    return h('li', {}, svg, entry.text);
  }));
}

export function swatch(className: string, style?: string): (svg: SVGSVGElement) => void {
  return (svg) => {
    const rect = s('rect', {x: 1, y: 1, width: 14, height: 12, class: className});
    if (style) rect.style.fill = style;
    svg.append(rect);
  };
}

export function stroke(className: string): (svg: SVGSVGElement) => void {
  return (svg) => svg.append(s('line', {x1: 0, x2: 16, y1: 7, y2: 7, class: className}));
}
