// layout.ts: what stands where, from top to bottom: the device's load and streams, then threads,
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
const LOAD_HEIGHT = 24;
const STREAM_ROW = 24;
const THREAD_ROW = 16;
const GAP = 6;
/** The busiest streams stay in sight: what the device does is what everything else is about. */
const PINNED_STREAMS = 3;
const PINNED_ROWS = 2;

/** `devices`: those whose load stays in sight. */
function counterStrips(set: DataSet, devices: Set<number>, grown: number): CounterStrip[] {
  const out: CounterStrip[] = [];
  for (const counter of set.counters) {
    const { info } = counter;
    if (!(info.max > 0)) continue;
    const group = info.device === null ? 'CPU' : `GPU ${info.device}`;
    const before = out[out.length - 1];
    if ((info.id === 'reserved' || info.id === 'comm') && before?.group === group) {
      before.ceiling = counter;
      if (info.id === 'comm') before.label = 'communication';
      continue;
    }
    const label = info.label.startsWith(group) ? info.label.slice(group.length + 1) : info.label;
    const key = 'counter ' + info.label;
    const pinned = info.id === 'busy' && devices.has(info.device ?? 0);
    const height = Math.round((pinned ? LOAD_HEIGHT : COUNTER_HEIGHT) * grown);
    out.push({
      kind: 'counter',
      counter,
      ceiling: null,
      y: 0,
      height,
      label,
      group,
      key,
      pinned,
    });
  }
  return out;
}

interface Options {
  python: boolean;
  folded: Set<string>;
  /** Height for all of it: rows grow where there is room. */
  room: number;
}

/** Rows grow up to this factor. */
const TALLEST = 1.5;

function trackStrip(
  track: Track,
  { python, folded }: Options,
  pinned: boolean,
  grown: number,
): Strip {
  const { info } = track;
  const rows = python ? track.rows : track.rowsNoPython;
  const key = 'track ' + track.index;
  const rowHeight = Math.round((info.kind === 'stream' ? STREAM_ROW : THREAD_ROW) * grown);
  const isFolded = folded.has(key);
  const height = (isFolded ? 1 : Math.max(1, rows.n)) * rowHeight;
  const place = { y: 0, height, label: info.label, group: info.group, key, pinned };
  return { ...place, kind: 'track', track, rows, rowHeight, folded: isFolded };
}

/** From top to bottom: the load of the device and its work, what of it waits, the thread that launches
 * it, and then everything else. */
function order(strip: Strip): number {
  if (strip.kind === 'counter') {
    const { id, device } = strip.counter.info;
    if (id === 'busy') return 0;
    return device === null ? 8 : id === 'memory' || id === 'reserved' ? 5 : 2;
  }
  const { kind, main } = strip.track.info;
  if (kind === 'stream') return strip.pinned ? 1 : 4;
  if (kind === 'gpu_note') return 6;
  return kind === 'thread' ? (main ? 3 : 7) : 9;
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

/** What is pinned goes by device, so that a device's load stands over its own streams. */
function deviceOf(strip: Strip): number {
  const info = strip.kind === 'counter' ? strip.counter.info : strip.track.info;
  return strip.pinned ? (info.device ?? 0) : 0;
}

/** A track of the profiler's own moments, such as the end of its window, shows nothing. */
function isShown(set: DataSet, track: Track): boolean {
  const { first, n, kind } = track.info;
  return n > 0 && (kind !== 'other' || set.dur.subarray(first, first + n).some(dur => dur > 0));
}

function layoutOf(set: DataSet, options: Options, grown: number): Layout {
  const pinned = pinnedTracks(set);
  const devices = new Set([...pinned].map(t => t.info.device ?? 0));
  const tracks = set.tracks.filter(t => isShown(set, t));
  const strips: Strip[] = [
    ...counterStrips(set, devices, grown),
    ...tracks.map(t => trackStrip(t, options, pinned.has(t), grown)),
  ];
  strips.sort((a, b) => deviceOf(a) - deviceOf(b) || order(a) - order(b));
  return {
    strips,
    pinned: stack(strips.filter(s => s.pinned)),
    height: stack(strips.filter(s => !s.pinned)),
  };
}

export function makeLayout(set: DataSet, options: Options): Layout {
  const least = layoutOf(set, options, 1);
  const grown = Math.min(options.room / (least.pinned + least.height || 1), TALLEST);
  return grown > 1 ? layoutOf(set, options, grown) : least;
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
