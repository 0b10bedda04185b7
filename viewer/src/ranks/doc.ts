// doc.ts: what C puts into the page of a set of ranks, as docs/format/page.md has it. Times of the chart
// are nanoseconds since its begin.

import type { Answer } from '../data/answer';
import type { Row } from '../data/head';

export interface RankRow {
  rank: number;
  host: string | null;
  path: string;
  /** Begin, length, begin, length ... */
  compute: number[];
}

/** Rank, begin, time it waits for the last rank, end. */
export type Member = [number, number, number, number];

export interface Collective extends Row {
  name: string;
  group: string;
  seq: number;
  bytes: number | null;
  /** How many ranks take part. */
  members: number;
  end_ns: number;
  transfer_us: number;
  spread_us: number;
  last_rank: number;
  /** Late by its own doing. */
  late_rank: number | null;
  /** Those that have a row. */
  arrivals: Member[];
}

export interface Hop extends Row {
  rank: number;
  start_ns: number;
  own_us: number;
  transfer_us: number;
  collective: string;
  group: string;
  seq: number;
}

export interface Chart {
  begin_ns: number;
  length_ns: number;
  first_step: number;
  of_steps: number;
  steps: number[];
  rows: RankRow[];
  collectives: Collective[];
  path: Hop[];
}

export interface RanksDoc {
  who: string;
  doubts: string[];
  no_answer: string | null;
  /** The result, unless the schedule is all there is to say. */
  headline: string | null;
  /** "Fixing it: 1.17 ms -> 968 us per step (-17.1 %)" */
  gain: string | null;
  late: string[];
  /** Bubbles of a pipeline, uneven experts. */
  schedule: string[];
  opportunity: Answer['opportunity'];
  /** A step now, and if no rank came late. */
  step_us?: number;
  step_without_us?: number;
  path_words: string | null;
  clocks_words: string | null;
  ranks: Row[];
  stragglers: Row[];
  chart?: Chart;
}
