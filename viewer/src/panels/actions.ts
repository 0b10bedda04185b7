// actions.ts: what a reader does with a finding: try it, read its rule, open the line, pass it on.

import { command, copyButton } from '../base/clipboard';
import { h, replace, type Child } from '../base/dom';
import { remember, remembered } from '../base/remember';
import type { Finding, Source } from '../data/head';
import { findingMarkdown } from './markdown';
import type { RulePage } from './rule_page';

/** Only a path: whatever a trace contains, nothing else than a file can be requested. */
function editorAddress(path: string, line: number): string {
  const parts = path.split('/').map(encodeURIComponent);
  return `vscode://file${path.startsWith('/') ? '' : '/'}${parts.join('/')}:${line}`;
}

function editorLink(path: string, line: number): HTMLElement {
  const title = `Open ${path}:${line} in Visual Studio Code`;
  return h('a', { class: 'action', href: editorAddress(path, line), title }, 'Open in editor');
}

/** Recorders shorten paths: then the folder is requested once. */
function editor(source: Source | null): Child {
  const { file, line } = source ?? {};
  if (!file || !line) return null;
  if (file.startsWith('/')) return editorLink(file, line);
  const place = h('span', { class: 'editor' });
  const folder = h('input', {
    type: 'text',
    placeholder: `folder that ${file} is in`,
    'aria-label': 'Source folder',
    spellcheck: 'false',
  });
  const ask = (): void => {
    replace(place, folder);
    folder.value = remembered('sources') ?? '';
    folder.focus();
  };
  const show = (): void => {
    const root = remembered('sources');
    const button = h('button', { type: 'button', class: 'action', onclick: ask }, 'Open in editor');
    const change = h('button', { type: 'button', class: 'action', onclick: ask }, 'folder');
    if (root) replace(place, editorLink(`${root.replace(/\/$/, '')}/${file}`, line), change);
    else replace(place, button);
  };
  folder.addEventListener('keydown', e => {
    e.stopPropagation();
    if (e.key !== 'Enter' && e.key !== 'Escape') return;
    if (e.key === 'Enter') remember('sources', folder.value.trim());
    show();
  });
  show();
  return place;
}

export function actions(f: Finding, number: number, rulePage: RulePage): HTMLElement {
  const tries = f.try_command;
  return h(
    'div',
    { class: 'actions' },
    tries ? command(tries, 'Tries this fix without editing the program, and measures it') : null,
    h(
      'div',
      { class: 'action-row' },
      rulePage.link(f.rule),
      editor(f.source),
      copyButton('Copy as Markdown', 'This finding as Markdown', () => findingMarkdown(f, number)),
    ),
  );
}
