// tooltip.ts: a few words next to the pointer. One element for the whole page.

import { h, replace, type Child } from './dom';

const el = h('div', { class: 'tooltip', role: 'tooltip', id: 'tooltip', hidden: true });

export function showTip(x: number, y: number, ...content: Child[]): void {
  if (!el.isConnected) document.body.append(el);
  replace(el, ...content);
  el.hidden = false;
  const { width, height } = el.getBoundingClientRect();
  const left = Math.max(4, Math.min(x + 14, innerWidth - width - 6));
  const top = y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18;
  el.style.left = left + 'px';
  el.style.top = top + 'px';
}

export function hideTip(): void {
  el.hidden = true;
}
