// The ladder: the wall time after each fix as bars; a rung shows its evidence.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { counts, data, settled, traces } from './kit.mjs';

const small = join(data, 'matmul_add', '64_bf16_warm_eager.json.gz');

export const tests = [
  [
    'a bar for every rung, as long as the wall time it stands for',
    async kit => {
      const { ladder } = kit.json('report', traces.before);
      assert.ok(ladder.length >= 4 && ladder.filter(r => r.kind === 'fix').length <= 5);
      const page = await kit.open(kit.html('report', traces.before));
      const bars = await page.evaluate(() =>
        [...document.querySelectorAll('.rung')].map(el => ({
          name: el.querySelector('.rung-words').textContent,
          share:
            el.querySelector('.rung-bar').getBoundingClientRect().width /
            el.querySelector('.rung-track').getBoundingClientRect().width,
        })),
      );
      assert.deepEqual(
        bars.map(b => b.name),
        ladder.map(r => r.name),
      );
      bars.forEach((b, i) =>
        assert.ok(Math.abs(b.share - ladder[i].wall_us / ladder[0].wall_us) < 0.02, b.name),
      );
    },
  ],

  [
    'fixes that gain too little are no rungs',
    async kit => {
      const { ladder, answer } = kit.json('report', traces.wan);
      const slight = ladder.filter(r => r.kind === 'fix' && r.gain_pct < answer.worth_pct);
      assert.ok(slight.length);
      const page = await kit.open(kit.html('report', traces.wan));
      await counts(page.locator('.rung'), ladder.length - slight.length);
      await counts(page.locator('.rung[data-finding]'), 0);
    },
  ],

  [
    'a rung opens its finding and lands on the evidence',
    async kit => {
      const path = kit.html('report', traces.before);
      const { ladder } = kit.json('report', traces.before);
      const { stories } = kit.head(path).sets[0].page;
      const second = ladder.filter(r => r.finding)[1];
      for (const colorScheme of ['light', 'dark']) {
        const page = await kit.open(path, { colorScheme });
        await counts(page.locator('.rung[aria-current=true]'), 0);
        const rung = page.locator(`.rung[data-finding="${second.finding}"]`);
        await rung.focus();
        await page.keyboard.press('Enter');
        const [a, b] = await settled(page);
        const step = stories[second.finding - 1].steps[0];
        assert.ok(Math.abs((a + b) / 2 - (step.t0_ns + step.t1_ns) / 2) < b - a, `${a}, ${b}`);
        assert.equal(
          await page
            .locator('.finding-head')
            .nth(second.finding - 1)
            .getAttribute('aria-expanded'),
          'true',
        );
        assert.equal(await rung.getAttribute('aria-current'), 'true');
        await page.keyboard.press('Escape');
        await counts(page.locator('.rung[aria-current=true]'), 0);
      }
    },
  ],

  [
    'an idle GPU without findings is explained, not passed over',
    async kit => {
      const report = kit.json('report', small);
      assert.ok(report.no_gain_reason && report.idle_causes.length);
      const page = await kit.open(kit.html('report', small));
      const text = await page.locator('.idle').innerText();
      assert.ok(text.includes(report.no_gain_reason), text);
      for (const cause of report.idle_causes) assert.ok(text.includes(cause.what), cause.what);
      await counts(page.getByText('Nothing to fix'), 0);
    },
  ],

  [
    'a finding says what it takes and what each way gains',
    async kit => {
      const path = join(data, 'torch', 'gpu_deep_queue.json.gz');
      const { findings } = kit.json('report', path);
      const number = findings.findIndex(f => f.options.length);
      assert.ok(number >= 0);
      const page = await kit.open(kit.html('report', path));
      await page.locator('.finding-head').nth(number).click();
      const card = page.locator('.finding').nth(number);
      assert.match(await card.locator('.effort').innerText(), /^effort: \w+/);
      const rows = await card.locator('.options tr').allInnerTexts();
      assert.equal(rows.length, findings[number].options.length);
      assert.match(rows[0], /CUDA graphs/);
      findings[number].options.forEach((o, i) => assert.ok(rows[i].includes(o.gain_pct.toFixed(1)), rows[i]));
    },
  ],
];
