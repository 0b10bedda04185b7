// source.ts: a place in the user's program as text.

import type { Source } from './head';

export function sourceText(source: Source | null | undefined): string {
  if (!source?.file) return source?.function ?? '';
  return source.line ? `${source.file}:${source.line}` : source.file;
}
