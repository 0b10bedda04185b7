// Tables sort, filter and lead to the timeline.
import assert from 'node:assert/strict';
import { settled, traces, view } from './kit.mjs';

const column = (page, n) => page.locator(`.panel tbody td:nth-child(${n})`).allInnerTexts();

export const tests = [
  [
    'sorted by a click, both ways',
    async kit => {
      const rows = kit.json('kernels', traces.wan).rows;
      const page = await kit.open(kit.html('report', traces.wan));
      await page.locator('#tab-kernels').click();
      assert.equal((await column(page, 3)).length, rows.length);
      await page.locator('.panel th', { hasText: 'calls' }).locator('button').click();
      const down = (await column(page, 3)).map(t => Number(t.replaceAll(',', '')));
      assert.deepEqual(
        down,
        rows.map(r => r.calls).sort((a, b) => b - a),
      );
      await page.locator('.panel th', { hasText: 'calls' }).locator('button').click();
      assert.deepEqual(
        (await column(page, 3)).map(t => Number(t.replaceAll(',', ''))),
        down.reverse(),
      );
      assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'ascending');
    },
  ],

  [
    'columns are those that the program declares, in their order',
    async kit => {
      const path = kit.html('report', traces.wan);
      const { columns } = kit.head(path);
      const page = await kit.open(path);
      const lists = { stages: ['stages'], kernels: ['kernels'], gaps: ['gaps', 'gap_causes'] };
      for (const [tab, names] of Object.entries(lists)) {
        await page.locator(`#tab-${tab}`).click();
        const heads = await page.locator('.panel th').allInnerTexts();
        assert.deepEqual(
          heads.map(t => t.replace(/\s*[▾▴]$/, '')),
          names.flatMap(n => columns[n].map(c => c[1])),
        );
      }
    },
  ],

  [
    'filtered by a word',
    async kit => {
      const rows = kit.json('table', traces.wan).rows.filter(r => r.name.includes('addmm'));
      const page = await kit.open(kit.html('report', traces.wan));
      await page.locator('#tab-ops').click();
      await page.locator('.panel input').fill('ADDMM');
      const names = await column(page, 1);
      assert.equal(names.length, rows.length);
      assert.ok(names.every(n => n.includes('addmm')));
      await page.locator('.panel input').fill('no such thing');
      assert.match(await page.locator('.panel tbody').innerText(), /No row/);
    },
  ],

  [
    'every table leads to the timeline',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      for (const tab of ['stages', 'steps', 'kernels', 'ops', 'syncs', 'causes', 'gaps']) {
        await page.keyboard.press('Escape');
        await page.keyboard.press('0');
        const whole = await settled(page);
        await page.locator(`#tab-${tab}`).click();
        const row = page.locator('.panel tbody tr').last();
        await row.focus();
        await page.keyboard.press('Enter');
        const moved = String(await settled(page)) !== String(whole);
        assert.ok(moved || (await page.locator('.details').isVisible()), tab);
      }
    },
  ],

  [
    'charts draw every step and every bucket',
    async kit => {
      const path = kit.html('report', traces.before);
      const { page: data, steps } = kit.head(path).sets[0];
      const page = await kit.open(path);
      await page.locator('#tab-charts').click();
      const bars = await page
        .locator('.chart')
        .evaluateAll(list => list.map(c => c.querySelectorAll('.bar-item').length));
      assert.ok(bars.includes(steps.steps.length), `${bars}`);
      assert.ok(bars.includes(data.gap_histogram.length), `${bars}`);
      const whole = await view(page);
      await page.locator('.bar-item.jumps').nth(3).click();
      assert.notDeepEqual(await settled(page), whole);
    },
  ],
];
