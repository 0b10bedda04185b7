// verdict.ts: the top of a comparison: how long before and after, and whether the change is real.

import { h, type Child } from '../base/dom';
import { count, pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import type { Head, Row } from '../data/head';

interface Change extends Row {
  before_us: number;
  after_us: number;
  change_pct: number;
}

const VERDICTS: Record<string, string> = {
  unknown:
    'One run per side, so how much of this is noise is unknown. ' +
    'Measure several runs with strata bench for a verdict.',
  faster: 'Faster, by more than the noise between runs.',
  slower: 'Slower, by more than the noise between runs.',
  same: 'No difference beyond the noise between runs.',
};

export function signed(text: string, value: number): string {
  return value > 0 ? '+' + text : text.replace('-', '−');
}

function change(label: Child, c: Change | undefined, big = false): Child {
  if (!c) return null;
  const tone = c.change_pct < -0.5 ? 'better' : c.change_pct > 0.5 ? 'worse' : 'even';
  return h(
    'div',
    { class: big ? 'figure change big' : 'figure change' },
    h('span', { class: 'figure-value' }, `${us(c.before_us)} → ${us(c.after_us)}`),
    h(
      'span',
      { class: 'figure-label' },
      label,
      ' ',
      h('b', { class: tone }, signed(pct(c.change_pct), c.change_pct)),
    ),
  );
}

function kernels(diff: Row): string {
  const k = (diff['kernels'] ?? {}) as Row;
  const per = (key: string): string => count(Number(k[key] ?? 0));
  return (
    `Kernels per step ${per('per_step_before')} → ${per('per_step_after')}; ` +
    `kernel names: ${per('gone_names')} gone, ${per('new_names')} new. ` +
    `In CUDA graphs ${per('in_graphs_before')} → ${per('in_graphs_after')}.`
  );
}

function syncs(diff: Row): string {
  const s = (diff['syncs'] ?? {}) as Row;
  const sites = (key: string): number => ((s[key] as unknown[] | undefined) ?? []).length;
  const before = count(Number(s['in_loop_before']));
  const after = count(Number(s['in_loop_after']));
  const changed = `sync sites: ${sites('removed')} gone, ${sites('added')} new`;
  return `Syncs in the loop ${before} → ${after}; ${changed}.`;
}

export function diffTop(head: Head): HTMLElement {
  const diff = head.diff ?? {};
  const verdict = String((diff['statistics'] as Row | undefined)?.['verdict'] ?? 'unknown');
  return h(
    'section',
    { class: 'top diff-top', 'aria-label': 'Verdict' },
    h(
      'div',
      { class: 'figures' },
      change(term('wall'), diff['wall'] as Change, true),
      change(term('step'), diff['step'] as Change),
      change('without the profiler', diff['wall_without_profiler'] as Change),
    ),
    h(
      'div',
      { class: 'diff-words' },
      h('p', null, ...explain(VERDICTS[verdict] ?? verdict)),
      h('p', null, ...explain(kernels(diff))),
      h('p', null, ...explain(syncs(diff))),
    ),
  );
}
