// documents.ts: what a page may hold besides timelines: an offload plan, a roofline. They are tabs
// of a report, or a page of their own if there is no timeline.

import { h } from '../base/dom';
import { offloadCharts } from '../charts/offload_chart';
import { rooflineCharts } from '../charts/roofline';
import type { Head } from '../data/head';
import type { Tab } from './drawer';
import { helpDialog } from './help';
import { titleBar } from './title';

export function documentTabs({ offload, dive }: Head): Tab[] {
  const tabs: Tab[] = [];
  if (offload) tabs.push({ id: 'offload', title: 'Offload', make: () => offloadCharts(offload) });
  if (dive) tabs.push({ id: 'roofline', title: 'Roofline', make: () => rooflineCharts(dive) });
  return tabs;
}

export function documentPage(app: HTMLElement, head: Head): void {
  const help = helpDialog();
  const parts = documentTabs(head).map(tab => h('section', null, tab.make()));
  app.append(titleBar(head.title, '', help), h('main', { class: 'documents' }, ...parts), help);
}
