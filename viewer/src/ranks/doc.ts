// doc.ts: what C puts into the page of a set of ranks, as docs/format/page.md has it. Times of the chart
// are nanoseconds since its begin.

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
  of: number;
  end_ns: number;
  transfer_us: number;
  spread_us: number;
  last_rank: number;
  /** Late by its own doing. */
  late_rank: number | null;
  members: Member[];
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
  late: string[];
  /** Bubbles of a pipeline, uneven experts. */
  schedule: string[];
  step: string | null;
  path_words: string | null;
  clocks_words: string | null;
  ranks: Row[];
  stragglers: Row[];
  chart?: Chart;
}
