// ranks_chart.ts: a row per rank on one clock: compute above, communication below, split into waiting for
// others and transfer; late arrivals are marked, and a line goes along the critical path. The wheel zooms,
// dragging pans.

import { h, replace, s, type Child } from '../base/dom';
import { clean, count, moment, ns, us } from '../base/format';
import { hideTip, showTip } from '../base/tooltip';
import type { Chart, Collective, Member, RankRow } from './doc';

const LEFT = 76;
const RIGHT = 12;
const TOP = 34;
const LEAST_NS = 1000;
/** Nearer to the right edge there is no room for a time. */
const TICK_ROOM = 60;
/** Arrivals closer to each other than this many pixels are one mark. */
const MARK = 5;

interface Part {
  collective: Collective;
  member: Member;
}

/** Boxes as one path: thousands of them stay one element. */
function boxes(list: [number, number][], y: number, height: number): string {
  return list
    .map(([x, w]) => `M${x.toFixed(1)},${y}h${Math.max(w, 0.4).toFixed(1)}v${height}h${-Math.max(w, 0.4).toFixed(1)}z`)
    .join('');
}

/** Thin diagonal lines, as on timelines: the device is idle. */
function hatching(): Node {
  const size = { width: 6, height: 6, patternUnits: 'userSpaceOnUse' };
  const turned = { id: 'idle', patternTransform: 'rotate(45)', ...size };
  return s(
    'defs',
    null,
    s('pattern', turned, s('path', { class: 'ranks-hatch', d: 'M0,0V6' })),
  );
}

export class RanksChart {
  readonly el: HTMLElement;
  private readonly svg = s('svg', { role: 'img', tabindex: 0 });
  private readonly parts = new Map<number, Part[]>();
  private readonly rowHeight: number;
  private view: [number, number];
  private width = 1000;

