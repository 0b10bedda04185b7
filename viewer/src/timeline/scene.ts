// scene.ts: one trace being examined: what is on screen, what is selected, what is lit. Every
// part of the page reads and changes a scene; none of them knows the others.

import { Signal } from '../base/signal';
import { classNumber } from '../data/classes';
import type { DataSet } from '../data/dataset';
import { View, type Range } from './view';

/** What a story shows: spans to light, arrows between them, a stretch with a name. */
export interface Light {
  spans: number[];
  arrows: { from: number; to: number }[];
  frames: number[];
  /** Stretches to shade: where the CPU waits, or where the device is idle. */
  mark: { kind: 'blocked' | 'exposed'; ranges: Range[] } | null;
}

export interface Hits {
  text: string;
  spans: Uint32Array;
  at: number;
}

/** Rows of a thread, in pixels, and the part of the window that stacks may take. */
const ROW_PX = 16;
const MOST_OF_WINDOW = 0.45;

/** Whether the stacks are so deep that calls and waits are better seen without them. */
function pythonHides(set: DataSet): boolean {
  const most = (innerHeight * MOST_OF_WINDOW) / ROW_PX;
  return set.tracks.some(
    t => t.rows.n > most && t.rowsNoPython.n >= 2 && t.rowsNoPython.n * 2 < t.rows.n,
  );
}

export class Scene {
  readonly view: View;
  readonly selected = new Signal<number>(-1);
  readonly range = new Signal<Range | null>(null);
  readonly light = new Signal<Light | null>(null);
  readonly hits = new Signal<Hits | null>(null);
  readonly python: Signal<boolean>;
  /** Which of the palette's tones is painted: 0 from afar. */
  readonly tone = new Signal<number>(0);
  /** A span to bring on screen vertically as well. */
  readonly reveal = new Signal<number>(-1);

  constructor(readonly set: DataSet) {
    const { t0_ns, t1_ns } = set.page.window;
    const air = Math.max((t1_ns - t0_ns) * 0.01, 1000);
    this.view = new View({ start: t0_ns - air, end: t1_ns + air });
    this.python = new Signal<boolean>(!pythonHides(set));
  }

  /** Selects a span and moves to it: closer only if it would be too small to see. */
  goTo(span: number): void {
    const { look } = this.set;
    if (look[span] === classNumber.python && !this.python.value) this.python.set(true);
    this.selected.set(span);
    this.reveal.set(span);
    const { view, set } = this;
    const { start, end } = view.target;
    const from = set.start[span];
    const to = set.end(span);
    const dur = Math.max(to - from, 200);
    const seen = from >= start && to <= end && dur > (end - start) / 400;
    if (!seen) view.show({ start: from - dur * 2, end: to + dur * 2 });
  }

  zoomToSelection(): void {
    const i = this.selected.value;
    const range = this.range.value;
    if (range) this.view.show(range, 0.05);
    else if (i >= 0) this.view.show({ start: this.set.start[i], end: this.set.end(i) }, 0.25);
  }

  /** The span before or after the selected one on its track and row. */
  step(by: 1 | -1): void {
    const { set } = this;
    const i = this.selected.value;
    if (i < 0) return;
    const { info } = set.trackOf(i);
    for (let k = i + by; k >= info.first && k < info.first + info.n; k += by)
      if (
        set.depth[k] === set.depth[i] &&
        (this.python.value ||
          set.look[k] === set.look[i] ||
          set.page.kinds[set.kind[k]] !== 'python_function')
      )
        return this.goTo(k);
  }

  clear(): void {
    this.light.set(null);
    this.range.set(null);
    this.hits.set(null);
    this.selected.set(-1);
  }
}
