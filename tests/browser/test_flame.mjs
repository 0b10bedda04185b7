// Flame graphs: the page, and what the tools they are exported for make of them: speedscope itself in the
// browser, and pprof's format in a parser of others. Totals are those of the commands.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { close, counts, traces } from './kit.mjs';
import { hostile } from './test_hostile.mjs';

const require = createRequire(join(process.env.NODE_MODULES, 'index.js'));

function write(kit, name, trace, ...args) {
  const path = join(kit.folder, name);
  execFileSync(kit.strata, ['export', trace, '-o', path, ...args], { stdio: 'ignore' });
  return path;
}

/** Time by stack, frames joined as in the folded file. */
function folded(kit, trace, of) {
  const stacks = new Map();
  for (const line of readFileSync(write(kit, `${of}.folded`, trace, '--of', of), 'utf8').trim().split('\n')) {
    const blank = line.lastIndexOf(' ');
    const stack = line.slice(0, blank);
    stacks.set(stack, (stacks.get(stack) ?? 0) + Number(line.slice(blank + 1)));
  }
  return stacks;
}

const sum = values => [...values].reduce((a, b) => a + b, 0);
const word = (name, file, line) =>
  (file ? `${name} (${file}:${line})` : name).replace(/;/g, ':').replace(/[\u0000-\u001f]/g, ' ');