  constructor(private readonly chart: Chart) {
    this.view = [0, Math.max(chart.length_ns, 1)];
    this.rowHeight = chart.rows.length > 24 ? 16 : chart.rows.length > 10 ? 30 : 40;
    for (const collective of chart.collectives)
      for (const member of collective.arrivals) {
        const list = this.parts.get(member[0]) ?? [];
        list.push({ collective, member });
        this.parts.set(member[0], list);
      }
    this.svg.setAttribute('aria-label', this.words());
    this.el = h('figure', { class: 'ranks-chart' }, h('figcaption', null, h('b', null, this.words()), this.key()), this.svg);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.el);
  }

  words(): string {
    const { steps, first_step, of_steps, rows } = this.chart;
    const ranks = `${count(rows.length)} ranks on one clock`;
    if (!steps.length) return ranks;
    const last = first_step + steps.length;
    const which = steps.length > 1 ? `steps ${first_step + 1} to ${last}` : `step ${last}`;
    return `${ranks}: ${which} of ${count(of_steps)}`;
  }

  /** Shows a part of the time, in nanoseconds since the begin of the chart. */
  show(from: number, to: number): void {
    const most = this.chart.length_ns;
    const length = Math.min(Math.max(to - from, LEAST_NS), most);
    const begin = Math.min(Math.max(from, 0), most - length);
    this.view = [begin, begin + length];
    this.draw();
  }

  showAll(): void {
    this.show(0, this.chart.length_ns);
  }

  private key(): HTMLElement {
    const item = (name: string, words: string): HTMLElement =>
      h('li', null, h('i', { class: `swatch ranks-${name}` }), words);
    return h(
      'ul',
      { class: 'ranks-key' },
      item('compute', 'compute'),
      item('transfer', 'transfer'),
      item('wait', 'waits for other ranks'),
      h('li', null, h('i', { class: 'swatch hatched' }), 'idle'),
      item('late', 'comes late'),
      item('path', 'critical path'),
    );
  }

  private x(t: number): number {
    const [a, b] = this.view;
    return LEFT + ((t - a) / (b - a)) * (this.width - LEFT - RIGHT);
  }

  private t(x: number): number {
    const [a, b] = this.view;
    return a + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (b - a);
  }

  private y(row: number): number {
    return TOP + row * this.rowHeight;
  }

  private rowOf(rank: number): number {
    return this.chart.rows.findIndex(r => r.rank === rank);
  }

  /** The visible part of a span, as x and width. */
  private clip(begin: number, end: number): [number, number] | null {
    const [a, b] = this.view;
    if (end <= begin || end <= a || begin >= b) return null;
    const x = this.x(Math.max(begin, a));
    return [x, this.x(Math.min(end, b)) - x];
  }

  private rowParts(row: RankRow, i: number): Node {
    const y = this.y(i) + 2;
    const high = this.rowHeight - 4;
    const upper = Math.round(high * 0.58);
    const compute: [number, number][] = [];
    const wait: [number, number][] = [];
    const transfer: [number, number][] = [];
    const add = (list: [number, number][], begin: number, end: number): void => {
      const box = this.clip(begin, end);
      if (box) list.push(box);
    };
    for (let k = 0; k + 1 < row.compute.length; k += 2)
      add(compute, row.compute[k], row.compute[k] + row.compute[k + 1]);
    for (const { member } of this.parts.get(row.rank) ?? []) {
      const [, begin, waits, end] = member;
      add(wait, begin, Math.min(begin + waits, end));
      add(transfer, Math.min(begin + waits, end), end);
    }
    return s(
      'g',
      { 'data-rank': row.rank },
      s('text', { class: 'ranks-label', x: LEFT - 8, y: y + high / 2 + 4, 'text-anchor': 'end' }, `rank ${row.rank}`),
      s('rect', {
        class: 'ranks-idle',
        fill: 'url(#idle)',
        x: LEFT,
        y,
        width: this.width - LEFT - RIGHT,
        height: high,
      }),
      s('path', { class: 'ranks-compute', d: boxes(compute, y, upper) }),
      s('path', { class: 'ranks-wait', d: boxes(wait, y + upper, high - upper) }),
      s('path', { class: 'ranks-transfer', d: boxes(transfer, y + upper, high - upper) }),
    );
  }

  /** A mark where a rank comes that is late by its own doing. */
  private late(): Node[] {
    const out: Node[] = [];
    let before = -Infinity;
    for (const c of this.chart.collectives) {
      const last = c.arrivals.find(m => m[0] === c.late_rank);
      if (!last) continue;
      const box = this.clip(last[1], last[3]);
      const row = this.rowOf(last[0]);
      if (!box || row < 0 || last[1] < this.view[0] || box[0] - before < MARK) continue;
      before = box[0];
      const y = this.y(row);
      out.push(
        s('path', {
          class: 'ranks-late',
          'data-seq': c.seq,
          d: `M${box[0].toFixed(1)},${y + 1}v${this.rowHeight - 2}m-4,${2 - this.rowHeight}h8l-4,6z`,
        }),
      );
    }
    return out;
  }

  /** Along the own time of the rank that came last, through the transfer, to the next one's row. */
  private path(): Node | null {
    const points: string[] = [];
    let pen = false;
    for (const hop of this.chart.path) {
      const row = this.rowOf(hop.rank);
      const end = hop.start_ns + (hop.own_us + hop.transfer_us) * 1000;
      const box = this.clip(hop.start_ns, end);
      if (row < 0 || !box) {
        pen = false;
        continue;
      }
      const y = this.y(row) + this.rowHeight / 2;
      points.push(`${pen ? 'L' : 'M'}${box[0].toFixed(1)},${y}H${(box[0] + box[1]).toFixed(1)}`);
      pen = true;
    }
    return points.length ? s('path', { class: 'ranks-path', d: points.join('') }) : null;
  }

  private ruler(): Node[] {
    const [a, b] = this.view;
    const raw = (b - a) / Math.max(this.width / 130, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
    const high = this.y(this.chart.rows.length);
    const out: Node[] = [];
    const zero = this.chart.begin_ns;
    for (let at = Math.ceil((a + zero) / step) * step; at - zero <= b; at += step) {
      const x = this.x(at - zero);
      out.push(s('line', { class: 'ranks-tick', x1: x, x2: x, y1: 16, y2: high }));
      if (x < this.width - TICK_ROOM)
        out.push(s('text', { class: 'ranks-time', x: x + 3, y: 12 }, moment(at, b - a)));
    }
    this.chart.steps.forEach((t, i) => {
      if (t < a || t > b) return;
      out.push(
        s('line', { class: 'ranks-step', x1: this.x(t), x2: this.x(t), y1: 16, y2: high }),
        s('text', { class: 'ranks-step-label', x: this.x(t) + 3, y: 28 }, `step ${this.chart.first_step + i + 1}`),
      );
    });
    return out;
  }

  private draw(): void {
    this.width = Math.max(this.el.clientWidth - 32, 320);
    const high = this.y(this.chart.rows.length) + 6;
    this.svg.setAttribute('width', String(this.width));
    this.svg.setAttribute('height', String(high));
    this.svg.setAttribute('data-view', this.view.map(Math.round).join(','));
    replace(
      this.svg,
      hatching(),
      ...this.chart.rows.map((row, i) => this.rowParts(row, i)),
      ...this.ruler(),
      this.path(),
      ...this.late(),
    );
  }

  /** What is under the pointer, in words. */
  private tip(x: number, y: number): Child[] {
    const row = this.chart.rows[Math.floor((y - TOP) / this.rowHeight)];
    if (!row || x < LEFT) return [];
    const t = this.t(x);
    const lower = (y - TOP) % this.rowHeight > this.rowHeight * 0.58;
    const part = (this.parts.get(row.rank) ?? []).find(p => t >= p.member[1] && t < p.member[3]);
    const who = `rank ${row.rank}${row.host ? `, ${clean(row.host)}` : ''}`;
    if (part && (lower || !this.computes(row, t))) return this.tipOf(part, who);
    const doing = this.computes(row, t) ? 'computes' : 'is idle';
    return [h('b', null, `${who} ${doing}`), h('div', { class: 'tip-dim' }, moment(t + this.chart.begin_ns, this.view[1] - this.view[0]))];
  }

  private tipOf({ collective: c, member }: Part, who: string): Child[] {
    const [rank, , waits] = member;
    const group = c.group ? `, ${clean(c.group)}` : '';
    const last = rank === c.last_rank ? 'comes last' : `waits ${ns(waits)} for rank ${c.last_rank}`;
    return [
      h('b', null, `${clean(c.name)}${group}, number ${c.seq}`),
      h('div', null, `${who} ${last}`),
      h('div', { class: 'tip-dim' }, `${count(c.members)} ranks, ${us(c.spread_us)} apart; transfer ${us(c.transfer_us)}`),
    ];
  }

  private computes(row: RankRow, t: number): boolean {
    for (let k = 0; k + 1 < row.compute.length; k += 2)
      if (t >= row.compute[k] && t < row.compute[k] + row.compute[k + 1]) return true;
    return false;
  }

  private zoom(at: number, factor: number): void {
    const [a, b] = this.view;
    this.show(at - (at - a) * factor, at + (b - at) * factor);
  }

  private listen(): void {
    let drag: { x: number; view: [number, number] } | null = null;
    this.svg.addEventListener('wheel', e => {
      e.preventDefault();
      this.zoom(this.t(e.offsetX), e.deltaY > 0 ? 1.25 : 0.8);
    });
    this.svg.addEventListener('pointerdown', e => {
      drag = { x: e.offsetX, view: this.view };
      this.svg.setPointerCapture(e.pointerId);
    });
    this.svg.addEventListener('pointerup', () => (drag = null));
    this.svg.addEventListener('pointermove', e => {
      const box = this.svg.getBoundingClientRect();
      const [x, y] = [e.clientX - box.left, e.clientY - box.top];
      if (drag) {
        const [a, b] = drag.view;
        const by = ((x - drag.x) / (this.width - LEFT - RIGHT)) * (b - a);
        this.show(a - by, b - by);
      }
      const tip = drag ? [] : this.tip(x, y);
      if (tip.length) showTip(e.clientX, e.clientY, ...tip);
      else hideTip();
    });
    this.svg.addEventListener('pointerleave', hideTip);
    this.svg.addEventListener('dblclick', () => this.showAll());
    this.svg.addEventListener('keydown', e => this.press(e));
  }

  private press(e: KeyboardEvent): void {
    const [a, b] = this.view;
    const by = (b - a) / 5;
    if (e.key === 'w' || e.key === '+') this.zoom((a + b) / 2, 0.7);
    else if (e.key === 's' || e.key === '-') this.zoom((a + b) / 2, 1.4);
    else if (e.key === 'a' || e.key === 'ArrowLeft') this.show(a - by, b - by);
    else if (e.key === 'd' || e.key === 'ArrowRight') this.show(a + by, b + by);
    else if (e.key === '0') this.showAll();
    else return;
    e.preventDefault();
  }
}
