// timeline.ts: the timeline of one scene: two canvases (spans below, what changes with the pointer
// above), the names of the tracks, and the input that moves them. Paints at most once per frame.

import { h } from '../base/dom';
import { moment, ns } from '../base/format';
import { theme } from '../base/theme';
import { hideTip, showTip } from '../base/tooltip';
import { kindWords } from '../data/classes';
import { firstEndingAfter } from '../data/rows';
import { headHeight } from './bands';
import { counterText } from './curves';
import { boxOf, FONT, type Frame, stripAt, yOf } from './frame';
import { Gutter } from './gutter';
import { Idle } from './idle';
import { listen } from './input';
import { type Layout, makeLayout, type TrackStrip } from './layout';
import { paintOverlay, type Pointer } from './overlay';
import { paintAll } from './paint';
import { type Palette, readPalette, toneAt } from './palette';
import type { Scene } from './scene';

/** A click this close to a span selects it. */
const NEAR_PX = 3;
const SAMPLE = 'aten::layer_norm_forward cudaLaunchKernel';

/** Fits A4 and Letter with any margin. */
const PAPER = { width: '700px', height: '440px' };

const KEYS =
  'Timeline. W and S zoom, A and D pan, comma and period step through a track, ' +
  'slash searches, question mark lists all keys.';

export class Timeline {
  readonly el: HTMLElement;
  readonly over: HTMLCanvasElement;
  /** Height of ruler and bands. */
  readonly head: number;
  private readonly canvas = h('canvas', { class: 'spans' });
  private readonly gutter: Gutter;
  private readonly body: HTMLElement;
  private readonly thumb = h('div', { class: 'scroll-thumb' });
  private readonly folded = new Set<string>();
  private readonly idle: Idle;
  private layout: Layout;
  private palette: Palette;
  private letter = 6;
  private scrollY = 0;
  private pointer: Pointer | null = null;
  private spansStale = true;
  private frame = 0;
  /** While printing, all is painted on one canvas: a transparent one on top would print white. */
  private onPaper = false;

  constructor(readonly scene: Scene) {
    this.over = h('canvas', {
      class: 'over',
      tabindex: 0,
      role: 'application',
      'aria-label': KEYS,
    });
    this.palette = readPalette();
    this.idle = new Idle(scene.set);
    this.head = headHeight(scene.set);
    this.layout = this.newLayout();
    this.gutter = new Gutter(this.head, key => this.fold(key));
    this.body = h('div', { class: 'tracks' }, this.canvas, this.over, this.thumb);
    this.el = h('div', { class: 'timeline' }, this.gutter.el, this.body);
    this.gutter.show(this.layout);
    new ResizeObserver(() => this.resize()).observe(this.body);
    this.follow();
    listen(this);
  }

  private follow(): void {
    const { scene } = this;
    const over = (): void => this.redraw(false);
    scene.view.changed.on(() => this.redraw(true));
    scene.selected.on(over);
    scene.range.on(over);
    scene.light.on(over);
    scene.hits.on(over);
    scene.python.on(() => this.relayout());
    scene.reveal.on(span => this.scrollToSpan(span));
    theme.on(() => {
      this.palette = readPalette();
      this.redraw(true);
    });
    addEventListener('beforeprint', () => this.fixSize(PAPER));
    addEventListener('afterprint', () => this.fixSize(null));
  }

  get width(): number {
    return this.body.clientWidth;
  }

  private get height(): number {
    return this.body.clientHeight;
  }

  /** Height of the part that scrolls. */
  private get room(): number {
    return this.height - this.head - this.layout.pinned;
  }

  time(x: number): number {
    return this.scene.view.start + (x / this.width) * this.scene.view.span;
  }

  private newLayout(): Layout {
    const room = this.body ? this.height - this.head : 0;
    return makeLayout(this.scene.set, {
      python: this.scene.python.value,
      folded: this.folded,
      room,
    });
  }

  private fold(key: string): void {
    if (!this.folded.delete(key)) this.folded.add(key);
    this.relayout();
  }

  private relayout(): void {
    this.layout = this.newLayout();
    this.gutter.show(this.layout);
    this.scrollTo(this.scrollY);
  }

  private scrollTo(y: number): void {
    const { layout, room } = this;
    this.scrollY = Math.min(Math.max(0, y), Math.max(0, layout.height - room));
    this.gutter.scroll(this.scrollY);
    const share = room / layout.height;
    this.thumb.hidden = share >= 1;
    this.thumb.style.top = this.head + layout.pinned + this.scrollY * share + 'px';
    this.thumb.style.height = Math.max(0, room * share) + 'px';
    this.redraw(true);
  }

  scrollBy(dy: number): void {
    this.scrollTo(this.scrollY + dy);
  }

  private scrollToSpan(span: number): void {
    const f = this.frameOn(this.over);
    const box = span >= 0 ? boxOf(f, span) : null;
    const top = this.head + this.layout.pinned;
    if (!box || (box.y < top && box.y >= this.head && this.isPinned(span))) return;
    if (box.y < top + 10 || box.y + box.height > this.height - 10)
      this.scrollTo(this.scrollY + box.y - top - this.room / 2);
  }

  private isPinned(span: number): boolean {
    const track = this.scene.set.trackOf(span);
    return this.layout.strips.some(s => s.pinned && s.kind === 'track' && s.track === track);
  }

