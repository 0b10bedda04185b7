// diff_page.ts: two traces over each other, aligned by step, with what changed at the left.

import { h, type Child } from '../base/dom';
import { count } from '../base/format';
import type { Loaded } from '../data/load';
import { Drawer, type Tab } from '../panels/drawer';
import { helpDialog } from '../panels/help';
import { followAddress } from '../panels/address';
import { listenKeys } from '../panels/keyboard';
import { Search } from '../panels/search';
import { selection } from '../panels/selection';
import { note, titleBar } from '../panels/title';
import { toolbar } from '../panels/toolbar';
import { Table } from '../tables/table';
import { Scene } from '../timeline/scene';
import { Timeline } from '../timeline/timeline';
import { changes } from './changes';
import { linkViews } from './link';
import { diffTables } from './tables';
import { diffTop } from './verdict';

interface Side {
  scene: Scene;
  timeline: Timeline;
  search: Search;
}

function sideOf(set: Loaded['sets'][number]): Side {
  const scene = new Scene(set);
  const timeline = new Timeline(scene);
  return { scene, timeline, search: new Search(scene, () => timeline.over.focus()) };
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function sideEl({ scene, timeline, search }: Side, name: string, extra: Child): HTMLElement {
  const { info, page } = scene.set;
  const title = h(
    'h2',
    { class: 'side-name' },
    name + ' ',
    h('bdi', { class: 'dim' }, fileName(info.path)),
  );
  return h(
    'section',
    { class: 'side', 'aria-label': name },
    toolbar(scene, search, title, extra),
    note(page.detail.words),
    timeline.el,
  );
}

export function diffPage(app: HTMLElement, { head, sets }: Loaded): void {
  const sides = sets.map(sideOf);
  const scenes = sides.map(s => s.scene);
  const link = linkViews(scenes[0], scenes[1], head.align);
  const help = helpDialog();
  const tables = diffTables(head, scenes).map((spec): Tab => ({
    id: spec.id,
    title: spec.title,
    count: count(spec.rows.length),
    make: () => new Table(spec).el,
  }));
  const chosen = (k: number): Tab => ({
    id: 'selection-' + k,
    title: k ? 'Selection after' : 'Selection before',
    make: () => selection(scenes[k]),
  });
  const drawer = new Drawer([...tables, chosen(0), chosen(1)]);
  let current = sides[0];
  sides.forEach((side, k) => {
    side.timeline.el.addEventListener('pointerenter', () => (current = side));
    side.timeline.over.addEventListener('focus', () => (current = side));
    side.scene.selected.on(i => i >= 0 && drawer.open('selection-' + k));
    side.scene.range.on(r => r && drawer.open('selection-' + k));
  });
  const lock = h(
    'button',
    { type: 'button', class: 'toggle', 'aria-pressed': 'true' },
    'Aligned by step',
  );
  if (head.align?.by !== 'step') lock.textContent = 'Aligned by start';
  lock.addEventListener('click', () => {
    link.on = !link.on;
    lock.setAttribute('aria-pressed', String(link.on));
    if (link.on) scenes[0].view.set(scenes[0].view.target);
  });
  listenKeys(() => ({ ...current, player: null, help }));
  app.append(
    titleBar(`${fileName(sets[0].info.path)} → ${fileName(sets[1].info.path)}`, 'comparison', help),
    diffTop(head),
    h(
      'main',
      { class: 'work' },
      changes(scenes, head.diff ?? {}),
      h(
        'div',
        { class: 'center' },
        sideEl(sides[0], 'Before', lock),
        sideEl(sides[1], 'After', null),
        drawer.el,
      ),
    ),
    help,
  );
  scenes[0].view.set(scenes[0].view.home);
  followAddress(scenes[0]);
}
