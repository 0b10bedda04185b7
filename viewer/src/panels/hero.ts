// hero.ts: what a tired reader should see first: the answer in one line, coloured by how much there is
// to gain, with the stages beside it. It folds into the title bar.

import { h, type Child } from '../base/dom';
import { explain, term } from '../base/glossary';
import { remember, remembered } from '../base/remember';
import { Signal } from '../base/signal';
import { type Answer, inPrint } from '../data/answer';
import type { Report } from '../data/head';
import type { Scene } from '../timeline/scene';
import { stageBars } from './stage_bars';

/** Whether the summary is folded away, as the reader left it. */
export const folded = new Signal<boolean>(remembered('folded') === 'true');

export function toggleFolded(): void {
  folded.set(!folded.value);
  remember('folded', String(folded.value));
}

const OPPORTUNITY: Record<Answer['opportunity'], string> = {
  large: 'large gain',
  some: 'some gain',
  none: 'nothing to fix',
  unknown: 'unknown gain',
};

/** "GPU-bound": as the glossary has it. */
function limitWords(limit: string): string {
  if (limit === 'mixed') return limit;
  return `${/^[cg]pu$/.test(limit) ? limit.toUpperCase() : limit}-bound`;
}

export function badge(of: Answer['opportunity'], words = OPPORTUNITY[of]): HTMLElement {
  return h('span', { class: `badge opp-${of}` }, words);
}

/** What is wrong with the trace. Notes stand with the checks, unless all figures allow for them. */
export function problems(report: Report, harmless: boolean): Child[] {
  return report.trace_quality.problems
    .filter(d => (d.level === 'good') === harmless && !d.handled)
    .map(d =>
      h(
        'p',
        { class: 'doubt' },
        h('b', null, d.what + ': '),
        d.means + '. ',
        d.instead ? h('span', { class: 'dim' }, 'To fix it: ' + d.instead) : null,
      ),
    );
}

export interface HeroParts {
  opportunity: Answer['opportunity'];
  headline: string;
  /** Sentences under it. */
  details?: (string | null)[];
  /** Small things under those: a badge, figures. */
  state?: Child[];
  more?: Child[];
  right?: Child;
}

/** The top of any page: the sentence that matters, large, and what belongs to it. */
export function heroOf(p: HeroParts): HTMLElement {
  const details = (p.details ?? []).filter((d): d is string => !!d);
  return h(
    'section',
    { class: `hero opp-${p.opportunity}${p.right ? '' : ' alone'}`, 'aria-label': 'Verdict' },
    h(
      'div',
      { class: 'answer' },
      h('h1', { class: 'answer-headline' }, h('bdi', null, inPrint(p.headline))),
      ...details.map(d => h('p', { class: 'answer-detail' }, ...explain(inPrint(d)))),
      p.state ? h('p', { class: 'answer-state' }, ...p.state) : null,
      ...(p.more ?? []),
    ),
    p.right,
  );
}

export function hero(scene: Scene): HTMLElement {
  const { report } = scene.set.info;
  const { answer } = report;
  const el = heroOf({
    ...answer,
    details: [answer.detail],
    state: [
      badge(answer.opportunity),
      answer.limit ? h('span', { class: 'chip' }, term(limitWords(answer.limit))) : null,
      answer.sure === 'low' ? h('span', { class: 'chip' }, 'low confidence') : null,
      answer.state ? h('span', null, ...explain(answer.state)) : null,
    ],
    more: [
      report.recorded.sentence ? h('p', { class: 'recorded' }, report.recorded.sentence) : null,
      ...problems(report, false),
    ],
    right: stageBars(scene),
  });
  const show = (): void => {
    el.hidden = folded.value;
  };
  folded.on(show);
  show();
  return el;
}
