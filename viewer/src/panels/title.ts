// title.ts: the top line: which report this is, and the buttons for the whole page; and its foot.

import { h, s, type Child } from '../base/dom';
import { theme, toggleTheme } from '../base/theme';
import type { Head } from '../data/head';

/** Three layers: the mark of the program, as in the tab of the browser. */
function mark(): Node {
  const layer = (y: number, width: number, name: string): Node =>
    s('rect', { x: 1, y, width, height: 3.6, rx: 1.2, class: name });
  const size = { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', class: 'mark' };
  return s('svg', size, layer(1.2, 14, 'a'), layer(6.2, 9, 'b'), layer(11.2, 12, 'c'));
}

/** Which program wrote the page, and when. */
export function foot(head: Head): HTMLElement {
  const words = [`Strata ${head.strata}`, head.made].filter(Boolean).join(', ');
  return h('footer', { class: 'foot' }, words);
}

/** `extra`: more buttons, before those that every page has. */
export function titleBar(
  title: string,
  headline: Child,
  help: HTMLDialogElement,
  extra: Child[] = [],
): HTMLElement {
  const button = h('button', { type: 'button', title: 'Light or dark (T)', onclick: toggleTheme });
  const say = (): void => {
    button.textContent = theme.value === 'dark' ? 'Light' : 'Dark';
  };
  theme.on(say);
  say();
  return h(
    'header',
    { class: 'title-bar' },
    h('span', { class: 'brand' }, mark(), 'Strata'),
    h('span', { class: 'title', title }, h('bdi', null, title)),
    h('span', { class: 'headline' }, headline),
    h(
      'span',
      { class: 'title-buttons' },
      ...extra,
      button,
      h(
        'button',
        { type: 'button', title: 'Keys and glossary (?)', onclick: () => help.showModal() },
        'Help',
      ),
    ),
  );
}

export function problem(text: string): HTMLElement {
  return h(
    'main',
    { class: 'problem' },
    h('h1', null, 'This page cannot be shown'),
    h('p', null, text),
  );
}

export function note(words: string | undefined): Child {
  return words ? h('p', { class: 'omitted', role: 'note' }, words) : null;
}
