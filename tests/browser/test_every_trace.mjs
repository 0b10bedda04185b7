// Every small trace of the tests has a page that opens: with and without devices, steps, stages,
// Python, memory, graphs, several streams and threads.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { data } from './kit.mjs';

const traces = readdirSync(join(data, 'torch'))
  .filter(name => name.endsWith('.json.gz') && !name.includes('.expected.'))
  .map(name => join(data, 'torch', name));

export const tests = [
  [
    `${traces.length} pages open, and every tab of each`,
    async kit => {
      for (const trace of traces) {
        const page = await kit.open(kit.html('report', trace));
        await page.evaluate(() => {
          document.querySelectorAll('[role=tab]').forEach(tab => tab.click());
          for (const key of ['.', 'm', '1', ']', 'Escape'])
            dispatchEvent(new KeyboardEvent('keydown', { key }));
        });
        await page.waitForTimeout(100);
        assert.ok((await page.locator('canvas.over').boundingBox()).height > 100, trace);
        assert.deepEqual(kit.troubles, [], trace);
        await page.close();
      }
    },
  ],
];
