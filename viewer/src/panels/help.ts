// help.ts: the keys, and all terms of the glossary, in a dialog.

import { h } from '../base/dom';
import { glossary } from '../base/glossary';

export const KEYS: [string, string][] = [
  ['W  S', 'zoom in and out'],
  ['A  D', 'pan left and right'],
  ['← → ↑ ↓', 'pan; with a selected span: go to neighbours, parent and child'],
  [',  .', 'previous and next span of the same track'],
  ['/', 'search; Enter and Shift+Enter go to the next and previous hit'],
  ['N  Shift+N', 'next and previous hit'],
  ['F', 'zoom to the selection'],
  ['0', 'show everything'],
  ['M', 'sum up the selected span, or what is on screen'],
  ['G', 'from a launch to its device work, and back'],
  ['1 … 9', 'open a finding'],
  ['[  ]', 'previous and next step of its story'],
  ['P', 'show or hide Python frames'],
  ['H', 'show or hide the summary'],
  ['T', 'light or dark'],
  ['Esc', 'clear the selection'],
  ['?', 'this list'],
];

const MOUSE =
  'The wheel zooms at the pointer, with Shift it pans, and over the names it scrolls. Drag to pan; ' +
  'drag with Shift, or on the ruler, to sum up a range. The address of this page always points to ' +
  'the moment on screen: copy it to share.';

export function helpDialog(): HTMLDialogElement {
  const close = h('button', { type: 'button', onclick: () => dialog.close() }, 'Close');
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-label': 'Help' },
    h('div', { class: 'help-head' }, h('h2', null, 'Keys'), close),
    h(
      'dl',
      { class: 'keys' },
      ...KEYS.flatMap(([k, v]) => [
        h('dt', null, ...k.split(/ {2}/).map(x => h('kbd', null, x))),
        h('dd', null, v),
      ]),
    ),
    h('p', { class: 'dim' }, MOUSE),
    h('h2', null, 'Glossary'),
    h(
      'dl',
      { class: 'words' },
      ...glossary().flatMap(t => [h('dt', null, t.term), h('dd', null, t.meaning)]),
    ),
  );
  dialog.addEventListener('click', e => {
    if (e.target === dialog) dialog.close();
  });
  return dialog;
}
