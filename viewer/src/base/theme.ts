// theme.ts: light or dark. Follows the system until the reader chooses.

import { remember, remembered } from './remember';
import { Signal } from './signal';

export type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');

const kept = remembered('theme');

export const theme = new Signal<Theme>(
  kept === 'dark' || kept === 'light' ? kept : system.matches ? 'dark' : 'light',
);

function apply(value: Theme): void {
  document.documentElement.dataset.theme = value;
}

export function startTheme(): void {
  apply(theme.value);
  theme.on(apply);
  let chosen = kept !== null;
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
  remember('theme', theme.value);
}

/** The value of a CSS custom property, for what is painted on a canvas. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
