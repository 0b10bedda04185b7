// offload_chart.ts: what keeping part of the weights on the GPU would gain: time by resident bytes,
// one line per kind of host memory, with the current run and other ways to run it.

import { h, type Child } from '../base/dom';
import { bytes, ns } from '../base/format';
import { Table } from '../tables/table';
import type { Row } from '../data/head';
import { type Dot, type Line, plot } from './plot';

interface Point {
  resident_bytes: number;
  total_ms: number;
  low_ms: number;
  high_ms: number;
}

interface Mark extends Point {
  policy: string;
  about?: string;
  host_memory: string;
  peak_vram_bytes?: number;
  verdict: string;
}

export interface Offload extends Row {
  steps: number;
  model_bytes: number;
  host_memory: string;
  now?: Mark;
  series: { policy: string; host_memory: string; points: Point[] }[];
  marks: Mark[];
}

const ms = (v: number): string => ns(v * 1e6);

function line(series: Offload['series'][number], hue: number): Line {
  return {
    name: `${series.host_memory}, ${series.policy} stay`,
    hue,
    points: series.points.map(p => [p.resident_bytes, p.total_ms]),
    band: series.points.map(p => [p.low_ms, p.high_ms]),
  };
}

function dot(m: Mark, hue: number, label?: string): Dot {
  const range = `${ms(m.total_ms)} (${ms(m.low_ms)} to ${ms(m.high_ms)})`;
  const what = `${m.about ?? m.policy}, ${m.host_memory}`;
  const tip = `${what}: ${range}, ${bytes(m.resident_bytes)} resident: ${m.verdict}`;
  return { x: m.resident_bytes, y: m.total_ms, hue, radius: label ? 6 : 4, tip, label };
}

function table(o: Offload): HTMLElement {
  return new Table({
    id: 'offload',
    title: 'Ways to run it',
    sort: 'total_ms',
    ascending: true,
    rows: (o.now ? [o.now, ...o.marks] : o.marks).map((m): Row => ({
      ...m,
      total_us: m.total_ms * 1000,
      low_us: m.low_ms * 1000,
      high_us: m.high_ms * 1000,
    })),
    empty: 'No other way was tried.',
    columns: [
      { key: 'about', label: 'what', kind: 'text' },
      { key: 'host_memory', label: 'host memory', kind: 'text' },
      { key: 'resident_bytes', label: 'resident', kind: 'bytes' },
      { key: 'peak_vram_bytes', label: 'peak GPU memory', kind: 'bytes' },
      { key: 'total_us', label: 'time', kind: 'us', bar: true },
      { key: 'low_us', label: 'from', kind: 'us' },
      { key: 'high_us', label: 'to', kind: 'us' },
      { key: 'verdict', label: 'verdict', kind: 'text' },
    ],
  }).el;
}

export function offloadCharts(o: Offload): HTMLElement {
  const all = [...o.series.flatMap(x => x.points), ...o.marks, ...(o.now ? [o.now] : [])];
  const most = all.reduce((m, p) => Math.max(m, p.high_ms), 1);
  const chart: Child = plot({
    title: 'Time by weights kept on the GPU',
    note: `${o.steps} steps; shaded: from low to high`,
    x: {
      label: 'weights resident on the GPU',
      from: 0,
      to: o.model_bytes,
      log: false,
      text: bytes,
    },
    y: { label: 'time', from: 0, to: most * 1.05, log: false, text: ms },
    lines: o.series.map(line),
    dots: [...o.marks.map(m => dot(m, 7)), ...(o.now ? [dot(o.now, 6, 'now')] : [])],
  });
  return h('div', { class: 'plots' }, chart, table(o));
}