export const tests = [
  [
    'the page shows every frame, zooms and searches',
    async kit => {
      const page = await kit.open(write(kit, 'idle.html', traces.wan, '--of', 'idle'));
      const idle = sum(kit.json('gaps', traces.wan).devices.map(d => d.idle_us));
      const { flame } = kit.head(join(kit.folder, 'idle.html'));
      assert.equal(flame.total_ns, Math.round(idle * 1000));
      const boxes = page.locator('.flame-box');
      assert.ok((await boxes.count()) > 100);
      // as wide as its time
      const widths = await boxes.evaluateAll(all =>
        all.map(b => [Number(b.dataset.node), b.getBoundingClientRect().width]),
      );
      const [top, whole] = widths[0];
      const total = id => (id ? flame.nodes[id - 1].total_ns : flame.total_ns);
      for (const [id, width] of widths.slice(0, 200))
        close(width / whole, total(id) / total(top), 0.05);
      const target = page.locator('.flame-box', { hasText: '_set_context' }).first();
      const id = await target.getAttribute('data-node');
      await target.click();
      const zoomed = page.locator(`.flame-box[data-node="${id}"]`);
      close((await zoomed.boundingBox()).width, whole);
      await zoomed.hover();
      assert.match(await page.locator('.flame-where').textContent(), /_set_context.*hooks\.py:268: 16\.\d/);
      await page.keyboard.press('Escape');
      await page.fill('input[type=search]', 'named_modules');
      assert.ok((await page.locator('.flame-box.hit').count()) > 3);
      assert.match(await page.locator('.flame-found').textContent(), /ms, 2\d/);
    },
  ],
  [
    'begins where the time divides, with the frames above as a path, and switches between kinds of time',
    async kit => {
      const page = await kit.open(write(kit, 'fork.html', traces.wan));
      const full = async () => {
        const boxes = await page
          .locator('.flame-box')
          .evaluateAll(all => all.map(b => b.getBoundingClientRect().width));
        return boxes.filter(w => w > 0.98 * boxes[0]).length;
      };
      assert.equal(await full(), 1);
      const path = page.locator('.flame-path');
      assert.match(await path.innerText(), /^all[^]*22 frames[^]*run/);
      await path.locator('button', { hasText: 'frames' }).click();
      assert.ok((await path.locator('button').count()) > 25);
      await path.locator('button').first().click();
      assert.ok((await full()) > 20);
      for (const [name, of] of [
        ['CPU', 'cpu'],
        ['GPU idle', 'idle'],
        ['CPU waits', 'wait'],
        ['GPU', 'gpu'],
      ]) {
        await page.locator('.switch').getByText(name, { exact: true }).click();
        const { total_ns } = kit.json('export', traces.wan, '--to', 'flame', '--of', of);
        const seconds = total_ns >= 999.5e6 ? (total_ns / 1e9).toFixed(2) : (total_ns / 1e6).toFixed(1);
        assert.ok((await page.locator('h1').innerText()).includes(seconds), `${of} ${seconds}`);
        if (of === 'idle')
          assert.match(await page.locator('.answer-detail').innerText(), /_set_context .*hooks\.py:268: .*\(50\.1.%\)/);
      }
    },
  ],
  [
    'hostile names stay text',
    async kit => {
      const trace = kit.file('evil.json', hostile());
      for (const of of ['gpu', 'cpu', 'wait']) {
        const page = await kit.open(write(kit, `evil_${of}.html`, trace, '--of', of));
        assert.equal(await page.evaluate(() => window.pwned), undefined);
        await counts(page.locator('.flame img, .flame svg, .flame script'), 0);
        assert.ok((await page.locator('.flame-box').count()) >= 1);
        await page.locator('.flame-path button').first().click();
        assert.ok((await page.locator('.flame-box').count()) > 2);
      }
    },
  ],
  [
    'pprof',
    async kit => {
      const { Profile } = require('pprof-format');
      for (const of of ['gpu', 'cpu', 'idle', 'wait']) {
        const stacks = folded(kit, traces.wan, of);
        const packed = readFileSync(write(kit, `${of}.pb.gz`, traces.wan, '--of', of));
        const profile = Profile.decode(gunzipSync(packed));
        const text = id => profile.stringTable.strings[Number(id)];
        assert.deepEqual(profile.sampleType.map(t => [text(t.type), text(t.unit)]), [
          ['samples', 'count'],
          [of, 'nanoseconds'],
        ]);
        const functions = new Map(profile.function.map(f => [Number(f.id), f]));
        const frames = new Map(
          profile.location.map(l => {
            const f = functions.get(Number(l.line[0].functionId));
            return [Number(l.id), word(text(f.name), text(f.filename), Number(l.line[0].line))];
          }),
        );
        const got = new Map();
        for (const s of profile.sample) {
          const stack = s.locationId.map(id => frames.get(Number(id))).reverse().join(';');
          got.set(stack, (got.get(stack) ?? 0) + Number(s.value[1]));
        }
        assert.deepEqual(got, stacks);
      }
    },
  ],
  [
    'speedscope opens it and finds the same totals',
    async kit => {
      const file = write(kit, 'gpu.speedscope.json', traces.wan);
      const doc = JSON.parse(readFileSync(file, 'utf8'));
      const [profile] = doc.profiles;
      const stacks = new Map();
      profile.samples.forEach((s, i) => {
        const key = s.map(k => doc.shared.frames[k]).map(f => word(f.name, f.file, f.line)).join(';');
        stacks.set(key, (stacks.get(key) ?? 0) + profile.weights[i]);
      });
      assert.deepEqual(stacks, folded(kit, traces.wan, 'gpu'));
      assert.equal(sum(profile.weights), profile.endValue);
      // the app itself, from its own files
      const name = JSON.stringify('gpu.speedscope.json');
      const script = join(kit.folder, 'speedscope.js');
      const bytes = JSON.stringify(readFileSync(file).toString('base64'));
      writeFileSync(script, `speedscope.loadFileFromBase64(${name}, ${bytes})`);
      const app = join(process.env.NODE_MODULES, 'speedscope', 'dist', 'release', 'index.html');
      const context = await kit.browser.newContext({ offline: true });
      kit.contexts.push(context);
      const page = await context.newPage();
      await page.goto(`${pathToFileURL(app).href}#localProfilePath=${script}&view=sandwich`);
      await page.waitForFunction(() => document.body.innerText.includes('Symbol Name'));
      const shown = await page.evaluate(() => document.body.innerText);
      const kernels = kit.json('kernels', traces.wan).rows;
      const ms = kernels[0].total_us / 1e3;
      assert.ok(shown.includes(kernels[0].name.slice(0, 40)), shown.slice(0, 400));
      assert.ok(shown.includes(`${(ms / 1e3).toFixed(2)}s (69%)`), shown.slice(0, 400));
    },
  ],
];
