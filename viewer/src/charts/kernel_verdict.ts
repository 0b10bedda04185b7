// kernel_verdict.ts: one measured kernel: what limits it, the evidence for and against, and what to
// do about it.

import { h, type Child } from '../base/dom';
import { pct, us } from '../base/format';
import { explain, term } from '../base/glossary';
import type { Row } from '../data/head';

interface Sign {
  agrees: boolean;
  text: string;
}

const LIMITS: Record<string, string> = {
  memory: 'limited by memory',
  compute: 'limited by arithmetic',
  tensor: 'limited by tensor cores',
  issue: 'limited by issue slots',
  latency: 'limited by latency',
  occupancy: 'limited by occupancy',
  tail: 'limited by a grid that does not fill the GPU',
  none: 'without a clear limit',
};

export const limitOf = (k: Row): string => {
  const limiter = String(k['limiter'] ?? 'none');
  return LIMITS[limiter] ?? limiter;
};

const num = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function sign(s: Sign): HTMLElement {
  const mark = h(
    'span',
    { class: 'check-sign', 'aria-label': s.agrees ? 'supports it' : 'contradicts it', role: 'img' },
    s.agrees ? '✓' : '!',
  );
  return h(
    'li',
    { class: 'check' },
    mark,
    h('span', null, ...explain(s.text)),
  );
}

function share(label: string, value: unknown): Child[] {
  return typeof value === 'number' ? [h('dt', null, term(label)), h('dd', null, pct(value))] : [];
}

export function kernelVerdict(k: Row, index: number): HTMLElement {
  const sure = k['confidence'] && k['confidence'] !== 'none' ? `, confidence ${k['confidence']}` : '';
  const estimate = k['estimated'] ? ' (estimated from the trace, not measured)' : '';
  const advice = String(k['advice'] ?? '');
  return h(
    'li',
    { class: 'verdict-card' },
    h(
      'div',
      { class: 'verdict-head' },
      h('span', { class: 'rank' }, String(index + 1)),
      h('code', null, h('bdi', null, String(k['short_name'] ?? k['name']))),
    ),
    h(
      'p',
      null,
      h('b', null, limitOf(k)),
      h('span', { class: 'dim' }, sure + estimate),
    ),
    h(
      'dl',
      { class: 'facts' },
      h('dt', null, 'time'),
      h(
        'dd',
        null,
        `${us(num(k['time_us']))}, ${pct(num(k['share_pct']))} of GPU time`,
      ),
      ...share('of its roof', k['roof_pct']),
      ...share('occupancy', k['occupancy_pct']),
    ),
    h('ul', { class: 'signs' }, ...((k['signs'] ?? []) as Sign[]).map(sign)),
    advice ? h('p', { class: 'fix' }, ...explain(advice)) : null,
  );
}
