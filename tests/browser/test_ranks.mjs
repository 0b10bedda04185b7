// The page of many ranks: who is late, rows on one clock, the critical path; figures are those of the command.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, counts, data } from './kit.mjs';

const slow = join(data, 'comm', 'slow_rank');

/** Boxes of a path: x and width. */
const boxes = d => [...d.matchAll(/M([\d.]+),[\d.]+h([\d.]+)/g)].map(m => [Number(m[1]), Number(m[2])]);

async function widths(page, rank, kind) {
  const d = await page.locator(`g[data-rank="${rank}"] .ranks-${kind}`).getAttribute('d');
  return boxes(d ?? '').reduce((sum, [, w]) => sum + w, 0);
}

export const tests = [
  [
    'a row per rank, waiting as long as measured, the late one marked',
    async kit => {
      const page = await kit.open(kit.html('report', slow));
      const { chart } = kit.head(kit.html('report', slow)).ranks;
      await counts(page.locator('g[data-rank]'), 4);
      assert.match(await page.locator('.ranks-verdict').textContent(), /Rank 2 is late by 1\.40.ms/);
      assert.match(await page.locator('h1').innerText(), /^Rank 2 is the straggler/);
      assert.match(await page.locator('.ranks-verdict.opp-large').innerText(), /968 us.*\(−17.1.%\)/);
      assert.match(await page.locator('.ranks-chart b').first().textContent(), /steps 1 to 3 of 5/);
      const whole = Number(await page.locator('g[data-rank="0"] .ranks-idle').getAttribute('width'));
      const waits = chart.collectives.reduce((sum, c) => sum + c.arrivals[0][2], 0);
      assert.ok(waits > 0);
      close((await widths(page, 0, 'wait')) / whole, waits / chart.length_ns, 0.02);
      assert.ok((await widths(page, 2, 'wait')) < 2);
      // six all-reduces in three steps, all late on rank 2
      const marks = page.locator('.ranks-late[data-seq]');
      await counts(marks, 6);
      const row = await page.locator('g[data-rank="2"] .ranks-idle').boundingBox();
      for (const mark of await marks.all()) {
        const box = await mark.boundingBox();
        assert.ok(box.y + box.height / 2 > row.y && box.y + box.height / 2 < row.y + row.height);
      }
    },
  ],
  [
    'the critical path is drawn and listed; rows and wheel move the view',
    async kit => {
      const page = await kit.open(kit.html('report', slow));
      const all = kit.json('report', slow).critical_path;
      const rows = page.locator('#ranks-path tbody tr');
      await counts(rows, 6);
      assert.match(await rows.nth(1).textContent(), new RegExp(`${Math.round(all[1].own_us)}.us`));
      await counts(page.locator('.ranks-path[d]'), 1);
      const svg = page.locator('.ranks-chart svg');
      const view = async () => (await svg.getAttribute('data-view')).split(',').map(Number);
      const before = await view();
      await rows.nth(2).click();
      const zoomed = await view();
      assert.ok(zoomed[1] - zoomed[0] < (before[1] - before[0]) / 2);
      await svg.focus();
      await page.keyboard.press('0');
      assert.deepEqual(await view(), before);
      const box = await svg.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + 60);
      assert.match(await page.locator('.tooltip').textContent(), /rank 0/);
      await page.mouse.wheel(0, -100);
      const near = await view();
      assert.ok(near[1] - near[0] < before[1] - before[0]);
    },
  ],
  [
    'in one trace communication has a lane: exposed or hidden',
    async kit => {
      const trace = join(slow, 'rank0.json');
      const page = await kit.open(kit.html('report', trace));
      const label = page.locator('.track-label', { hasText: /^communication$/ });
      const lane = await label.boundingBox();
      const canvas = await page.locator('canvas.over').first().boundingBox();
      const [t0, t1] = (await page.locator('canvas.over').first().getAttribute('data-view'))
        .split(',')
        .map(Number);
      // of the first step: beside compute, alone, nothing
      const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8'));
      const kernels = traceEvents.filter(e => e.cat === 'kernel');
      const first = Math.min(...traceEvents.map(e => e.ts ?? Infinity));
      const ncclOf = kernels.filter(k => k.name.startsWith('nccl')).slice(0, 2);
      const compute = kernels.filter(k => !k.name.startsWith('nccl') && k.ts < ncclOf[1].ts);
      const until = Math.max(...compute.map(k => k.ts + k.dur));
      for (const [at, words] of [
        [(3 * ncclOf[0].ts + until) / 4, /^0.*communication not overlapped100.*communication/],
        [ncclOf[1].ts + ncclOf[1].dur / 2, /^100.*communication not overlapped100.*communication/],
        [ncclOf[0].ts - 50, /^0.*communication not overlapped0.*communication/],
      ]) {
        const x = canvas.x + (((at - first) * 1000 - t0) / (t1 - t0)) * canvas.width;
        await page.mouse.move(x, lane.y + lane.height / 2);
        assert.match(await page.locator('.tooltip').textContent(), words);
      }
    },
  ],
  [
    'ranks without a collective, and hostile names',
    async kit => {
      const evil = '<img src=x onerror="window.pwned=1">';
      const folder = join(kit.folder, 'evil');
      mkdirSync(folder);
      for (let r = 0; r < 4; r++) {
        const text = readFileSync(join(slow, `rank${r}.json`), 'utf8');
        const hostile = text.replaceAll('gemm_backward', JSON.stringify(evil).slice(1, -1));
        writeFileSync(join(folder, `rank${r}.json`), hostile.replaceAll('default_pg', '</script><b>'));
      }
      const page = await kit.open(kit.html('report', '--ranks', folder), { colorScheme: 'dark' });
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      assert.match(await page.locator('.ranks-verdict').textContent(), /img src=x/);
      await counts(page.locator('main img'), 0);
      const apart = join(kit.folder, 'apart');
      mkdirSync(apart);
      for (const r of [0, 1])
        cpSync(join(data, 'torch', 'plain.json.gz'), join(apart, `rank${r}.json.gz`));
      const plain = await kit.open(kit.html('report', '--ranks', apart));
      assert.match(await plain.locator('.ranks-verdict').textContent(), /share no collective/);
      await counts(plain.locator('.ranks-chart'), 0);
      await counts(plain.locator('#ranks-ranks tbody tr'), 2);
    },
  ],
];
