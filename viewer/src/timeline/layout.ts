// layout.ts: what stands where, from top to bottom: per device its curves and streams, then threads.
// A strip is one such block; y counts from the top of all of them, before scrolling.

import type { DataSet, Track } from '../data/dataset';
import type { Counter } from '../data/levels';
import type { Rows } from '../data/rows';

export type Strip = { y: number; height: number; label: string; group: string; key: string } & (
  | { kind: 'counter'; counter: Counter }
  | { kind: 'track'; track: Track; rows: Rows; rowHeight: number; folded: boolean }
);

export interface Layout {
  strips: Strip[];
  height: number;
}

const COUNTER_HEIGHT = 36;
const STREAM_ROW = 20;
const THREAD_ROW = 16;
const FOLDED_HEIGHT = 18;
const GAP = 7;

/** Device first: short, and what the rest is there for. Threads by how much they launch. */
function order(set: DataSet): (Track | Counter)[] {
  const device = (t: Track): boolean => t.info.kind === 'stream' || t.info.kind === 'gpu_note';
  const threads = set.tracks.filter(t => !device(t));
  return [
    ...set.counters,
    ...set.tracks.filter(device),
    ...threads.filter(t => t.info.main),
    ...threads.filter(t => !t.info.main),
  ];
}

export function makeLayout(set: DataSet, python: boolean, folded: Set<string>): Layout {
  const strips: Strip[] = [];
  let y = GAP;
  for (const item of order(set)) {
    const at = { y, label: item.info.label };
    if ('track' in item || 'rows' in item) {
      const track = item as Track,
        rows = python ? track.rows : track.rowsNoPython;
      if (!track.info.n) continue;
      const key = 'track ' + track.index,
        isFolded = folded.has(key);
      const rowHeight = track.info.kind === 'stream' ? STREAM_ROW : THREAD_ROW;
      const height = isFolded ? FOLDED_HEIGHT : Math.max(1, rows.n) * rowHeight;
      strips.push({
        ...at,
        kind: 'track',
        track,
        rows,
        rowHeight,
        folded: isFolded,
        height,
        key,
        group: track.info.group,
      });
    } else {
      const counter = item as Counter;
      strips.push({
        ...at,
        kind: 'counter',
        counter,
        height: COUNTER_HEIGHT,
        key: 'counter ' + counter.info.label,
        group: counter.info.device === null ? '' : `GPU ${counter.info.device}`,
      });
    }
    y += strips[strips.length - 1].height + GAP;
  }
  return { strips, height: y };
}

export function stripAt(layout: Layout, y: number): Strip | null {
  return layout.strips.find(s => y >= s.y && y < s.y + s.height) ?? null;
}

/** Top and height of a span's box; null when it is not drawn. */
export function placeOf(
  layout: Layout,
  set: DataSet,
  span: number,
): { y: number; height: number } | null {
  const track = set.trackOf(span);
  const strip = layout.strips.find(s => s.kind === 'track' && s.track === track);
  if (!strip || strip.kind !== 'track') return null;
  if (strip.folded) return { y: strip.y, height: strip.height };
  const row = strip.rows.row[span - track.info.first];
  if (row === 255) return null;
  return { y: strip.y + row * strip.rowHeight, height: strip.rowHeight };
}
