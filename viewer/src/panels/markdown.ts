// markdown.ts: a report or one of its findings as text to paste into an issue or a chat.

import { gain } from '../base/format';
import { inPrint, isWorth } from '../data/answer';
import type { Finding, Report } from '../data/head';
import { sourceText } from '../data/source';

const plain = (text: string): string => text.replace(/\u202f/g, ' ');
const code = (text: string): string => '`' + text.replace(/`/g, "'") + '`';

export function gainText(f: Finding): string {
  return f.predicts_gain ? gain(f.predicted_gain_pct) : 'gain unknown';
}

export function findingMarkdown(f: Finding, number: number): string {
  const where = [f.subject, sourceText(f.source)].filter(Boolean).map(x => code(x!));
  const lines = [
    `${number + 1}. **${gainText(f)}** ${f.title}` + (where.length ? ` (${where.join(', ')})` : ''),
    `   ${f.brief}`,
    `   **Fix:** ${f.fix}` + ` Effort: ${f.effort_words}.`,
    `   Rule ${code(f.rule)}; see ${code('strata explain ' + f.rule)}.`,
  ];
  return plain(lines.join('\n')) + '\n';
}

export function reportMarkdown(title: string, report: Report): string {
  const { answer } = report;
  const worth = report.findings
    .map((f, i): [Finding, number] => [f, i])
    .filter(([f]) => isWorth(f))
    .map(([f, i]) => findingMarkdown(f, i));
  const slow = answer.not_slow.map(x => `- ${x.what} ${code(sourceText(x.source))}`);
  const parts = [
    `**${code(title)}: ${inPrint(answer.headline)}**`,
    [answer.detail, answer.state].filter(Boolean).join(' '),
    ...worth,
    slow.length ? 'Looks slow and is not:\n' + slow.join('\n') : '',
  ];
  return plain(parts.filter(Boolean).join('\n\n')) + '\n';
}
