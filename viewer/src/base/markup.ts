// markup.ts: our own Markdown, as the pages of rules use it, as elements: headings, paragraphs, lists,
// tables, code, emphasis. Links lead to other files, so only their text is shown.

import { h, type Child } from './dom';

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\([^)]*\)/g;

export function inline(text: string): Child[] {
  const out: Child[] = [];
  let at = 0;
  for (const m of text.matchAll(INLINE)) {
    const [, code, strong, em, link] = m;
    out.push(text.slice(at, m.index));
    if (code) out.push(h('code', null, code));
    else if (strong) out.push(h('b', null, ...inline(strong)));
    else if (em) out.push(h('i', null, ...inline(em)));
    else out.push(...inline(link));
    at = m.index! + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}

/** Lines that belong together: a paragraph, a list, a table; a heading is one by itself. */
function blocks(text: string): string[][] {
  const out: string[][] = [];
  let open = false;
  for (const line of text.split('\n')) {
    const heading = line.startsWith('#');
    if (open && line && !heading) out[out.length - 1].push(line);
    else if (line) out.push([line]);
    open = line !== '' && !heading;
  }
  return out;
}

/** "- one", with what follows it indented on the next lines. */
function items(lines: string[]): string[] {
  const out: string[] = [];
  for (const line of lines)
    if (line.startsWith('- ')) out.push(line.slice(2));
    else out[out.length - 1] += ' ' + line.trim();
  return out;
}

function table(lines: string[]): HTMLElement {
  const cells = (line: string): string[] => line.replace(/^\|\s*|\s*\|$/g, '').split(/\s*\|\s*/);
  const row = (line: string, tag: 'td' | 'th'): HTMLElement =>
    h('tr', null, ...cells(line).map(c => h(tag, null, ...inline(c))));
  return h(
    'table',
    null,
    h('thead', null, row(lines[0], 'th')),
    h('tbody', null, ...lines.slice(2).map(line => row(line, 'td'))),
  );
}

function block(lines: string[]): HTMLElement {
  const [first] = lines;
  if (first.startsWith('## ')) return h('h3', null, ...inline(first.slice(3)));
  if (first.startsWith('# ')) return h('h2', null, ...inline(first.slice(2)));
  if (first.startsWith('- '))
    return h('ul', null, ...items(lines).map(x => h('li', null, ...inline(x))));
  if (first.startsWith('|')) return table(lines);
  return h('p', null, ...inline(lines.join(' ')));
}

/** A list right under its sentence is a block of its own. */
const split = (lines: string[]): string[][] => {
  const at = lines.findIndex(line => /^(- |\|)/.test(line));
  return at > 0 ? [lines.slice(0, at), lines.slice(at)] : [lines];
};

export function markup(text: string): HTMLElement[] {
  return blocks(text).flatMap(split).map(block);
}
