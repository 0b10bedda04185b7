// roofline.ts: kernels under the roof of their GPU: how much they compute for each byte they move
// against how fast they compute. The roof is memory bandwidth on the slope, arithmetic on the flat.

import { h } from '../base/dom';
import { pct, us } from '../base/format';
import { explain } from '../base/glossary';
import type { Row } from '../data/head';
import { Table } from '../tables/table';
import { type Dot, type Line, plot } from './plot';

interface Point {
  name: string;
  ai_flop_per_byte: number | null;
  gflops: number | null;
  time_us: number | null;
  share_pct: number | null;
  verdict: string | null;
  precision: string | null;
}

export interface Dive extends Row {
  kernels: Row[];
  trouble?: string | null;
  remedy?: string | null;
  roofline: {
    gpu: string | null;
    memory_gb_per_s: number | null;
    compute: { precision: string; tflop_per_s: number }[];
    points: Point[];
  };
}

const flops = (gflops: number): string =>
  gflops >= 1000 ? `${gflops / 1000} TFLOP/s` : `${gflops} GFLOP/s`;

/** The roof of one precision: up the slope of the memory, then flat. */
function roof(memory: number, peak: number, from: number, to: number): [number, number][] {
  const ridge = Math.min(Math.max(peak / memory, from), to);
  return [
    [from, Math.min(peak, from * memory)],
    [ridge, Math.min(peak, ridge * memory)],
    [to, Math.min(peak, to * memory)],
  ];
}

function dotOf(p: Point): Dot {
  const words = [
    p.name.slice(0, 120),
    `${p.ai_flop_per_byte} FLOP/byte`,
    flops(Math.round(p.gflops!)),
    p.time_us ? us(p.time_us) : '',
    p.share_pct ? pct(p.share_pct) + ' of the time' : '',
    p.verdict ?? '',
  ];
  const radius = 4 + Math.sqrt(Math.max(0, p.share_pct ?? 0));
  return {
    x: p.ai_flop_per_byte!,
    y: p.gflops!,
    hue: p.verdict === 'memory' ? 1 : p.verdict === 'compute' ? 0 : 3,
    radius,
    tip: words.filter(Boolean).join(' · '),
    label: p.name.slice(0, 24),
  };
}

function table(kernels: Row[]): HTMLElement {
  return new Table({
    id: 'dive',
    title: 'Kernels measured',
    sort: 'share_pct',
    rows: kernels,
    empty: 'No kernel was measured.',
    columns: [
      { key: 'short_name', label: 'kernel', kind: 'text' },
      { key: 'share_pct', label: 'share', kind: 'pct', bar: true },
      { key: 'time_us', label: 'time', kind: 'us' },
      { key: 'limiter', label: 'limited by', kind: 'text' },
      { key: 'factor', label: 'because of', kind: 'text' },
      { key: 'confidence', label: 'confidence', kind: 'text' },
      { key: 'compute_pct', label: 'of peak compute', kind: 'pct' },
      { key: 'memory_pct', label: 'of peak memory', kind: 'pct' },
      { key: 'roof_pct', label: 'of its roof', kind: 'pct', word: 'roofline' },
      { key: 'occupancy_pct', label: 'occupancy', kind: 'pct' },
      { key: 'advice', label: 'what to do', kind: 'text' },
    ],
  }).el;
}

export function rooflineCharts(d: Dive): HTMLElement {
  const { roofline } = d;
  const placed = roofline.points.filter(p => p.ai_flop_per_byte && p.gflops);
  const memory = roofline.memory_gb_per_s ?? 0;
  const peaks = roofline.compute.map(c => c.tflop_per_s * 1000);
  const intensities = placed.map(p => p.ai_flop_per_byte!);
  const from = Math.min(0.1, ...intensities) / 2;
  const to = Math.max(1000, ...intensities) * 2;
  const top = Math.max(1, ...peaks, ...placed.map(p => p.gflops!)) * 2;
  const lines = roofline.compute.map((c, i): Line => ({
    name: c.precision,
    hue: (i + 4) % 8,
    points: roof(memory, c.tflop_per_s * 1000, from, to),
    dashed: i > 0,
  }));
  const least = Math.min(top / 1e4, ...placed.map(p => p.gflops! / 2));
  const chart = plot({
    title: 'Roofline',
    note: [roofline.gpu, memory ? `${memory} GB/s` : ''].filter(Boolean).join(', '),
    x: { label: 'FLOP for each byte moved', from, to, log: true, text: String },
    y: { label: 'speed', from: least, to: top, log: true, text: flops },
    lines: memory ? lines : [],
    dots: placed.map(dotOf),
  });
  const trouble = d.trouble
    ? h('p', { class: 'dim' }, ...explain(d.trouble + (d.remedy ? ' ' + d.remedy : '')))
    : null;
  return h('div', { class: 'plots' }, trouble, chart, table(d.kernels));
}
