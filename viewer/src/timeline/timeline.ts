// timeline.ts: the timeline of one scene: two canvases (spans below, what changes with the pointer
// above), the names of the tracks, and the input that moves them. Paints at most once a frame.

import { h } from '../base/dom';
import { ns, moment } from '../base/format';
import { theme } from '../base/theme';
import { hideTip, showTip } from '../base/tooltip';
import { kindWords } from '../data/classes';
import { firstEndingAfter } from '../data/rows';
import { headHeight, paintHead, paintStepLines } from './bands';
import { counterText, paintCurve } from './curves';
import { FONT, type Frame } from './frame';
import { Gutter } from './gutter';
import { listen } from './input';
import { type Layout, makeLayout, placeOf, stripAt } from './layout';
import { paintOverlay, type Pointer } from './overlay';
import { type Palette, readPalette } from './palette';
import type { Scene } from './scene';
import { paintLevel, paintSpans } from './spans';

const NEAR_PX = 3;

export class Timeline {
  readonly el: HTMLElement;
  readonly canvas = h('canvas', { class: 'spans' });
  readonly over = h('canvas', {
    class: 'over',
    tabindex: 0,
    role: 'application',
    'aria-label':
      'Timeline. W and S zoom, A and D pan, comma and full stop step through a track, slash searches, question mark lists all keys.',
  });
  private readonly gutter: Gutter;
  private readonly body: HTMLElement;
  private readonly bar = h('div', { class: 'scroll-thumb' });
  private readonly folded = new Set<string>();
  private layout: Layout;
  private palette: Palette;
  private scrollY = 0;
  private pointer: Pointer | null = null;
  private spansStale = true;
  private frame = 0;
  /** Times of the last paints in ms: what the bench reads. */
  paintMs: number[] = [];

  constructor(readonly scene: Scene) {
    this.palette = readPalette();
    this.layout = makeLayout(scene.set, scene.python.value, this.folded);
    this.gutter = new Gutter(key => this.fold(key));
    this.body = h('div', { class: 'tracks' }, this.canvas, this.over, this.bar);
    this.el = h('div', { class: 'timeline' }, this.gutter.el, this.body);
    this.el.style.setProperty('--head', headHeight(scene) + 'px');
    this.gutter.show(this.layout);
    new ResizeObserver(() => this.resize()).observe(this.body);
    scene.view.changed.on(() => this.redraw(true));
    for (const signal of [scene.selected, scene.range, scene.light, scene.hits])
      (signal as { on(f: () => void): void }).on(() => this.redraw(false));
    scene.python.on(() => this.relayout());
    scene.reveal.on(span => {
      if (span >= 0) this.scrollToSpan(span);
    });
    theme.on(() => {
      this.palette = readPalette();
      this.redraw(true);
    });
    listen(this);
  }

  get width(): number {
    return this.body.clientWidth;
  }
  get height(): number {
    return this.body.clientHeight;
  }
  get head(): number {
    return headHeight(this.scene);
  }

  time(x: number): number {
    return this.scene.view.start + (x / this.width) * this.scene.view.span;
  }

  private fold(key: string): void {
    if (!this.folded.delete(key)) this.folded.add(key);
    this.relayout();
  }

  private relayout(): void {
    this.layout = makeLayout(this.scene.set, this.scene.python.value, this.folded);
    this.gutter.show(this.layout);
    this.scrollTo(this.scrollY);
  }

  scrollTo(y: number): void {
    const room = Math.max(0, this.layout.height - (this.height - this.head));
    this.scrollY = Math.min(Math.max(0, y), room);
    this.gutter.scroll(this.scrollY);
    const shown = (this.height - this.head) / this.layout.height;
    this.bar.hidden = shown >= 1;
    this.bar.style.top = this.head + this.scrollY * shown + 'px';
    this.bar.style.height = (this.height - this.head) * shown + 'px';
    this.redraw(true);
  }

  scrollBy(dy: number): void {
    this.scrollTo(this.scrollY + dy);
  }

  private scrollToSpan(span: number): void {
    const place = placeOf(this.layout, this.scene.set, span);
    if (!place) return;
    const room = this.height - this.head;
    const hidden = place.y < this.scrollY + 10 || place.y + place.height > this.scrollY + room - 10;
    if (hidden) this.scrollTo(place.y - room / 2);
  }

  private resize(): void {
    for (const canvas of [this.canvas, this.over]) {
      canvas.width = Math.round(this.width * devicePixelRatio);
      canvas.height = Math.round(this.height * devicePixelRatio);
    }
    this.scrollTo(this.scrollY);
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
    const { width, height } = this,
      { view, set } = this.scene;
    return {
      ctx,
      set,
      palette: this.palette,
      width,
      height,
      start: view.start,
      scale: width / view.span,
    };
  }

