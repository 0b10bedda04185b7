// plot.ts: lines, bands and dots over two axes, linear or logarithmic, in SVG. Everything drawn
// shows its numbers on hover.

import { h, replace, s, type Child } from '../base/dom';
import { hideTip, showTip } from '../base/tooltip';

export interface Axis {
  label: string;
  from: number;
  to: number;
  log: boolean;
  text: (value: number) => string;
}

export interface Line {
  name: string;
  /** Number of a hue of the style sheet. */
  hue: number;
  points: [number, number][];
  /** Low and high of each point. */
  band?: [number, number][];
  dashed?: boolean;
}

export interface Dot {
  x: number;
  y: number;
  hue: number;
  radius: number;
  tip: string;
  label?: string;
  go?: () => void;
}

export interface Plot {
  title: string;
  note: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  dots: Dot[];
}

/** Height by width, and its limits: pixels at least, and this share of the window at most. */
const SHAPE = 0.6;
const LEAST_HIGH = 260;
const MOST_OF_WINDOW = 0.5;
const LEFT = 96;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 38;

type Scale = (value: number) => number;

interface Size {
  width: number;
  height: number;
}

function scaleOf(axis: Axis, from: number, to: number): Scale {
  const f = axis.log ? (v: number): number => Math.log10(Math.max(v, 1e-12)) : (v: number) => v;
  const span = f(axis.to) - f(axis.from) || 1;
  return v => from + ((f(v) - f(axis.from)) / span) * (to - from);
}

/** Round values between the ends of an axis. */
function ticks(axis: Axis): number[] {
  const out: number[] = [];
  if (axis.log) {
    for (let p = Math.ceil(Math.log10(axis.from)); 10 ** p <= axis.to; p++) out.push(10 ** p);
    return out;
  }
  const raw = (axis.to - axis.from) / 5;
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
  for (let v = Math.ceil(axis.from / step) * step; v <= axis.to; v += step) out.push(v);
  return out;
}

function axes(p: Plot, { width, height }: Size, x: Scale, y: Scale): Node[] {
  const base = height - BOTTOM;
  const rows = ticks(p.y).map(v =>
    s(
      'g',
      { class: 'axis' },
      s('line', { x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }),
      s('text', { x: LEFT - 6, y: y(v) + 4, 'text-anchor': 'end' }, p.y.text(v)),
    ),
  );
  const columns = ticks(p.x).map(v =>
    s(
      'g',
      { class: 'axis' },
      s('line', { x1: x(v), x2: x(v), y1: TOP, y2: base }),
      s('text', { x: x(v), y: base + 15, 'text-anchor': 'middle' }, p.x.text(v)),
    ),
  );
  const middle = (LEFT + width - RIGHT) / 2;
  const label = { class: 'plot-text', x: middle, y: height - 5, 'text-anchor': 'middle' };
  const up = { class: 'plot-text', 'text-anchor': 'middle' };
  const turned = `translate(12 ${(TOP + base) / 2}) rotate(-90)`;
  return [
    ...rows,
    ...columns,
    s('text', label, p.x.label),
    s('text', { ...up, transform: turned }, p.y.label),
  ];
}

function path(points: [number, number][], x: Scale, y: Scale): string {
  return points
    .map(([a, b], i) => `${i ? 'L' : 'M'}${x(a).toFixed(1)},${y(b).toFixed(1)}`)
    .join('');
}

function lineOf(line: Line, x: Scale, y: Scale): Node {
  const band = line.band?.length
    ? s('path', {
        class: `plot-band hue-${line.hue}`,
        d:
          path(
            line.points.map(([a], i) => [a, line.band![i][0]]),
            x,
            y,
          ) +
          path(
            line.points.map(([a], i): [number, number] => [a, line.band![i][1]]).reverse(),
            x,
            y,
          ).replace('M', 'L') +
          'Z',
      })
    : null;
  const stroke = {
    class: `plot-line hue-${line.hue}` + (line.dashed ? ' dashed' : ''),
    d: path(line.points, x, y),
  };
  return s('g', null, band, s('path', stroke));
}

function dotOf(dot: Dot, x: Scale, y: Scale, labels: Labels): Node {
  const at = { cx: x(dot.x), cy: y(dot.y), r: dot.radius };
  const props = {
    class: `plot-dot hue-${dot.hue}`,
    tabindex: 0,
    role: dot.go ? 'button' : 'img',
    'aria-label': dot.tip,
  };
  const circle = s('circle', { ...at, ...props });
  circle.addEventListener('pointermove', e => showTip(e.clientX, e.clientY, dot.tip));
  circle.addEventListener('focus', () => {
    const box = circle.getBoundingClientRect();
    showTip(box.right, box.bottom, dot.tip);
  });
  circle.addEventListener('pointerleave', hideTip);
  circle.addEventListener('blur', hideTip);
  if (dot.go) circle.addEventListener('click', dot.go);
  return s('g', null, circle, dot.label ? labels.place(dot.label, at.cx, at.cy) : null);
}

const LABEL_HIGH = 13;
const LETTER = 7;

/** Texts beside dots, each where none is yet. */
class Labels {
  private readonly taken: [number, number, number][] = [];

  constructor(private readonly width: number) {}

  place(text: string, x: number, y: number): Node {
    const long = text.length * LETTER;
    const spots = [7, -14, 21, -28].flatMap(up =>
      [8, -8 - long].map((by): [number, number, number] => [x + by, y - up, long]),
    );
    const free = spots.find(
      ([a, b, n]) =>
        a + n < this.width &&
        this.taken.every(([c, d, m]) => Math.abs(b - d) >= LABEL_HIGH || a + n < c || c + m < a),
    );
    const at = free ?? spots[0];
    this.taken.push(at);
    return s('text', { class: 'plot-text', x: at[0], y: at[1] }, text);
  }
}

function key(p: Plot): Child {
  const named = p.lines.filter(l => l.name);
  if (named.length < 2) return null;
  const items = named.map(l => h('li', null, h('i', { class: `swatch hue-${l.hue}` }), l.name));
  return h('ul', { class: 'plot-key' }, ...items);
}

function drawing(p: Plot, size: Size): Node[] {
  const x = scaleOf(p.x, LEFT, size.width - RIGHT);
  const y = scaleOf(p.y, size.height - BOTTOM, TOP);
  const labels = new Labels(size.width);
  return [
    ...axes(p, size, x, y),
    ...p.lines.map(l => lineOf(l, x, y)),
    ...p.dots.map(d => dotOf(d, x, y, labels)),
  ];
}

/** As wide as its place, so that letters keep their size on every screen. */
export function plot(p: Plot): HTMLElement {
  const svg = s('svg', { role: 'group', 'aria-label': p.title });
  const el = h(
    'figure',
    { class: 'chart wide' },
    h('figcaption', null, h('b', null, p.title), h('span', { class: 'dim' }, p.note)),
    svg,
    key(p),
  );
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(el.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    const most = Math.max(innerHeight * MOST_OF_WINDOW, LEAST_HIGH);
    const height = Math.round(Math.min(Math.max(width * SHAPE, LEAST_HIGH), most));
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    replace(svg, ...drawing(p, { width, height }));
  }).observe(el);
  return el;
}
