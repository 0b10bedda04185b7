// layout.ts: what stands where, from top to bottom: the device's curves and streams, then threads,
// so that a launch and its kernel are on screen together. A strip is one such block; y counts from
// the top of all of them, before scrolling.

import type { DataSet, Track } from '../data/dataset';
import type { Counter } from '../data/levels';
import { HIDDEN, type Rows } from '../data/rows';

interface Place {
  y: number;
  height: number;
  label: string;
  group: string;
  key: string;
  /** Stays under the ruler when the rest scrolls; its y counts from there. */
  pinned: boolean;
}

export interface CounterStrip extends Place {
  kind: 'counter';
  counter: Counter;
  /** Drawn behind it, on the same scale: memory reserved behind memory in use, all communication
   * behind what of it is exposed. */
  ceiling: Counter | null;
}

export interface TrackStrip extends Place {
  kind: 'track';
  track: Track;
  rows: Rows;
  rowHeight: number;
  folded: boolean;
}

export type Strip = CounterStrip | TrackStrip;

export interface Layout {
  strips: Strip[];
  /** Height of what is pinned, and of what scrolls under it. */
  pinned: number;
  height: number;
}

const COUNTER_HEIGHT = 30;
const STREAM_ROW = 22;
const THREAD_ROW = 16;
const GAP = 6;
/** The busiest streams stay in sight: what the device does is what everything else is about. */
const PINNED_STREAMS = 3;
const PINNED_ROWS = 2;

function counterStrips(set: DataSet, onDevice: boolean): Strip[] {
  const out: Strip[] = [];
  for (const counter of set.counters) {
    const { info } = counter;
    if ((info.device !== null) !== onDevice || !(info.max > 0)) continue;
    const group = info.device === null ? 'CPU' : `GPU ${info.device}`;
    const before = out[out.length - 1];
    if ((info.id === 'reserved' || info.id === 'comm') && before?.kind === 'counter' && before.group === group) {
      before.ceiling = counter;
      if (info.id === 'comm') before.label = 'communication';
      continue;
    }
    const label = info.label.startsWith(group) ? info.label.slice(group.length + 1) : info.label;
    const key = 'counter ' + info.label;
    const height = COUNTER_HEIGHT;
    out.push({
      kind: 'counter',
      counter,
      ceiling: null,
      y: 0,
      height,
      label,
      group,
      key,
      pinned: false,
    });
  }
  return out;
}

interface Options {
  python: boolean;
  folded: Set<string>;
}

function trackStrip(track: Track, { python, folded }: Options, pinned: boolean): Strip {
  const { info } = track;
  const rows = python ? track.rows : track.rowsNoPython;
  const key = 'track ' + track.index;
  const rowHeight = info.kind === 'stream' ? STREAM_ROW : THREAD_ROW;
  const isFolded = folded.has(key);
  const height = (isFolded ? 1 : Math.max(1, rows.n)) * rowHeight;
  const place = { y: 0, height, label: info.label, group: info.group, key, pinned };
  return { ...place, kind: 'track', track, rows, rowHeight, folded: isFolded };
}

/** Annotations as the device saw them stand over its streams, threads that launch most come
 * first. */
function trackOrder(track: Track): number {
  const { kind, main } = track.info;
  if (kind === 'gpu_note') return 0;
  if (kind === 'stream') return 1;
  return kind === 'thread' ? (main ? 2 : 3) : 4;
}

function pinnedTracks(set: DataSet): Set<Track> {
  const streams = set.tracks.filter(t => t.info.kind === 'stream' && t.rows.n <= PINNED_ROWS);
  streams.sort((a, b) => b.info.n - a.info.n);
  return new Set(streams.slice(0, PINNED_STREAMS));
}

/** Puts strips under each other; how high they are together. */
function stack(strips: Strip[]): number {
  let y = GAP;
  for (const strip of strips) {
    strip.y = y;
    y += strip.height + GAP;
  }
  return strips.length ? y : 0;
}

export function makeLayout(set: DataSet, options: Options): Layout {
  const pinned = pinnedTracks(set);
  const tracks = set.tracks.filter(t => t.info.n > 0);
  tracks.sort((a, b) => trackOrder(a) - trackOrder(b) || a.index - b.index);
  const strips = [
    ...counterStrips(set, true),
    ...tracks.map(t => trackStrip(t, options, pinned.has(t))),
    ...counterStrips(set, false),
  ];
  return {
    strips,
    pinned: stack(strips.filter(s => s.pinned)),
    height: stack(strips.filter(s => !s.pinned)),
  };
}

/** Row of a track that a span is drawn on, with its strip; null when it is not drawn. */
export function placeOf(layout: Layout, set: DataSet, span: number): [TrackStrip, number] | null {
  const track = set.trackOf(span);
  for (const strip of layout.strips) {
    if (strip.kind !== 'track' || strip.track !== track) continue;
    const row = strip.folded ? 0 : strip.rows.row[span - track.info.first];
    return row === HIDDEN ? null : [strip, row];
  }
  return null;
}
