// Two traces on one page: aligned, moving together, with what changed between them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { close, counts, settled, traces, view } from './kit.mjs';

export const tests = [
  [
    'says what the command says',
    async kit => {
      const diff = kit.json('diff', traces.before, traces.after);
      const page = await kit.open(kit.html('diff', traces.before, traces.after));
      await counts(page.locator('canvas.over'), 2);
      const top = await page.locator('h1').innerText();
      assert.ok(top.includes(Math.abs(diff.wall.change_pct).toFixed(1)), top);
      // one run a side proves nothing, so nothing is green or red
      assert.equal(diff.statistics.verdict, 'unknown');
      const tones = await page.locator('.better, .worse, h1, .badge').evaluateAll(all =>
        all.map(el => {
          const [r, g, b] = getComputedStyle(el).color.match(/\d+/g).map(Number);
          return Math.max(r, g, b) - Math.min(r, g, b);
        }),
      );
      assert.ok(tones.length > 3 && tones.every(t => t < 40), `${tones}`);
      const [what] = diff.changed[0].what.split(',');
      assert.ok((await page.locator('.hero').innerText()).includes(`What changed: ${what}`));
      const side = await page.locator('.findings').innerText();
      assert.ok(side.indexOf(what) < side.indexOf(diff.parts[0].name), 'what changed comes first');
      assert.doesNotMatch(side, /^:/m);
      const parts = diff.parts.filter(p => p.name).slice(0, 3);
      for (const part of parts) assert.ok(side.includes(part.name), part.name);
      for (const site of diff.syncs.removed) assert.ok(side.includes(site.what), site.what);
      await page.locator('#tab-stages').click();
      await counts(page.locator('.panel tbody tr'), diff.stages.length);
    },
  ],

  [
    'a proven difference has a colour',
    async kit => {
      const text = readFileSync(kit.html('diff', traces.before, traces.after), 'utf8');
      for (const [verdict, words, tone] of [
        ['faster', 'proven faster', 1],
        ['slower', 'proven slower', 0],
        ['no_difference', 'no difference', -1],
      ]) {
        const told = text.replace('"verdict":"unknown"', `"verdict":"${verdict}"`);
        assert.notEqual(told, text);
        const page = await kit.open(kit.file(`${verdict}.html`, told));
        const badge = page.locator('.badge');
        assert.equal(await badge.innerText(), words);
        const rgb = await badge.evaluate(el => getComputedStyle(el).color.match(/\d+/g).map(Number));
        if (tone >= 0) assert.equal(rgb.indexOf(Math.max(...rgb)), tone, `${rgb}`);
        else assert.ok(Math.max(...rgb) - Math.min(...rgb) < 40, `${rgb}`);
      }
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
