// bars.ts: a small bar chart: one bar per item, an optional part of it darker, values on hover.

import { h, s } from '../base/dom';
import { hideTip, showTip } from '../base/tooltip';

export interface Bar {
  label: string;
  value: number;
  /** The darker part of it, from the bottom. */
  part?: number;
  tip: string;
  go?: () => void;
}

export interface BarChart {
  title: string;
  note: string;
  bars: Bar[];
  text: (value: number) => string;
}

const WIDTH = 420;
const HEIGHT = 150;
const LEFT = 52;
const BOTTOM = 20;
const TOP = 8;

/** A round number at or above v: 1, 2 or 5 times a power of ten. */
function roundUp(v: number): number {
  const power = 10 ** Math.floor(Math.log10(v || 1));
  const m = v / power;
  return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

function bar(b: Bar, x: number, width: number, y: (v: number) => number): SVGElement {
  const base = HEIGHT - BOTTOM;
  const gap = width > 6 ? 2 : width > 3 ? 1 : 0;
  const box = (v: number, name: string): SVGElement =>
    s('rect', {
      x,
      y: y(v),
      width: Math.max(0.5, width - gap),
      height: Math.max(0, base - y(v)),
      class: name,
    });
  const el = s(
    'g',
    {
      class: b.go ? 'bar-item jumps' : 'bar-item',
      tabindex: b.go ? 0 : null,
      role: b.go ? 'button' : null,
      'aria-label': b.tip,
    },
    s('rect', { x, y: TOP, width, height: base - TOP, class: 'bar-ground' }),
    box(b.value, 'bar-value'),
    b.part === undefined ? null : box(b.part, 'bar-part'),
  );
  el.addEventListener('pointermove', e => showTip(e.clientX, e.clientY, b.tip));
  el.addEventListener('pointerleave', hideTip);
  if (b.go) {
    el.addEventListener('click', b.go);
    el.addEventListener('keydown', e => {
      if (e.key === 'Enter') b.go!();
    });
  }
  return el;
}

export function barChart(c: BarChart): HTMLElement {
  const most = roundUp(c.bars.reduce((m, b) => Math.max(m, b.value), 0));
  const base = HEIGHT - BOTTOM;
  const y = (v: number): number => base - (v / most) * (base - TOP);
  const width = Math.min(60, (WIDTH - LEFT - 4) / Math.max(1, c.bars.length));
  const every = Math.ceil((c.bars.length * 34) / (WIDTH - LEFT));
  const lines = [0, most / 2, most].map(v =>
    s(
      'g',
      { class: 'axis' },
      s('line', { x1: LEFT, x2: WIDTH, y1: y(v), y2: y(v) }),
      s('text', { x: LEFT - 6, y: y(v) + 4, 'text-anchor': 'end' }, c.text(v)),
    ),
  );
  const labels = c.bars.map((b, i) =>
    i % every
      ? null
      : s(
          'text',
          {
            class: 'axis-label',
            x: LEFT + i * width + width / 2,
            y: HEIGHT - 5,
            'text-anchor': 'middle',
          },
          b.label,
        ),
  );
  return h(
    'figure',
    { class: 'chart' },
    h('figcaption', null, h('b', null, c.title), h('span', { class: 'dim' }, c.note)),
    s(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': c.title },
      ...lines,
      ...c.bars.map((b, i) => bar(b, LEFT + i * width, width, y)),
      ...labels,
    ),
  );
}
