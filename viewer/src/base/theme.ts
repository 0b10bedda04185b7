// theme.ts: light or dark. Follows the system until the reader chooses; the choice lives as long as
// the page does, because a page opened from a file has nowhere to remember it.

import { Signal } from './signal';

export type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');

export const theme = new Signal<Theme>(system.matches ? 'dark' : 'light');

function apply(value: Theme): void {
  document.documentElement.dataset.theme = value;
}

export function startTheme(): void {
  apply(theme.value);
  theme.on(apply);
  let chosen = false;
  theme.on(() => {
    chosen = true;
  });
  system.addEventListener('change', () => {
    if (chosen) return;
    theme.set(system.matches ? 'dark' : 'light');
    chosen = false;
  });
}

export function toggleTheme(): void {
  theme.set(theme.value === 'dark' ? 'light' : 'dark');
}

/** The value of a CSS custom property, for what is painted on a canvas. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