  private resize(): void {
    for (const canvas of [this.canvas, this.over]) {
      canvas.width = Math.round(this.width * devicePixelRatio);
      canvas.height = Math.round(this.height * devicePixelRatio);
    }
    const ctx = this.over.getContext('2d')!;
    ctx.font = FONT;
    this.letter = ctx.measureText(SAMPLE).width / SAMPLE.length;
    this.relayout();
    this.paint();
  }

  /** Gives the timeline a size of its own, or restores that of its place on the page. */
  private fixSize(size: { width: string; height: string } | null): void {
    Object.assign(this.el.style, size ?? { width: '', height: '' });
    this.el.style.flex = size ? 'none' : '';
    this.onPaper = size !== null;
    this.resize();
  }

  redraw(spans: boolean): void {
    this.spansStale ||= spans;
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  private frameOn(canvas: HTMLCanvasElement): Frame {
    const ctx = canvas.getContext('2d')!;
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ctx.font = FONT;
    ctx.textBaseline = 'middle';
    const { width, height, head, layout, palette, idle, letter, scrollY: scroll } = this;
    const { view, set } = this.scene;
    const [start, scale] = [view.start, width / view.span];
    const tone = palette.tones[toneAt(set.meanKernel, scale)];
    const sizes = { width, height, head, scroll, start, scale, letter };
    return { ctx, set, palette, tone, layout, idle, ...sizes };
  }

  /** Immediately: a resized canvas is empty, and printing does not wait for the next frame. */
  private paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.width || !this.height) return;
    if (this.spansStale) paintAll(this.frameOn(this.canvas));
    this.spansStale = false;
    const { start, end, target, span } = this.scene.view;
    this.scene.tone.set(toneAt(this.scene.set.meanKernel, this.width / span));
    this.over.dataset.view = `${start},${end}`;
    this.over.dataset.goal = `${target.start},${target.end}`;
    const f = this.frameOn(this.onPaper ? this.canvas : this.over);
    if (!this.onPaper) f.ctx.clearRect(0, 0, f.width, f.height);
    paintOverlay(f, this.scene, this.pointer);
  }

  /** The span under a point, or -1. */
  spanAt(x: number, y: number): number {
    const f = this.frameOn(this.over);
    const strip = stripAt(f, y);
    if (strip?.kind !== 'track') return -1;
    const row = strip.folded ? 0 : Math.floor((y - yOf(f, strip)) / strip.rowHeight);
    if (row >= strip.rows.n) return -1;
    const { set, view } = this.scene;
    const { order, at } = strip.rows;
    const last = at[row + 1];
    const slop = (NEAR_PX / this.width) * view.span;
    const t = this.time(x);
    const p = firstEndingAfter(set, order, at[row], last, t - slop);
    if (p >= last) return -1;
    const next = p + 1 < last ? order[p + 1] : -1;
    if (set.end(order[p]) < t && next >= 0 && set.start[next] <= t) return next;
    return set.start[order[p]] <= t + slop ? order[p] : -1;
  }

  hover(x: number, y: number, clientX: number, clientY: number): void {
    const span = this.spanAt(x, y);
    this.pointer = { x, y, span };
    this.redraw(false);
    if (span >= 0) return this.spanTip(span, clientX, clientY);
    const strip = stripAt(this.frameOn(this.over), y);
    if (strip?.kind !== 'counter') return hideTip();
    const values = [strip.counter, ...(strip.ceiling ? [strip.ceiling] : [])].map(c =>
      h('div', null, h('b', null, counterText(c, c.at(this.time(x)))), ' ' + c.info.label),
    );
    const when = 'at ' + moment(this.time(x), this.scene.view.span);
    showTip(clientX, clientY, ...values, h('div', { class: 'tip-dim' }, when));
  }

  private spanTip(i: number, clientX: number, clientY: number): void {
    const { set, view } = this.scene;
    const facts = [
      set.dur[i] ? ns(set.dur[i]) : 'a moment',
      kindWords(set.page.kinds[set.kind[i]]),
      'at ' + moment(set.start[i], view.span),
    ];
    showTip(
      clientX,
      clientY,
      h('b', null, h('bdi', null, set.names.brief(set.name[i]).slice(0, 300))),
      h('div', { class: 'tip-dim' }, facts.join(' · ')),
    );
  }

  /** The moment that stays in place when the keyboard zooms: under the pointer, or the middle. */
  anchor(): number {
    return this.time(this.pointer ? this.pointer.x : this.width / 2);
  }

  leave(): void {
    this.pointer = null;
    hideTip();
    this.redraw(false);
  }

  /** The first span on screen of a stream, else of a thread: where the keyboard starts. */
  firstVisible(): number {
    for (const kind of ['stream', 'thread', 'other'])
      for (const strip of this.layout.strips) {
        const span =
          strip.kind === 'track' && strip.track.info.kind === kind ? this.firstOf(strip) : -1;
        if (span >= 0) return span;
      }
    return -1;
  }

  private firstOf({ rows }: TrackStrip): number {
    const { set, view } = this.scene;
    for (let row = 0; row < rows.n; row++) {
      const last = rows.at[row + 1];
      const p = firstEndingAfter(set, rows.order, rows.at[row], last, view.start);
      if (p < last && set.start[rows.order[p]] < view.end) return rows.order[p];
    }
    return -1;
  }
}
