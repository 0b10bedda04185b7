// remember.ts: what the reader chose last time. Browsers keep it for pages opened from a file, too, but
// not inside a closed frame: then nothing is remembered, and nothing breaks.

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem('strata.' + key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem('strata.' + key, value);
  } catch {
    // a frame without storage
  }
}
