// gutter.ts: the names of the tracks at the left, as buttons that fold a track to one line.

import { h, replace } from '../base/dom';
import type { Layout, Strip } from './layout';

const NAME_HEIGHT = 15;

export class Gutter {
  readonly el: HTMLElement;
  private readonly pinned = h('div', { class: 'gutter-pinned' });
  private readonly inner = h('div', { class: 'gutter-inner' });
  private tall: [HTMLElement, Strip][] = [];

  constructor(
    private readonly head: number,
    private readonly onFold: (key: string) => void,
  ) {
    const props = { class: 'gutter', role: 'group', 'aria-label': 'Tracks' };
    this.el = h('div', props, this.pinned, this.inner);
    this.pinned.style.paddingTop = head + 'px';
  }

  show(layout: Layout): void {
    this.pinned.style.height = this.head + layout.pinned + 'px';
    this.inner.style.top = this.head + layout.pinned + 'px';
    this.tall = [];
    let group = '';
    const name = (strip: Strip): HTMLElement => {
      const heading = strip.group !== group && strip.group !== 'other' ? strip.group : '';
      group = strip.group;
      return this.name(strip, heading);
    };
    replace(this.pinned, ...layout.strips.filter(s => s.pinned).map(name));
    group = '';
    replace(this.inner, ...layout.strips.filter(s => !s.pinned).map(name));
  }

  private name(strip: Strip, heading: string): HTMLElement {
    const folds = strip.kind === 'track' && strip.rows.n > 1;
    const open = strip.kind === 'track' && !strip.folded;
    const props = {
      class:
        'track-name ' + (strip.height < 2 * NAME_HEIGHT && !strip.pinned ? 'short' : strip.kind),
      type: 'button',
      disabled: !folds,
      'aria-expanded': folds ? String(open) : null,
      title: folds ? `${strip.label} (click to fold)` : strip.label,
      onclick: () => this.onFold(strip.key),
    };
    const el = h(
      'button',
      props,
      heading && h('span', { class: 'track-group' }, heading),
      h('span', { class: 'track-label' }, h('bdi', null, strip.label)),
    );
    el.style.top = strip.y + (strip.pinned ? this.head : 0) + 'px';
    el.style.height = strip.height + 'px';
    if (!strip.pinned && strip.height > 3 * NAME_HEIGHT) this.tall.push([el, strip]);
    return el;
  }

  /** Names of tall tracks stay in sight as long as any of the track is. */
  scroll(y: number): void {
    for (const [el, strip] of this.tall) {
      const hidden = Math.min(Math.max(0, y - strip.y), strip.height - 2 * NAME_HEIGHT);
      el.style.paddingTop = hidden + 'px';
    }
    this.inner.style.transform = `translateY(${-y}px)`;
  }
}
