// title.ts: the top line: which report this is, and the buttons for the whole page.

import { h, type Child } from '../base/dom';
import { theme, toggleTheme } from '../base/theme';

export function titleBar(title: string, headline: string, help: HTMLDialogElement): HTMLElement {
  const button = h('button', { type: 'button', title: 'Light or dark (T)', onclick: toggleTheme });
  const say = (): void => {
    button.textContent = theme.value === 'dark' ? 'Light' : 'Dark';
  };
  theme.on(say);
  say();
  return h(
    'header',
    { class: 'title-bar' },
    h('span', { class: 'brand' }, 'Strata'),
    h('span', { class: 'title', title }, h('bdi', null, title)),
    h('span', { class: 'headline' }, headline),
    h(
      'span',
      { class: 'title-buttons' },
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
