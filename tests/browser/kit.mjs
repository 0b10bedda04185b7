// kit.mjs: what the tests stand on: pages made by the program under test, opened from file:// in a
// browser that has no network. Every test fails when a page asks for anything but itself, reports an
// error, or breaks its content security policy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.NODE_MODULES, 'index.js'));
const { chromium } = require('playwright-core');

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const data = join(root, 'tests', 'data');
export const traces = {
  wan: join(data, 'wan', 'wan_before_compile.json.gz'),
  before: join(data, 'whatif', 'pingpong_v0.json.gz'),
  after: join(data, 'whatif', 'pingpong_v1.json.gz'),
};

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export class Kit {
  static async start(strata, viewer) {
    const kit = new Kit();
    kit.strata = strata;
    kit.viewer = viewer;
    kit.folder = mkdtempSync(join(tmpdir(), 'strata-browser-'));
    kit.made = new Map();
    kit.browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
    return kit;
  }

  async stop() {
    await this.browser.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs one test, then looks at what its pages complained of. */
  async run(body) {
    this.troubles = [];
    this.contexts = [];
    try {
      await body(this);
      assert.deepEqual(this.troubles, []);
    } finally {
      for (const context of this.contexts) await context.close();
    }
  }

  /** What a command prints with --json. */
  json(...args) {
    return JSON.parse(
      execFileSync(this.strata, [...args, '--json'], {
        maxBuffer: 1 << 28,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
  }

  file(name, content) {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** The page of a command, made once: html('report', trace), html('diff', a, b). */
  html(...args) {
    const key = args.join('\n');
    if (!this.made.has(key)) {
      const path = join(this.folder, `page${this.made.size}.html`);
      execFileSync(this.strata, [...args, '--html', path], { stdio: 'ignore' });
      this.made.set(key, path);
    }
    return this.made.get(key);
  }

  head(path) {
    const text = readFileSync(path, 'utf8');
    const from = text.indexOf('id="strata-head">') + 'id="strata-head">'.length;
    return JSON.parse(text.slice(from, text.indexOf('</script>', from)));
  }

  /** Opens a page and waits until it can be used. `ready` is what it says of itself then. */
  async open(path, { hash = '', ready = 'true', ...options } = {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1440, height: 900 },
      offline: true,
      ...options,
    });
    this.contexts.push(context);
    const page = await context.newPage();
    const own = pathToFileURL(path).href;
    page.on('request', r => {
      const url = r.url();
      if (url.split('#')[0] !== own && !url.startsWith('data:'))
        this.troubles.push(`request: ${url.slice(0, 200)}`);
    });
    page.on('pageerror', e => this.troubles.push(`error: ${e.message}`));
    page.on('dialog', d => {
      this.troubles.push(`dialog: ${d.message()}`);
      d.dismiss();
    });
    page.on('console', m => {
      if (m.type() === 'error') this.troubles.push(`console: ${m.text()}`);
    });
    await page.goto(own + hash);
    await page.waitForSelector(`html[data-ready="${ready}"]`);
    return page;
  }
}

/** Waits until there are as many: what a click brings is drawn a moment later. */
export async function counts(locator, n, message) {
  const end = Date.now() + 10000;
  while (Date.now() < end && (await locator.count()) !== n)
    await new Promise(done => setTimeout(done, 20));
  assert.equal(await locator.count(), n, message);
}

/** [start, end] in nanoseconds of what a timeline shows. */
export async function view(page, nth = 0) {
  const text = await page.locator('canvas.over').nth(nth).getAttribute('data-view');
  return text.split(',').map(Number);
}

/** Waits until the view has arrived where it is going: jumps glide. */
export async function settled(page, nth = 0) {
  await page.evaluate(
    nth =>
      new Promise(done => {
        const { dataset } = document.querySelectorAll('canvas.over')[nth];
        const look = () => (dataset.view === dataset.goal ? done() : requestAnimationFrame(look));
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(look)));
      }),
    nth,
  );
  return view(page, nth);
}

export const close = (a, b, share = 0.02) =>
  assert.ok(
    Math.abs(a - b) <= share * Math.max(Math.abs(a), Math.abs(b), 1),
    `${a} is not about ${b}`,
  );
