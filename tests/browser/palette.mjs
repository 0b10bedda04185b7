// palette.mjs: a screenshot as a PNG of at most 256 colours: a third of the size, with sharp text.
import { deflateSync, crc32 } from 'node:zlib';

const COLORS = 256;

/** Red, green, blue, alpha of every pixel of a PNG, decoded by the browser. */
async function pixels(browser, png) {
  const page = await browser.newPage();
  const raw = await page.evaluate(async data => {
    const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const ctx = new OffscreenCanvas(image.width, image.height).getContext('2d');
    ctx.drawImage(image, 0, 0);
    const { data: rgba } = ctx.getImageData(0, 0, image.width, image.height);
    let text = '';
    for (let i = 0; i < rgba.length; i += 32768)
      text += String.fromCharCode(...rgba.subarray(i, i + 32768));
    return { width: image.width, height: image.height, rgba: btoa(text) };
  }, png.toString('base64'));
  await page.close();
  return { ...raw, rgba: Buffer.from(raw.rgba, 'base64') };
}

/** The commonest colours, and for each colour the nearest of them. */
function reduce(rgba) {
  const counts = new Map();
  const keys = new Uint32Array(rgba.length / 4);
  for (let i = 0; i < keys.length; i++) {
    keys[i] =
      ((rgba[4 * i] & 0xfc) << 16) | ((rgba[4 * i + 1] & 0xfc) << 8) | (rgba[4 * i + 2] & 0xfc);
    counts.set(keys[i], (counts.get(keys[i]) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, COLORS)
    .map(([key]) => key);
  const split = key => [(key >> 16) & 255, (key >> 8) & 255, key & 255];
  const parts = palette.map(split);
  const nearest = new Map();
  for (const key of counts.keys()) {
    const [r, g, b] = split(key);
    let best = 0;
    let least = Infinity;
    parts.forEach(([x, y, z], i) => {
      const d = (r - x) ** 2 + (g - y) ** 2 + (b - z) ** 2;
      if (d < least) [least, best] = [d, i];
    });
    nearest.set(key, best);
  }
  return { parts, index: Uint8Array.from(keys, key => nearest.get(key)) };
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

export async function shrink(browser, png) {
  const { width, height, rgba } = await pixels(browser, png);
  const { parts, index } = reduce(rgba);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    rows.set(index.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const full = v => Math.round((v / 252) * 255);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(parts.flatMap(p => p.map(full)))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
