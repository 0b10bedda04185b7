// rule_page.ts: the page of a rule, in a dialog: what it means, how it is known, what fixes it.

import { command } from '../base/clipboard';
import { h, replace, type Child } from '../base/dom';
import { markup } from '../base/markup';

export class RulePage {
  readonly el = h('dialog', { class: 'rule-page', 'aria-label': 'Rule' });

  constructor(private readonly pages: Record<string, string>) {
    this.el.addEventListener('click', e => {
      if (e.target === this.el) this.el.close();
    });
  }

  /** A button that opens the page of this rule. */
  link(rule: string): Child {
    if (!this.pages[rule]) return null;
    const title = `What this means, how it is known, what fixes it: rule ${rule}`;
    const props = { type: 'button', class: 'action', title, onclick: () => this.open(rule) };
    return h('button', props, 'About this rule');
  }

  private open(rule: string): void {
    const close = h('button', { type: 'button', onclick: () => this.el.close() }, 'Close');
    const [title, ...rest] = markup(this.pages[rule]);
    replace(
      this.el,
      h('div', { class: 'help-head' }, title, close),
      ...rest,
      command(`strata explain ${rule}`, 'Prints this page'),
    );
    this.el.showModal();
    this.el.scrollTop = 0;
  }
}
