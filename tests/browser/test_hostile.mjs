// A trace may be named by anybody. Nothing in it runs, and nothing in it breaks the page.
import assert from 'node:assert/strict';
import { settled } from './kit.mjs';

const EVIL = [
  '<script>window.pwned = 1</script>',
  '</script><script>window.pwned = 2</script>',
  '<img src=x onerror="window.pwned = 3">',
  '"><svg onload=alert(1)>',
  "'; window.pwned = 4; //",
  '<!--<script>',
  '${window.pwned = 5} {{constructor.constructor("window.pwned = 6")()}}',
  'x'.repeat(10000),
  '🔥👩‍👩‍👧‍👦 эмодзи 内核',
  '\u202eevil\u202c שלום مرحبا',
  'a\u0000b\u001b[31m\r\nnew line\ttab',
  '__proto__',
  'constructor',
  '&lt;b&gt; &amp; %3Cscript%3E',
  '\ud800 lone surrogate',
  '',
];

/** A small pipeline whose every name is hostile. */
export function hostile() {
  const events = [];
  const add = (name, cat, tid, ts, dur, args = {}) =>
    events.push({ ph: 'X', name, cat, pid: tid === 7 ? 0 : 100, tid, ts, dur, args });
  events.push({ ph: 'M', name: 'process_name', pid: 100, tid: 0, args: { name: EVIL[0] } });
  events.push({ ph: 'M', name: 'thread_name', pid: 100, tid: 200, args: { name: EVIL[2] } });
  for (let step = 0; step < 4; step++) {
    const t = 1000 + step * 10000;
    add(EVIL[1], 'user_annotation', 200, t, 9000, {});
    EVIL.forEach((name, k) => {
      const at = t + 100 + k * 400;
      const id = step * 100 + k + 1;
      add(name, 'cpu_op', 200, at, 300, {
        'External id': id,
        'Input Dims': [[1, 2]],
        [name || 'key']: name,
      });
      add(`${name}.py(1): ${name}`, 'python_function', 200, at + 10, 250, { 'Python id': id });
      add(k % 3 ? 'cudaLaunchKernel' : name, 'cuda_runtime', 200, at + 20, 20, { correlation: id });
      add(name, 'kernel', 7, at + 60, 100, {
        correlation: id,
        stream: 7,
        device: 0,
        grid: [1, 1, 1],
        block: [32, 1, 1],
      });
    });
    add('cudaStreamSynchronize', 'cuda_runtime', 200, t + 8000, 900, { correlation: 9000 + step });
  }
  return JSON.stringify({
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: EVIL[0] }],
    traceEvents: events,
  });
}

export const tests = [
  [
    'nothing executes, nothing breaks',
    async kit => {
      const trace = kit.file('hostile <b>.json', hostile());
      const path = kit.html('report', trace);
      const page = await kit.open(path);
      const before = await page.evaluate(
        () => document.querySelectorAll('script, img, iframe, object, embed, svg[onload]').length,
      );
      for (const tab of [
        'stages',
        'steps',
        'kernels',
        'ops',
        'syncs',
        'causes',
        'gaps',
        'charts',
        'selection',
      ])
        await page.locator(`#tab-${tab}`).click();
      await page.keyboard.press('/');
      await page.keyboard.type('<script>');
      await page.keyboard.press('Enter');
      await settled(page);
      assert.match(await page.locator('.search-count').innerText(), /^1 of \d+$/);
      const shown = await page.locator('.details').innerText();
      assert.ok(shown.includes('<script>'), shown);
      const spans = kit.head(path).sets[0].page.tracks.reduce((sum, t) => sum + t.n, 0);
      for (let i = 0; i < spans; i += Math.ceil(spans / 60)) {
        await page.evaluate(s => {
          location.hash = `#s=${s}`;
        }, i);
        await page.waitForFunction(() => !!document.querySelector('.details'));
      }
      await page.locator('canvas.over').focus();
      await page.keyboard.press('m');
      await page.locator('.sums').waitFor();
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      const after = await page.evaluate(
        () => document.querySelectorAll('script, img, iframe, object, embed, svg[onload]').length,
      );
      assert.ok(after <= before, `${after} after ${before}`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} pixels too wide`);
    },
  ],

  [
    'a comparison of hostile traces',
    async kit => {
      const trace = kit.file('hostile.json', hostile());
      const page = await kit.open(kit.html('diff', trace, trace, '--allow-untrusted'));
      for (const tab of ['stages', 'parts', 'families', 'names'])
        await page.locator(`#tab-${tab}`).click();
      assert.equal(await page.evaluate(() => window.pwned), undefined);
    },
  ],
];
