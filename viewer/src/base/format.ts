// format.ts: numbers for people. Three significant digits, unit glued on with a thin space, the
// same rules as the command's output. Only the formatting happens here; the numbers come from C.

const THIN = '\u202f';

function digits(value: number): string {
  const a = Math.abs(value);
  if (a >= 1000) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(a >= 100 || a === 0 ? 0 : a >= 10 ? 1 : 2);
}

export function count(n: number | null | undefined): string {
  return n === null || n === undefined
    ? '–'
    : Math.round(n * 100) / 100 === Math.round(n)
      ? Math.round(n).toLocaleString('en-US')
      : digits(n);
}

export function ns(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const a = Math.abs(value);
  if (a < 1000) return Math.round(value) + THIN + 'ns';
  if (a < 999.5e3) return digits(value / 1e3) + THIN + 'µs';
  if (a < 999.5e6) return digits(value / 1e6) + THIN + 'ms';
  return digits(value / 1e9) + THIN + 's';
}

export const us = (value: number | null | undefined): string =>
  ns(value === null || value === undefined ? value : value * 1000);

/** A moment: as many digits as the width of the view can show. */
export function moment(t: number, span = 0): string {
  if (span >= 5e8) return (t / 1e9).toFixed(span >= 5e9 ? 2 : 3) + THIN + 's';
  if (span >= 5e5) return (t / 1e6).toFixed(span >= 5e7 ? 1 : 2) + THIN + 'ms';
  return (t / 1e6).toFixed(4) + THIN + 'ms';
}

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return '–';
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let i = 0;
  let v = n;
  while (Math.abs(v) >= 999.5 && i < units.length - 1) {
    v /= 1000;
    i++;
  }
  return (i ? digits(v) : String(Math.round(v))) + THIN + units[i];
}

export function pct(n: number | null | undefined): string {
  if (n === null || n === undefined) return '–';
  return (
    n
      .toFixed(Math.abs(n) < 99.95 || n === 100 ? 1 : 2)
      .replace(/\.0$/, n === 0 || n === 100 ? '' : '.0') +
    THIN +
    '%'
  );
}

/** Shortens in the middle: both ends stay. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 4) return text.slice(0, Math.max(0, max));
  const tail = Math.floor((max - 1) * 0.4);
  return text.slice(0, max - 1 - tail) + '…' + (tail ? text.slice(-tail) : '');
}

/** Names in a trace may contain control characters and direction marks; shown text must not. */
export function clean(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');
}
