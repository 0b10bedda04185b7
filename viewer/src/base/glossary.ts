// glossary.ts: the terms of the field, for readers who meet them here first. Every text on the page
// goes through explain(), which marks the terms it knows; hovering or focusing one shows its meaning.
// Only the first of each on the page is underlined.
// The terms come with the data, from the same table as `strata help glossary`.

import { h, type Child } from './dom';
import { hideTip, showTip } from './tooltip';

export interface Term {
  term: string;
  /** Other forms that mean the same: "drains". */
  also: string[];
  meaning: string;
}

let terms: Term[] = [];
const meanings = new Map<string, string>();
let pattern = /(?!)/g;

/** Takes over the terms of the page, before anything is drawn. Matched as whole words, longest
 *  first. */
export function setGlossary(list: Term[]): void {
  terms = list;
  meanings.clear();
  for (const t of list) for (const word of [t.term, ...t.also]) meanings.set(word, t.meaning);
  const words = [...meanings.keys()].sort((a, b) => b.length - a.length);
  const any = words.map(w => w.replace(/[-.]/g, '\\$&')).join('|');
  pattern = any ? new RegExp(`(?<![\\w:.])(${any})(?![\\w:(])`, 'g') : /(?!)/g;
}

/** All terms, for the help. */
export const glossary = (): Term[] => terms;

function show(el: HTMLElement, text: string): void {
  const box = el.getBoundingClientRect();
  showTip(box.left - 10, box.bottom - 12, h('b', null, el.textContent ?? ''), h('div', null, text));
}

/** A term with its meaning, or just the word if it is not in the glossary. */
export function term(word: string, meaning = word, focusable = true): Node {
  const text = meanings.get(meaning) ?? meanings.get(meaning.toLowerCase());
  if (!text) return document.createTextNode(word);
  const el = h(
    'span',
    {
      class: 'term',
      tabindex: focusable ? 0 : null,
      'aria-description': text,
      'data-term': meaning.toLowerCase(),
    },
    word,
  );
  el.addEventListener('pointerenter', () => show(el, text));
  el.addEventListener('focus', () => show(el, text));
  el.addEventListener('pointerleave', hideTip);
  el.addEventListener('blur', hideTip);
  return el;
}

/** A text with its known terms marked, each only the first time. Inside a button, terms are not
 *  `focusable`: the button is. */
export function explain(text: string, focusable = true): Child[] {
  const out: Child[] = [];
  const seen = new Set<string>();
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (seen.has(match[0])) continue;
    seen.add(match[0]);
    out.push(text.slice(at, match.index), term(match[0], match[0], focusable));
    at = match.index! + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}

function underlineFirst(root: Element): void {
  const seen = new Set<string>();
  for (const el of root.querySelectorAll<HTMLElement>('.term')) {
    const word = el.dataset['term']!;
    const first = !seen.has(word) && el.getClientRects().length > 0;
    if (first) seen.add(word);
    el.classList.toggle('first', first);
  }
}

/** Keeps the underlines where each term comes first, whatever is drawn later. */
export function followTerms(root: Element): void {
  let frame = 0;
  const soon = (): void => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      underlineFirst(root);
    });
  };
  new MutationObserver(soon).observe(root, { childList: true, subtree: true });
  soon();
}
