// answer.ts: the one answer of a report, as every part of the page shows it: what limits the program,
// what to do, what it gains.

import type { Finding, Source } from './head';

export interface NotSlow {
  what: string;
  blocked_us: number;
  gain_us: number;
  gain_alone_us: number;
  source: Source | null;
}

export interface Answer {
  kind: 'faster' | 'already_fast' | 'no_gpu_work' | 'cannot_tell';
  headline: string;
  detail: string | null;
  limit: string | null;
  wall_us: number;
  after_us: number;
  gain_pct: number;
  fixes: number;
  /** Findings that gain less are one line together. */
  worth_pct: number;
  opportunity: 'large' | 'some' | 'none' | 'unknown';
  sure: 'high' | 'medium' | 'low';
  not_slow: NotSlow[];
  state: string;
}

/** Findings to show in full: those that gain enough, and advice that has no gain. */
export const isWorth = (f: Finding): boolean => f.worth || !f.predicts_gain;

/** Arrows and signs as they are set in print. */
export const inPrint = (text: string): string =>
  text.replace(/ -> /g, ' → ').replace(/(^|[\s(])-(?=\d)/g, '$1−');

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