  private paint(): void {
    this.frame = 0;
    if (!this.width || !this.height) return;
    const begun = performance.now();
    if (this.spansStale) this.paintSpans(this.frameOn(this.canvas));
    this.spansStale = false;
    const f = this.frameOn(this.over);
    f.ctx.clearRect(0, 0, f.width, f.height);
    paintOverlay(f, this.layout, this.scrollY, this.scene, this.pointer);
    this.paintMs.push(performance.now() - begun);
    if (this.paintMs.length > 2000) this.paintMs.splice(0, 1000);
  }

  private paintSpans(f: Frame): void {
    f.ctx.fillStyle = this.palette.background;
    f.ctx.fillRect(0, 0, f.width, f.height);
    paintStepLines(f);
    for (const strip of this.layout.strips) {
      const y = strip.y - this.scrollY + this.head;
      if (y + strip.height < this.head || y > f.height) continue;
      if (strip.kind === 'counter') paintCurve(f, strip.counter, y, strip.height);
      else this.paintTrack(f, strip, y);
    }
    paintHead(f);
  }

  private paintTrack(
    f: Frame,
    strip: Extract<Layout['strips'][number], { kind: 'track' }>,
    y: number,
  ): void {
    const { rows, track } = strip,
      own = rows === track.rows;
    const complete = this.scene.set.page.detail.complete;
    const shown = strip.folded ? Math.min(rows.n, 1) : rows.n;
    for (let row = 0; row < shown; row++) {
      const top = y + row * strip.rowHeight;
      if (top + strip.rowHeight < this.head || top > f.height) continue;
      const height = (strip.folded ? strip.height : strip.rowHeight) - 1;
      const level = own ? track.levels.pick(row, 1.2 / f.scale) : null;
      if (level) paintLevel(f, level, top, height);
      else {
        const rough = own && !complete ? track.levels.finest(row) : null;
        if (rough) paintLevel(f, rough, top, height);
        paintSpans(f, rows, row, top, height);
      }
    }
  }

  /** The span under a point, or -1. */
  spanAt(x: number, y: number): number {
    const strip = y < this.head ? null : stripAt(this.layout, y - this.head + this.scrollY);
    if (strip?.kind !== 'track') return -1;
    const row = strip.folded
      ? 0
      : Math.floor((y - this.head + this.scrollY - strip.y) / strip.rowHeight);
    if (row >= strip.rows.n) return -1;
    const { set } = this.scene,
      { order, at } = strip.rows,
      slop = (NEAR_PX / this.width) * this.scene.view.span;
    const t = this.time(x),
      p = firstEndingAfter(set, order, at[row], at[row + 1], t - slop);
    if (p >= at[row + 1]) return -1;
    const hit = order[p],
      next = p + 1 < at[row + 1] ? order[p + 1] : -1;
    if (set.end(hit) < t && next >= 0 && set.start[next] <= t) return next;
    return set.start[hit] <= t + slop ? hit : -1;
  }

  hover(x: number, y: number, clientX: number, clientY: number): void {
    const span = this.spanAt(x, y);
    this.pointer = { x, y, span };
    this.redraw(false);
    const strip = stripAt(this.layout, y - this.head + this.scrollY);
    if (span >= 0) this.spanTip(span, clientX, clientY);
    else if (y > this.head && strip?.kind === 'counter')
      showTip(
        clientX,
        clientY,
        h('b', null, counterText(strip.counter, strip.counter.at(this.time(x)))),
        ' ' + strip.label,
        h('div', { class: 'tip-dim' }, 'at ' + moment(this.time(x), this.scene.view.span)),
      );
    else hideTip();
  }

  private spanTip(i: number, clientX: number, clientY: number): void {
    const { set } = this.scene,
      instant = !set.dur[i];
    showTip(
      clientX,
      clientY,
      h('b', null, set.names.brief(set.name[i]).slice(0, 300)),
      h(
        'div',
        { class: 'tip-dim' },
        [
          instant ? 'a moment' : ns(set.dur[i]),
          kindWords(set.page.kinds[set.kind[i]]),
          'at ' + moment(set.start[i], this.scene.view.span),
        ].join(' · '),
      ),
    );
  }

  /** The moment that stays in place when the keyboard zooms: under the pointer, else in the middle. */
  anchor(): number {
    return this.time(this.pointer ? this.pointer.x : this.width / 2);
  }

  leave(): void {
    this.pointer = null;
    hideTip();
    this.redraw(false);
  }

  /** The first whole span on screen of the topmost track that has one: where the keyboard starts. */
  firstVisible(): number {
    const { set, view } = this.scene;
    for (const strip of this.layout.strips) {
      if (strip.kind !== 'track' || strip.y + strip.height < this.scrollY) continue;
      for (let row = 0; row < strip.rows.n; row++) {
        const p = firstEndingAfter(
          set,
          strip.rows.order,
          strip.rows.at[row],
          strip.rows.at[row + 1],
          view.start,
        );
        const i = strip.rows.order[p];
        if (p < strip.rows.at[row + 1] && set.start[i] < view.end) return i;
      }
    }
    return -1;
  }
}
