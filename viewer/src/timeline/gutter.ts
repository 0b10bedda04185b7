// gutter.ts: the names of the tracks at the left, as buttons that fold a track to one line.

import { h, replace } from '../base/dom';
import type { Layout } from './layout';

export class Gutter {
  readonly el: HTMLElement;
  private readonly inner = h('div', { class: 'gutter-inner' });

  constructor(private readonly onFold: (key: string) => void) {
    this.el = h('div', { class: 'gutter', role: 'group', 'aria-label': 'Tracks' }, this.inner);
  }

  show(layout: Layout): void {
    let group = '';
    replace(
      this.inner,
      ...layout.strips.map(strip => {
        const head = strip.group !== group ? strip.group : '';
        group = strip.group;
        const fold = strip.kind === 'track' && strip.rows.n > 1;
        const el = h(
          'button',
          {
            class: 'track-name ' + strip.kind,
            type: 'button',
            disabled: !fold,
            'aria-expanded': fold ? String(!(strip.kind === 'track' && strip.folded)) : null,
            title: fold ? `${strip.label} (click to fold)` : strip.label,
            onclick: () => this.onFold(strip.key),
          },
          head && h('span', { class: 'track-group' }, head),
          h('span', { class: 'track-label' }, strip.label),
        );
        el.style.top = strip.y + 'px';
        el.style.height = strip.height + 'px';
        return el;
      }),
    );
  }

  scroll(y: number): void {
    this.inner.style.transform = `translateY(${-y}px)`;
  }
}
