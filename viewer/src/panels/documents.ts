// documents.ts: what a page may hold besides timelines: an offload plan, a roofline. They are tabs
// of a report, or a page of their own if there is no timeline.

import { h } from '../base/dom';
import { count, cut, pct } from '../base/format';
import { limitOf } from '../charts/kernel_verdict';
import { offloadCharts } from '../charts/offload_chart';
import { type Dive, rooflineCharts } from '../charts/roofline';
import type { Head } from '../data/head';
import type { Tab } from './drawer';
import { helpDialog } from './help';
import { heroOf } from './hero';
import { foot, titleBar } from './title';

export function documentTabs({ offload, dive }: Head): Tab[] {
  const tabs: Tab[] = [];
  if (offload) tabs.push({ id: 'offload', title: 'Offload', make: () => offloadCharts(offload) });
  if (dive) tabs.push({ id: 'roofline', title: 'Roofline', make: () => rooflineCharts(dive) });
  return tabs;
}

const NAME_LETTERS = 60;

/** What a dive found: the kernel with most time that something helps, and what does. */
function diveTop(dive: Dive): HTMLElement {
  const n = dive.kernels.length;
  const measured = Number(dive['measured'] ?? 0);
  const first = dive.kernels.find(k => k['advice']) ?? dive.kernels[0];
  const name = cut(String(first['short_name'] ?? first['name']), NAME_LETTERS);
  const share = first['share_pct'] as number | null;
  const time = share === null ? '' : ` takes ${pct(share)} of the GPU time and`;
  const all = dive['kernels_in_trace'] as number | null;
  const covered = pct(dive['covered_pct'] as number | null);
  return heroOf({
    opportunity: 'unknown',
    headline: `${name}${time} is ${limitOf(first)}`,
    details: [String(first['advice'] ?? '')],
    state: [
      h(
        'span',
        null,
        (all === null ? '' : `${count(n)} of ${count(all)} kernels, ${covered} of the GPU time: `) +
          `${count(measured)} measured by Nsight Compute, ${count(n - measured)} estimated from the trace`,
      ),
    ],
  });
}

export function documentPage(app: HTMLElement, head: Head): void {
  const help = helpDialog();
  const parts = documentTabs(head).map(tab => h('section', null, tab.make()));
  const top = head.dive?.kernels.length ? diveTop(head.dive) : null;
  app.append(
    titleBar(head.title, '', help),
    h('main', { class: 'documents' }, top, ...parts, foot(head)),
    help,
  );
}
