// format.ts: numbers for people: three significant digits, unit glued on with a thin space. The same
// texts as those of the command and the Python package: tests/format_vectors.json holds them.
// Only the writing happens here; the numbers come from C.

const THIN = '\u202f';

/** As toFixed, but what lies exactly in the middle goes to the even digit, as everywhere else. */
function fixed(value: number, decimals: number): string {
  const scaled = Math.abs(value) * 10 ** decimals;
  if (!Number.isInteger(value * 8) || scaled % 1 !== 0.5) return value.toFixed(decimals);
  const even = 2 * Math.round(scaled / 2);
  return (((value < 0 ? -1 : 1) * even) / 10 ** decimals).toFixed(decimals);
}

function digits(value: number): string {
  const a = Math.abs(value);
  return fixed(value, a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

/** A number of things, and means of such numbers. */
export function count(n: number | null | undefined): string {
  if (n === null || n === undefined) return '–';
  const whole = Math.round(n);
  return Math.abs(n - whole) < 0.005 || Math.abs(n) >= 999.5
    ? whole.toLocaleString('en-US')
    : digits(n);
}

export function ns(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const a = Math.abs(value);
  if (a < 0.5) return '0';
  if (a < 999.5) return Math.round(value) + THIN + 'ns';
  if (a < 999.5e3) return digits(value / 1e3) + THIN + 'us';
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

/** Sizes in powers of ten. */
export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
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
  const v = Math.abs(n) < 0.05 ? 0 : n;
  return fixed(v, Math.abs(v) >= 99.95 ? 0 : 1) + THIN + '%';
}

/** What a fix takes off the wall time: "−93 %". One digit behind the point only where it tells. */
export function gain(percent: number): string {
  const v = Math.max(0, percent);
  if (v > 0 && v < 0.05) return '<' + THIN + '0.1' + THIN + '%';
  const text = fixed(v, v < 9.95 ? 1 : 0).replace(/\.0$/, '');
  return (v > 0 ? '−' : '') + text + THIN + '%';
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
