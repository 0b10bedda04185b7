// report_page.ts: puts the parts of a report together: verdict on top, findings at the left, the
// timeline they drive, and the tables under it.

import { h } from './base/dom';
import { count } from './base/format';
import { reportCharts } from './charts/report_charts';
import type { Loaded } from './data/load';
import { followAddress } from './panels/address';
import { Drawer, type Tab } from './panels/drawer';
import { documentTabs } from './panels/documents';
import { findings } from './panels/findings';
import { helpDialog } from './panels/help';
import { listenKeys } from './panels/keyboard';
import { printTables } from './panels/paper';
import { Search } from './panels/search';
import { selection } from './panels/selection';
import { Player } from './panels/story';
import { note, titleBar } from './panels/title';
import { toolbar } from './panels/toolbar';
import { top } from './panels/top';
import { Scene } from './timeline/scene';
import { Timeline } from './timeline/timeline';
import { reportTables } from './tables/specs';
import { Table } from './tables/table';

function headlineOf(headline: string, title: string): string {
  return (headline.startsWith(title) ? headline.slice(title.length) : headline)
    .trim()
    .replace(/ {2,}/g, ' · ');
}

export function reportPage(app: HTMLElement, { head, sets }: Loaded): Timeline {
  const scene = new Scene(sets[0]);
  const timeline = new Timeline(scene);
  const { info, page } = scene.set;
  const player = new Player(scene, page.stories);
  const help = helpDialog();
  const search = new Search(scene, () => timeline.over.focus());
  const tables = reportTables(scene, player);
  const tabs: Tab[] = [
    { id: 'selection', title: 'Selection', make: () => selection(scene) },
    ...tables.map((spec): Tab => ({
      id: spec.id,
      title: spec.title,
      count: count(page.cut?.[spec.id]?.of ?? spec.rows.length),
      make: () => new Table(spec).el,
    })),
    { id: 'charts', title: 'Charts', make: () => reportCharts(scene) },
    ...documentTabs(head),
  ];
  const drawer = new Drawer(tabs);
  scene.selected.on(i => {
    if (i >= 0) drawer.open('selection');
  });
  scene.range.on(r => {
    if (r) drawer.open('selection');
  });
  listenKeys(() => ({ scene, timeline, player, search, help }));
  app.append(
    titleBar(head.title, headlineOf(info.headline, head.title), help),
    top(scene, player),
    h(
      'main',
      { class: 'work' },
      findings(scene, player),
      h(
        'div',
        { class: 'center' },
        toolbar(scene, search),
        note(page.detail.words),
        timeline.el,
        drawer.el,
      ),
    ),
    help,
  );
  printTables(app, tables);
  followAddress(scene);
  return timeline;
}
