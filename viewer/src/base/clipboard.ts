// clipboard.ts: buttons that copy a text and say that they did.

import { h } from './dom';

const SAID_MS = 1400;

/** The older way, for frames that may not use the clipboard. */
function copyBySelection(text: string): boolean {
  const box = h('textarea', { class: 'said', 'aria-hidden': 'true' });
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  return done;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** A button that copies what `text` gives when it is clicked. */
export function copyButton(label: string, title: string, text: () => string): HTMLElement {
  const button = h('button', { type: 'button', class: 'copy', title }, label);
  let timer = 0;
  button.addEventListener('click', async () => {
    const done = await copy(text());
    button.textContent = done ? 'Copied' : 'Not allowed here';
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      button.textContent = label;
    }, SAID_MS);
  });
  return button;
}

/** A command as text with a button that copies it. */
export function command(text: string, title: string): HTMLElement {
  return h(
    'div',
    { class: 'command' },
    h('code', null, h('bdi', null, text)),
    copyButton('Copy', title, () => text),
  );
}
