// head.ts: the shape of the data that C puts into the page. docs/format/page.md is the contract;
// the documents of the commands are described in docs/format/json.md, and only what is read here
// is named.

import type { Term } from '../base/glossary';
import type { Answer } from './answer';
import type { Offload } from '../charts/offload_chart';
import type { Dive } from '../charts/roofline';
import type { FlameDoc } from '../flame/tree';
import type { RanksDoc } from '../ranks/doc';
import type { DeclaredColumn } from '../tables/columns';

export interface Source {
  file: string | null;
  line: number | null;
  function: string | null;
}

/** One of several ways to fix a finding. */
export interface Option {
  what: string;
  gain_pct: number;
  effort_words: string;
  note: string;
}

export interface Rung {
  kind: 'now' | 'fix' | 'gpu' | 'roofline';
  name: string;
  wall_us: number;
  gain_pct: number;
  /** Its place in the findings, from 1. */
  finding: number | null;
}

export interface Finding {
  rule: string;
  title: string;
  subject: string | null;
  severity: string;
  source: Source | null;
  blocked_us: number;
  exposed_us: number;
  predicted_gain_us: number;
  predicted_gain_pct: number;
  predicted_gain_low_pct: number;
  predicted_gain_high_pct: number;
  predicted_gain_alone_pct: number;
  effort_words: string;
  options: Option[];
  only_together: boolean;
  predicts_gain: boolean;
  worth: boolean;
  why: string;
  fix: string;
  /** One sentence each. */
  brief: string;
  fix_brief: string;
  /** The command of `strata try` for it. */
  try_command: string | null;
  not_fixed: string | null;
}

export interface Check {
  id: string;
  question: string;
  value: number | null;
  unit: string;
  healthy: boolean | null;
  verdict: string;
}

export interface Problem {
  level: string;
  handled: boolean;
  what: string;
  means: string;
  instead: string;
}

export interface Report {
  answer: Answer;
  wall_us: number;
  bound: string;
  gpu_busy_pct: number | null;
  abstains: boolean;
  trace_quality: { verdict: string; problems: Problem[] };
  gains_are: string;
  recorded: { sentence: string; idle_judged: boolean };
  families: Row[];
  findings: Finding[];
  not_worth_it: { count: number; blocked_us: number; gain_us: number };
  no_gain_reason: string | null;
  idle_unexplained: boolean;
  idle_causes: { kind: string; what: string; idle_us: number; share_pct: number }[];
  ladder: Rung[];
  checklist: Check[];
}

/** A row of a document: which keys it has is written next to the table that shows it. */
export type Row = Record<string, unknown>;

export interface Stage extends Row {
  name: string;
  path: string;
  container: boolean;
  kind: string;
  derived: boolean;
  from: string;
  count: number;
  cpu_us: number;
  gpu_us: number;
  self_gpu_us: number;
  self_cpu_us: number;
}

export interface Step extends Row {
  index: number;
  start_us: number;
  dur_us: number;
  cpu_us: number;
  gpu_us: number;
  gpu_idle_us: number;
}

export interface MemoryDevice {
  device: string;
  device_id: number;
  peak_bytes: number;
  steps: { index: number; end_bytes: number; peak_bytes: number }[];
}

export interface TrackInfo {
  kind: 'thread' | 'stream' | 'gpu_note' | 'overhead' | 'other';
  group: string;
  label: string;
  device: number | null;
  stream: number | null;
  first: number;
  n: number;
  depth: number;
  main: boolean;
  levels: { row: number; width_ns: number; n: number; busy: number; name: number }[];
}

export interface CounterInfo {
  id: string;
  label: string;
  unit: 'bytes' | 'pieces' | 'pct' | 'watts';
  device: number | null;
  max: number;
  levels: { width_ns: number; n: number; min: number | null; max: number }[];
  points: { n: number; t: number; v: number } | null;
}

export interface StoryStep {
  text: string;
  mark: 'blocked' | 'exposed' | null;
  t0_ns: number;
  t1_ns: number;
  spans: number[];
  arrows: { from: number; to: number }[];
  /** Idle times of the device that a step with the mark "exposed" refers to. */
  gaps?: [number, number][];
}

export interface Story {
  t0_ns: number;
  t1_ns: number;
  steps: StoryStep[];
  frames: number[];
}

export interface StepBand {
  index: number;
  label: string | null;
  t0_ns: number;
  t1_ns: number;
  gpu_t0_ns: number | null;
  gpu_t1_ns: number | null;
}

export interface Bin {
  from_us: number;
  to_us: number | null;
  count: number;
  idle_us: number;
}

export interface PageInfo {
  window: { t0_ns: number; t1_ns: number };
  detail: {
    complete: boolean;
    spans: number;
    kept?: number;
    words?: string;
    ranges?: { t0_ns: number; t1_ns: number; why: string }[];
  };
  tracks: TrackInfo[];
  kinds: string[];
  families: string[];
  hows: string[];
  configs: Record<string, unknown>[];
  steps: StepBand[];
  stages: { path: string; name: string; depth: number; container: boolean; derived: boolean }[];
  counters: CounterInfo[];
  stories: Story[];
  sites: { id: number; spans: number[]; story: Story | null }[];
  gaps: {
    device?: number | null;
    t0_ns: number;
    late_ns: number;
    t1_ns: number;
    prev: number | null;
    next: number | null;
    launch: number | null;
  }[];
  gap_histogram?: Bin[];
  cut?: Record<string, { shown: number; of: number }>;
  columns: {
    codec: string;
    offset: number;
    packed_bytes: number;
    plain_bytes: number;
    list: Record<string, { offset: number; bytes: number; n: number }>;
  };
}

export interface SetInfo {
  path: string;
  headline: string;
  report: Report;
  stages: { stages: Stage[]; between?: Row };
  steps: { steps: Step[]; found_by?: string };
  syncs: { sites: Row[] };
  gaps: { devices: Row[]; causes: Row[]; gaps: Row[] };
  kernels: { rows: Row[] };
  table: { rows: Row[] };
  launches: Row;
  memory: { recorded: boolean; devices: MemoryDevice[] };
  page: PageInfo;
}

export interface Head {
  version: number;
  kind: 'report' | 'diff' | 'offload' | 'dive' | 'ranks';
  title: string;
  strata: string;
  /** The day it was written: "2026-11-18". */
  made: string;
  glossary: Term[];
  columns: Record<string, DeclaredColumn[]>;
  /** The pages of rules, by id, in Markdown. */
  rules?: Record<string, string>;
  sets: SetInfo[];
  diff?: Row;
  align?: { pairs: [number, number][]; by: 'step' | 'start' };
  offload?: Offload;
  flame?: FlameDoc;
  /** Other kinds of time. */
  flames?: FlameDoc[];
  ranks?: RanksDoc;
  dive?: Dive;
}
