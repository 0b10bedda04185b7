// What a page may hold besides a timeline: an offload plan as a tab, a roofline as a page.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { data } from './kit.mjs';

export const tests = [
  [
    'the offload plan is drawn: a line a series, a dot a way to run it',
    async kit => {
      const path = kit.html('report', join(data, 'offload', 'pageable_stream_all.json.gz'));
      const { offload } = kit.head(path);
      const page = await kit.open(path);
      await page.locator('#tab-offload').click();
      assert.equal(await page.locator('.plot-line').count(), offload.series.length);
      assert.equal(await page.locator('.plot-dot').count(), offload.marks.length + 1);
      assert.equal(await page.locator('.plots tbody tr').count(), offload.marks.length + 1);
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
      assert.equal(await page.locator('.plot-dot').count(), placed.length);
      assert.equal(
        await page.locator('.plot-line').count(),
        new Set(placed.map(p => p.precision)).size,
      );
      const text = await page.locator('.verdicts').innerText();
      for (const k of dive.kernels) {
        assert.ok(text.includes(k.short_name), k.short_name);
        for (const sign of k.signs) assert.ok(text.includes(sign.text), sign.text);
        if (k.advice) assert.ok(text.includes(k.advice), k.advice);
      }
    },
  ],
];
