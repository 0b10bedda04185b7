// rows.ts: the spans of a track by the row they are drawn on. Within a row spans do not overlap,
// so a moment is found by bisection, and a crowded stretch is skipped, never walked.

export interface Times {
  /** Nanoseconds from the start of the trace. */
  start: Float64Array;
  dur: Float64Array;
}

export interface Rows {
  n: number;
  /** Spans row by row, each row ordered by start. */
  order: Uint32Array;
  /** Row r is order[at[r]] … order[at[r + 1] - 1]. */
  at: Uint32Array;
  /** Row of the span first + i; HIDDEN where it is not drawn. */
  row: Uint8Array;
}

export const HIDDEN = 255;

export function rowsOf(row: Uint8Array, first: number): Rows {
  let n = 0;
  for (let i = 0; i < row.length; i++) if (row[i] !== HIDDEN && row[i] >= n) n = row[i] + 1;
  const at = new Uint32Array(n + 1);
  for (let i = 0; i < row.length; i++) if (row[i] !== HIDDEN) at[row[i] + 1]++;
  for (let r = 0; r < n; r++) at[r + 1] += at[r];
  const next = at.slice(0, n);
  const order = new Uint32Array(at[n]);
  for (let i = 0; i < row.length; i++) if (row[i] !== HIDDEN) order[next[row[i]]++] = first + i;
  return { n, order, at, row };
}

/** First place in order[from, to) whose span ends after t. */
export function firstEndingAfter(
  times: Times,
  order: Uint32Array,
  from: number,
  to: number,
  t: number,
): number {
  while (from < to) {
    const mid = (from + to) >> 1;
    const i = order[mid];
    if (times.start[i] + times.dur[i] <= t) from = mid + 1;
    else to = mid;
  }
  return from;
}
