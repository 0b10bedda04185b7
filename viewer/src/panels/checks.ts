// checks.ts: answers to the questions one asks of every trace: what wants attention in full, the rest
// folded.

import { h, type Child } from '../base/dom';
import { count } from '../base/format';
import { explain } from '../base/glossary';
import type { Check, Report } from '../data/head';
import { problems } from './hero';

function item(c: Check, settled: boolean): HTMLElement {
  const state = c.healthy === null ? 'unknown' : c.healthy ? 'good' : 'bad';
  const sign = { good: '✓', bad: '!', unknown: '?' }[state];
  const says = { good: 'healthy', bad: 'needs attention', unknown: 'unknown' }[state];
  return h(
    'li',
    { class: `check ${state}` + (settled ? ' settled' : ''), title: c.question },
    h('span', { class: 'check-sign', role: 'img', 'aria-label': says }, sign),
    h('span', { class: 'check-text' }, ...explain(c.verdict)),
  );
}

/** Ticks are green only where the whole program has nothing to gain. */
export function checks(report: Report): Child {
  const settled = report.answer.opportunity === 'none';
  const list = (some: Check[]): HTMLElement =>
    h('ul', { class: 'checklist' }, ...some.map(c => item(c, settled)));
  const bad = report.checklist.filter(c => c.healthy === false);
  const rest = report.checklist.filter(c => c.healthy !== false);
  const harmless = problems(report, true);
  if (!report.checklist.length && !harmless.length) return null;
  return h(
    'section',
    { class: 'side-part checks', 'aria-label': 'Checklist' },
    h('h2', null, 'Checks'),
    bad.length ? list(bad) : null,
    rest.length + harmless.length
      ? h(
          'details',
          { open: !bad.length && settled },
          h('summary', null, `${count(rest.length)} ${bad.length ? 'more' : 'checks'}, none asks for a change`),
          list(rest),
          ...harmless,
        )
      : null,
  );
}
