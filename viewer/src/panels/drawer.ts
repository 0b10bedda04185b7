// drawer.ts: the tabs under the timeline, each built when it is first shown. Closed until one is chosen;
// its height is remembered.

import { h, replace, type Child } from '../base/dom';
import { remember, remembered } from '../base/remember';

export interface Tab {
  id: string;
  title: string;
  count?: string;
  make: () => Child;
}

/** Share of the window: leaves the timeline its half. */
const USUAL = 0.3;
const LEAST_PX = 90;

export class Drawer {
  readonly el: HTMLElement;
  private readonly tabs: HTMLButtonElement[];
  private readonly panel = h('div', { class: 'panel', role: 'tabpanel', tabindex: -1 });
  private readonly made = new Map<string, Child>();
  private readonly closer: HTMLElement;
  private current = '';
  private height = Number(remembered('drawer')) || Math.max(LEAST_PX, innerHeight * USUAL);

  constructor(private readonly list: Tab[]) {
    this.tabs = list.map(tab =>
      h(
        'button',
        { type: 'button', role: 'tab', id: 'tab-' + tab.id, onclick: () => this.choose(tab.id) },
        tab.title,
        tab.count ? h('span', { class: 'tab-count' }, tab.count) : null,
      ),
    );
    const row = h(
      'div',
      { class: 'tabs', role: 'tablist', 'aria-label': 'Details and tables' },
      ...this.tabs,
    );
    row.addEventListener('keydown', e => this.onKey(e));
    this.closer = h(
      'button',
      {
        type: 'button',
        class: 'closer',
        'aria-label': 'Close the panel',
        title: 'Close the panel',
        onclick: () => this.close(),
      },
      '×',
    );
    const grip = h('div', {
      class: 'grip',
      role: 'separator',
      'aria-orientation': 'horizontal',
      'aria-label': 'Height of the lower panel',
      tabindex: 0,
    });
    this.el = h(
      'section',
      { class: 'drawer', 'aria-label': 'Details and tables' },
      grip,
      h('div', { class: 'tab-row' }, row, this.closer),
      this.panel,
    );
    this.resizes(grip);
    this.close();
  }

  close(): void {
    this.current = '';
    this.panel.hidden = true;
    this.closer.hidden = true;
    this.el.style.flexBasis = 'auto';
    this.tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', 'false');
      tab.tabIndex = i ? -1 : 0;
    });
  }

  /** By hand: the open tab closes. */
  private choose(id: string): void {
    if (id === this.current) this.close();
    else this.open(id);
  }

  private resize(px: number): void {
    this.height = Math.max(LEAST_PX, Math.min(px, innerHeight * 0.75));
    this.el.style.flexBasis = this.height + 'px';
    remember('drawer', String(Math.round(this.height)));
  }

  private onKey(e: KeyboardEvent): void {
    const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
    if (!by) return;
    const at = Math.max(0, this.list.findIndex(t => t.id === this.current));
    const next = (at + by + this.list.length) % this.list.length;
    this.open(this.list[next].id);
    this.tabs[next].focus();
    e.preventDefault();
    e.stopPropagation();
  }

  private resizes(grip: HTMLElement): void {
    let from: { y: number; height: number } | null = null;
    const set = (px: number): void => {
      if (!this.current) this.open(this.list[0].id);
      this.resize(px);
    };
    grip.addEventListener('pointerdown', e => {
      from = { y: e.clientY, height: this.el.offsetHeight };
      grip.setPointerCapture(e.pointerId);
    });
    grip.addEventListener('pointermove', e => {
      if (from) set(from.height + from.y - e.clientY);
    });
    grip.addEventListener('pointerup', () => {
      from = null;
    });
    grip.addEventListener('keydown', e => {
      const by = e.key === 'ArrowUp' ? 40 : e.key === 'ArrowDown' ? -40 : 0;
      if (!by) return;
      set(this.el.offsetHeight + by);
      e.preventDefault();
      e.stopPropagation();
    });
  }

  open(id: string): void {
    this.current = id;
    this.panel.hidden = false;
    this.closer.hidden = false;
    this.el.style.flexBasis = Math.min(this.height, innerHeight * 0.75) + 'px';
    this.list.forEach((tab, i) => {
      const here = tab.id === id;
      this.tabs[i].setAttribute('aria-selected', String(here));
      this.tabs[i].tabIndex = here ? 0 : -1;
      if (!here) return;
      if (!this.made.has(id)) this.made.set(id, tab.make());
      replace(this.panel, this.made.get(id));
      this.panel.setAttribute('aria-labelledby', 'tab-' + id);
    });
  }
}
