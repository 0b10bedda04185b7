// main.ts: reads the data out of the page and shows it.

import { followTerms, setGlossary } from './base/glossary';
import { startTheme } from './base/theme';
import { readHead, readSets } from './data/load';
import { diffPage } from './diff/diff_page';
import { flamePage } from './flame/flame_page';
import { printLight } from './panels/paper';
import { documentPage } from './panels/documents';
import { problem } from './panels/title';
import { ranksPage } from './ranks/ranks_page';
import { reportPage } from './report_page';
import { setColumns } from './tables/columns';

async function main(): Promise<void> {
  const app = document.getElementById('app')!;
  startTheme();
  printLight();
  try {
    const head = readHead();
    setGlossary(head.glossary);
    setColumns(head.columns);
    document.title = `${head.title} – Strata`;
    const sets = await readSets(head);
    if (head.flame) flamePage(app, head, head.flame);
    else if (head.ranks) ranksPage(app, head, head.ranks);
    else if (!sets.length) documentPage(app, head);
    else if (head.kind === 'diff') diffPage(app, { head, sets });
    else reportPage(app, { head, sets });
    followTerms(app);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        performance.mark('strata-interactive');
        document.documentElement.dataset.ready = 'true';
      }),
    );
  } catch (e) {
    app.replaceChildren(problem(e instanceof Error ? e.message : String(e)));
    document.documentElement.dataset.ready = 'failed';
    throw e;
  }
}

void main();
