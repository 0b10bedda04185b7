// Moving about on the timeline, by wheel, by hand, by key, by address.
import assert from 'node:assert/strict';
import { close, settled, traces, view } from './kit.mjs';

const width = async page => (await page.locator('canvas.over').boundingBox()).width;

async function middle(page) {
  const box = await page.locator('canvas.over').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  return box;
}

const same = (x, y) => x.forEach((v, k) => assert.ok(Math.abs(v - y[k]) < 1, `${x} is not ${y}`));

export const tests = [
  [
    'the wheel zooms at the pointer',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      const box = await page.locator('canvas.over').boundingBox();
      const [a, b] = await view(page);
      await page.mouse.move(box.x + box.width / 4, box.y + 120);
      await page.mouse.wheel(0, -600);
      await page.mouse.wheel(0, -600);
      const [c, d] = await settled(page);
      assert.ok(d - c < (b - a) / 2, `${d - c} of ${b - a}`);
      close(c + (d - c) / 4, a + (b - a) / 4);
      await page.mouse.wheel(0, 3000);
      await page.mouse.wheel(0, 3000);
      await page.mouse.wheel(0, 3000);
      same(await settled(page), [a, b]);
    },
  ],

  [
    'dragging moves what is under the hand',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      await middle(page);
      await page.mouse.wheel(0, -900);
      const [a, b] = await settled(page);
      await page.mouse.down();
      await page.mouse.move(200 + (await page.locator('canvas.over').boundingBox()).x, 400, {
        steps: 5,
      });
      await page.mouse.up();
      const [c, d] = await settled(page);
      close(d - c, b - a, 1e-6);
      const moved = ((await width(page)) / 2 - 200) / (await width(page));
      close(c - a, moved * (b - a), 0.05);
    },
  ],

  [
    'W A S D zoom and pan',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      const [a, b] = await view(page);
      await page.keyboard.press('w', { delay: 150 });
      const [c, d] = await settled(page);
      assert.ok(d - c < b - a);
      await page.keyboard.press('d', { delay: 150 });
      const [e, f] = await settled(page);
      assert.ok(e > c);
      close(f - e, d - c, 1e-6);
      await page.keyboard.press('a', { delay: 300 });
      assert.ok((await settled(page))[0] < e);
      await page.keyboard.press('s', { delay: 150 });
      const [g, h] = await settled(page);
      assert.ok(h - g > f - e);
      await page.keyboard.press('0');
      same(await settled(page), [a, b]);
    },
  ],

  [
    'a link leads to its moment and its span',
    async kit => {
      const path = kit.html('report', traces.before);
      const page = await kit.open(path, { hash: '#t=1000000,3000000&s=5' });
      assert.deepEqual(await view(page), [1000000, 3000000]);
      assert.ok(await page.locator('.details .span-name').isVisible());
      await page.keyboard.press('d', { delay: 100 });
      const [a, b] = await settled(page);
      await page.waitForFunction(
        t => location.hash.includes(t),
        `t=${Math.round(a)},${Math.round(b)}`,
      );
      assert.match(await page.evaluate(() => location.hash), /&s=5$/);
    },
  ],

  [
    'search counts, jumps and comes round',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      const syncs = kit
        .json('table', traces.wan)
        .rows.find(r => r.name === 'aten::nonzero' && r.device === 'cpu');
      await page.keyboard.press('/');
      await page.keyboard.type('aten::nonzero');
      await page.waitForFunction(
        n => document.querySelector('.search-count').textContent === n,
        String(syncs.calls),
      );
      const seen = new Set();
      for (let k = 0; k <= syncs.calls; k++) {
        await page.keyboard.press('Enter');
        await settled(page);
        assert.equal(
          await page.locator('.search-count').innerText(),
          `${(k % syncs.calls) + 1} of ${syncs.calls}`,
        );
        seen.add(await page.evaluate(() => document.querySelector('.facts dd').textContent));
        assert.match(await page.locator('.details .span-name').innerText(), /aten::nonzero/);
      }
      assert.equal(seen.size, syncs.calls);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.search-count').isVisible(), false);
    },
  ],

  [
    'comma and full stop step along a row',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      const at = () =>
        page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get('s') ?? -1));
      const moves = async (key, from) => {
        await page.keyboard.press(key);
        await page.waitForFunction(
          s => Number(new URLSearchParams(location.hash.slice(1)).get('s') ?? -1) !== s,
          from,
        );
        return at();
      };
      const first = await moves('.', -1);
      const second = await moves('.', first);
      const third = await moves('.', second);
      assert.ok(first < second && second < third);
      assert.equal(await moves(',', third), second);
    },
  ],

  [
    'a kernel shows its launch, its waits and its chain; G goes there and back',
    async kit => {
      const path = kit.html('report', traces.wan);
      const page = await kit.open(path);
      await page.keyboard.press('/');
      await page.keyboard.type('cudnn_generated_fort_native_sdpa');
      await page.keyboard.press('Enter');
      await settled(page);
      await page.locator('canvas.over').focus();
      const facts = await page.locator('.facts').innerText();
      for (const word of ['Launch delay', 'Queue wait', 'Queue depth', 'Grid', 'Correlation'])
        assert.ok(facts.includes(word), word);
      const chain = await page.locator('.chain').innerText();
      for (const word of [
        'pipeline_call',
        'transformer_forward',
        'aten::_cudnn_attention_forward',
        'cuLaunchKernel',
      ])
        assert.ok(chain.includes(word), `${word} in ${chain}`);
      await page.keyboard.press('g');
      await settled(page);
      assert.match(await page.locator('.details .span-name').innerText(), /LaunchKernel/);
      await page.keyboard.press('g');
      await settled(page);
      assert.match(await page.locator('.details .span-name').innerText(), /cudnn_generated/);
    },
  ],

  [
    'a range adds up to what the commands say',
    async kit => {
      const page = await kit.open(kit.html('report', traces.before));
      const kernels = kit.json('kernels', traces.before).rows.filter(r => r.kind === 'kernel');
      await page.keyboard.press('m');
      const sums = await page.locator('.sums').innerText();
      const calls = kernels.reduce((n, r) => n + r.calls, 0);
      assert.ok(sums.includes(calls.toLocaleString('en-US')), `${calls} in ${sums}`);
      const top = kernels.sort((a, b) => b.total_us - a.total_us)[0];
      const row = page
        .locator('.sum-list')
        .first()
        .locator('tbody tr', { hasText: top.calls.toLocaleString('en-US') });
      assert.ok((await row.count()) > 0);
      await page.keyboard.press('Escape');
      await page.locator('.sums').waitFor({ state: 'detached' });
      const box = await page.locator('canvas.over').boundingBox();
      await page.keyboard.down('Shift');
      await page.mouse.move(box.x + 300, box.y + 150);
      await page.mouse.down();
      await page.mouse.move(box.x + 500, box.y + 150, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up('Shift');
      await page.locator('.sums h3', { hasText: 'Range of' }).waitFor();
    },
  ],

  [
    'Python frames can be hidden, tracks folded',
    async kit => {
      const page = await kit.open(kit.html('report', traces.wan));
      const tall = async () =>
        (await page.locator('.track-name', { hasText: 'thread 1213' }).boundingBox()).height;
      // sixty rows of Python would hide what else there is
      const without = await tall();
      await page.keyboard.press('p');
      const all = await tall();
      assert.ok(without < all / 2, `${without} of ${all}`);
      await page.keyboard.press('p');
      await page.locator('.track-name', { hasText: 'thread 1213' }).click();
      assert.ok((await tall()) < without);
    },
  ],

  [
    'idle time of the GPU is hatched; few hues from afar, families when near',
    async kit => {
      const path = kit.html('report', traces.before);
      const { gaps } = kit.head(path).sets[0].page;
      const longest = gaps.reduce((a, b) => (b.t1_ns - b.t0_ns > a.t1_ns - a.t0_ns ? b : a));
      const pad = (longest.t1_ns - longest.t0_ns) / 2;
      const page = await kit.open(path, {
        hash: `#t=${longest.t0_ns - pad},${longest.t1_ns + pad}`,
      });
      /** Colours of the row of the stream, in a part of its width. */
      const colors = (from, to) =>
        page.evaluate(
          ([from, to]) => {
            const canvas = document.querySelector('canvas.spans');
            const label = [...document.querySelectorAll('.track-name')].find(el =>
              /stream 7/.test(el.textContent),
            );
            const box = label.getBoundingClientRect();
            const y = box.top + 2 - canvas.getBoundingClientRect().top;
            const x = Math.round(from * canvas.width);
            const width = Math.max(1, Math.round((to - from) * canvas.width));
            const { data } = canvas
              .getContext('2d')
              .getImageData(x, Math.round(y), width, Math.round(box.height) - 6);
            const seen = new Map();
            for (let i = 0; i < data.length; i += 4) {
              const [r, g, b] = data.subarray(i, i + 3);
              const grey = Math.max(r, g, b) - Math.min(r, g, b) < 26;
              const key = grey ? (r < 215 ? 'line' : 'ground') : b > r + 40 ? 'blue' : 'other';
              seen.set(key, (seen.get(key) ?? 0) + 1);
            }
            return Object.fromEntries(seen);
          },
          [from, to],
        );
      const idle = await colors(0.3, 0.4);
      assert.ok(idle.line > 50 && idle.ground > 100 && !idle.blue, JSON.stringify(idle));
      const legend = () => page.locator('.legend').innerText();
      await page.keyboard.press('0');
      await settled(page);
      assert.match(await legend(), /GPU compute[^]*GPU idle[^]*CPU waits/);
      await page.locator('canvas.over').focus();
      await page.keyboard.press('.');
      await page.keyboard.press('f');
      await settled(page);
      await page.waitForFunction(() => /GEMM/.test(document.querySelector('.legend').innerText));
    },
  ],
];
