// search.ts: finds spans by name: counts them, marks them, and jumps from one to the next in time.

import { h } from '../base/dom';
import { count } from '../base/format';
import type { Scene } from '../timeline/scene';

const WAIT_MS = 120;

function find(scene: Scene, text: string): Uint32Array {
  const { set } = scene;
  const mask = set.names.matching(text);
  let n = 0;
  for (let i = 0; i < set.n; i++) n += mask[set.name[i]];
  const out = new Uint32Array(n);
  for (let i = 0, k = 0; i < set.n; i++) if (mask[set.name[i]]) out[k++] = i;
  return out.sort((a, b) => set.start[a] - set.start[b] || a - b);
}

export class Search {
  readonly el: HTMLElement;
  private readonly box: HTMLInputElement;
  private readonly status = h('span', {
    class: 'search-count',
    role: 'status',
    'aria-live': 'polite',
  });
  private timer = 0;

  constructor(
    private readonly scene: Scene,
    private readonly onLeave: () => void,
  ) {
    this.box = h('input', {
      type: 'search',
      placeholder: 'Search spans  /',
      'aria-label': 'Search spans by name',
      spellcheck: 'false',
      autocomplete: 'off',
    });
    this.box.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.run(), WAIT_MS);
    });
    this.box.addEventListener('keydown', e => this.onKey(e));
    this.el = h(
      'div',
      { class: 'search', role: 'search' },
      this.box,
      this.status,
      h(
        'button',
        { type: 'button', 'aria-label': 'Previous hit', onclick: () => this.jump(-1) },
        '‹',
      ),
      h('button', { type: 'button', 'aria-label': 'Next hit', onclick: () => this.jump(1) }, '›'),
    );
    scene.hits.on(() => this.say());
    this.say();
  }

  focus(): void {
    this.box.focus();
    this.box.select();
  }

  private onKey(e: KeyboardEvent): void {
    e.stopPropagation();
    if (e.key === 'Enter') {
      clearTimeout(this.timer);
      if (this.scene.hits.value?.text !== this.box.value) this.run();
      this.jump(e.shiftKey ? -1 : 1);
      e.preventDefault();
    }
    if (e.key === 'Escape') {
      if (this.box.value) this.reset();
      else this.onLeave();
      e.preventDefault();
    }
  }

  private reset(): void {
    this.box.value = '';
    this.scene.hits.set(null);
  }

  private run(): void {
    const text = this.box.value;
    this.scene.hits.set(text ? { text, spans: find(this.scene, text), at: -1 } : null);
  }

  /** To the next hit in time, or the one before; from where the view is when none was visited
   * yet. */
  jump(by: 1 | -1): void {
    const hits = this.scene.hits.value;
    if (!hits?.spans.length) return;
    const n = hits.spans.length;
    let at = hits.at + by;
    if (hits.at < 0) {
      const { start } = this.scene.view;
      at = hits.spans.findIndex(i => this.scene.set.start[i] >= start);
      if (at < 0) at = 0;
    }
    at = (at + n) % n;
    this.scene.hits.set({ ...hits, at });
    this.scene.goTo(hits.spans[at]);
  }

  private say(): void {
    const hits = this.scene.hits.value;
    this.el.classList.toggle('searching', !!hits);
    this.status.textContent = !hits
      ? ''
      : !hits.spans.length
        ? 'none'
        : hits.at < 0
          ? count(hits.spans.length)
          : `${count(hits.at + 1)} of ${count(hits.spans.length)}`;
  }
}
