// Two traces on one page: aligned, moving together, with what changed between them.
import assert from 'node:assert/strict';
import { close, settled, traces, view } from './kit.mjs';

export const tests = [
  [
    'says what the command says',
    async kit => {
      const diff = kit.json('diff', traces.before, traces.after);
      const page = await kit.open(kit.html('diff', traces.before, traces.after));
      assert.equal(await page.locator('canvas.over').count(), 2);
      const top = await page.locator('.top').innerText();
      assert.ok(top.includes(Math.abs(diff.wall.change_pct).toFixed(1)), top);
      const side = await page.locator('.findings').innerText();
      const parts = diff.parts.filter(p => p.name).slice(0, 3);
      for (const part of parts) assert.ok(side.includes(part.name), part.name);
      for (const site of diff.syncs.removed) assert.ok(side.includes(site.what), site.what);
      await page.locator('#tab-stages').click();
      assert.equal(await page.locator('.panel tbody tr').count(), diff.stages.length);
    },
  ],

  [
    'the same step lies under the same step',
    async kit => {
      const path = kit.html('diff', traces.before, traces.after);
      const { sets, align } = kit.head(path);
      assert.equal(align.by, 'step');
      const page = await kit.open(path);
      const [i, j] = align.pairs[5];
      const [a, b] = [sets[0].page.steps[i], sets[1].page.steps[j]];
      await page.evaluate(t => {
        location.hash = t;
      }, `#t=${a.t0_ns},${a.t1_ns}`);
      await page.waitForFunction(
        t => document.querySelector('canvas.over').dataset.view === t,
        `${a.t0_ns},${a.t1_ns}`,
      );
      const [c] = await settled(page, 1);
      assert.ok(Math.abs(c - b.t0_ns) < 2, `${c} is not ${b.t0_ns}`);
      const [x0, x1] = await view(page, 0);
      const [y0, y1] = await view(page, 1);
      close(x1 - x0, y1 - y0, 1e-6);
    },
  ],

  [
    'moves together until told not to',
    async kit => {
      const page = await kit.open(kit.html('diff', traces.before, traces.after));
      const box = await page.locator('canvas.over').nth(1).boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height - 10);
      await page.mouse.wheel(0, -800);
      const [a, b] = await settled(page, 0);
      const [c, d] = await settled(page, 1);
      close(b - a, d - c, 1e-6);
      await page.locator('.toggle', { hasText: 'Aligned' }).click();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height - 10);
      await page.mouse.wheel(0, -800);
      await settled(page, 1);
      assert.deepEqual(await view(page, 0), [a, b]);
    },
  ],
];
