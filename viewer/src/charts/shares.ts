// shares.ts: how the whole is divided: one horizontal bar per name.

import { h } from '../base/dom';
import { cut } from '../base/format';

export interface Share {
  name: string;
  pct: number;
  text: string;
  go?: () => void;
}

export function shareChart(title: string, note: string, shares: Share[]): HTMLElement {
  const rows = shares.map(x => {
    const bar = h('span', { class: 'share-bar' });
    bar.style.width = `${Math.max(0.3, Math.min(100, x.pct))}%`;
    return h(
      'li',
      null,
      h(
        'button',
        {
          type: 'button',
          class: 'share',
          title: x.name.slice(0, 400),
          disabled: !x.go,
          onclick: () => x.go?.(),
        },
        h('span', { class: 'share-name' }, h('bdi', null, cut(x.name, 46))),
        h('span', { class: 'share-value' }, x.text),
        h('span', { class: 'share-track' }, bar),
      ),
    );
  });
  return h(
    'figure',
    { class: 'chart' },
    h('figcaption', null, h('b', null, title), h('span', { class: 'dim' }, note)),
    h('ol', { class: 'shares' }, ...rows),
  );
}
