// What a page may hold besides a timeline: an offload plan as a tab, a roofline as a page.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { counts, data } from './kit.mjs';

export const tests = [
  [
    'the offload plan is drawn: a line a series, a dot a way to run it',
    async kit => {
      const path = kit.html('report', join(data, 'offload', 'pageable_stream_all.json.gz'));
      const { offload } = kit.head(path);
      const page = await kit.open(path);
      await page.locator('#tab-offload').click();
      await counts(page.locator('.plot-line'), offload.series.length);
      await counts(page.locator('.plot-dot'), offload.marks.length + 1);
      await counts(page.locator('.plots tbody tr'), offload.marks.length + 1);
      await page.locator('.plot-dot').last().focus();
      assert.match(await page.locator('#tooltip').innerText(), /as it is/);
    },
  ],

  [
    'the roofline: a roof a precision, a dot a kernel that has one, every verdict in words',
    async kit => {
      const trace = join(data, 'dive', 'kernels.json.gz');
      const path = kit.html('dive', trace, '--ncu', join(data, 'dive', 'h200_full_raw.csv'));
      const { dive } = kit.head(path);
      const page = await kit.open(path);
      const placed = dive.roofline.points.filter(p => p.ai_flop_per_byte && p.gflops);
      await counts(page.locator('.plot-dot'), placed.length);
      await counts(page.locator('.plot-line'), new Set(placed.map(p => p.precision)).size);
      const first = dive.kernels.find(k => k.advice);
      const top = await page.locator('.hero').innerText();
      assert.match(await page.locator('h1').innerText(), /26\.5.% of the GPU time and is limited by/);
      for (const part of [first.short_name, first.advice]) assert.ok(top.includes(part), top);
      const text = await page.locator('.verdicts').innerText();
      for (const k of dive.kernels) {
        assert.ok(text.includes(k.short_name), k.short_name);
        for (const sign of k.signs) assert.ok(text.includes(sign.text), sign.text);
        if (k.advice) assert.ok(text.includes(k.advice), k.advice);
      }
    },
  ],
];
