// verdict.ts: the top of a comparison: how long before and after, and whether the change is real.

import { h, type Child } from '../base/dom';
import { count, pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import { inPrint } from '../data/answer';
import type { Head, Row } from '../data/head';
import { badge, heroOf, type HeroParts } from '../panels/hero';

interface Change extends Row {
  before_us: number;
  after_us: number;
  change_pct: number;
}

const VERDICTS: Record<string, string> = {
  unknown:
    'Too few traces to rule out noise: give three or more per side for a verdict, ' +
    'or measure with strata bench.',
  faster: 'Faster, by more than the noise between runs.',
  slower: 'Slower, by more than the noise between runs.',
  no_difference: 'No difference beyond the noise between runs.',
};

/** With a sign, unless it rounds to nothing. */
export function signed(text: string, value: number): string {
  if (!/[1-9]/.test(text)) return text;
  return value > 0 ? '+' + text : text.replace('-', '−');
}

/** What the colours may say: nothing, until repeated runs have shown it. */
const PROVEN: Record<string, { opportunity: HeroParts['opportunity']; words: string }> = {
  faster: { opportunity: 'none', words: 'proven faster' },
  slower: { opportunity: 'large', words: 'proven slower' },
  no_difference: { opportunity: 'unknown', words: 'no difference' },
  unknown: { opportunity: 'unknown', words: 'not proven' },
};

export const verdictOf = (diff: Row): string =>
  String((diff['statistics'] as Row | undefined)?.['verdict'] ?? 'unknown');

const percent = (c: Change): string => signed(pct(c.change_pct), c.change_pct);

function figure(label: Child, c: Change | undefined): Child {
  if (!c) return null;
  const words = ` ${us(c.before_us)} → ${us(c.after_us)} (${percent(c)})`;
  return h('span', null, label, words);
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

/** The first change of the program, and how many more there are. */
function whatChanged(diff: Row): string {
  const list = ((diff['changed'] ?? []) as Row[]).map(x => inPrint(String(x['what'])));
  if (!list.length) return '';
  const more = list.length > 1 ? ` (and ${list.length - 1} more)` : '';
  return `What changed: ${list[0]}${more}.`;
}

export function diffTop(head: Head): HTMLElement {
  const diff = head.diff ?? {};
  const verdict = verdictOf(diff);
  const { opportunity, words } = PROVEN[verdict] ?? PROVEN['unknown'];
  const wall = diff['wall'] as Change | undefined;
  return heroOf({
    opportunity,
    headline: wall
      ? `Wall time ${us(wall.before_us)} → ${us(wall.after_us)} (${percent(wall)})`
      : 'Two traces',
    details: [whatChanged(diff), VERDICTS[verdict] ?? verdict].filter(Boolean),
    state: [
      badge(opportunity, words),
      figure(term('step'), diff['step'] as Change),
      figure('without the profiler', diff['wall_without_profiler'] as Change),
    ],
    right: h(
      'div',
      { class: 'diff-words' },
      h('p', null, ...explain(kernels(diff))),
      h('p', null, ...explain(syncs(diff))),
    ),
  });
}
