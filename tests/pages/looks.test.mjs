// Tests the painted pixels in both themes, because a page can be unreadable with a correct stylesheet.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PNG } from 'pngjs';
import { RUN_FAILED } from './binary.mjs';
import { open } from './browser.mjs';
import { fixture } from './fixture.mjs';

const { service, browser } = await fixture();

const picture = async (target) => PNG.sync.read(await target.screenshot());
const pixels = ({ data }) => Array.from({ length: data.length / 4 }, (_, index) => [...data.subarray(index * 4, index * 4 + 3)]);

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the most frequent colour. */
function ground(all) {
  const counts = new Map();
  for (const one of all) counts.set(String(one), (counts.get(String(one)) ?? 0) + 1);
  const [most] = [...counts].sort((one, other) => other[1] - one[1]);
  return most[0].split(',').map(Number);
}

/** Returns the maximum contrast between the text and its background. */
function contrast(all) {
  const behind = luminance(ground(all));
  const ratios = all.map(luminance).map((one) => (Math.max(one, behind) + 0.05) / (Math.min(one, behind) + 0.05));
  return Math.max(...ratios);
}

for (const theme of ['light', 'dark']) {
  test(`the page is ${theme}, its verdict red, its text readable`, async () => {
    const { page, close } = await open(browser, service.page(RUN_FAILED), { theme });
    const behind = luminance(ground(pixels(await picture(page))));
    assert.ok(theme === 'light' ? behind > 0.9 : behind < 0.02, `the ground has the luminance ${behind}`);
    const verdict = pixels(await picture(page.locator('header .verdict')));
    const [red, green, blue] = ground(verdict);
    assert.ok(red > green + 8 && red > blue + 8, `the verdict is on ${[red, green, blue]}`);
    for (const place of ['h1', 'header .verdict', '.facts dt >> nth=0', '.facts dd >> nth=0', 'summary .title >> nth=0', 'ol .verdict >> nth=0', 'code >> nth=0']) {
      const ratio = contrast(pixels(await picture(page.locator(place).first())));
      assert.ok(ratio >= 4.5, `${place}: ${ratio}`);
    }
    await close();
  });

  test(`the timeline is painted at the positions of the steps, ${theme}`, async () => {
    const { page, close } = await open(browser, service.page(RUN_FAILED), { theme });
    const [first, second] = await page.locator('.track').all();
    for (const [track, from, to] of [[first, 0, 0.46], [second, 0.46, 1]]) {
      const { width, height, data } = await picture(track);
      const row = Math.floor(height / 2) * width;
      const at = (share) => [...data.subarray((row + Math.floor(share * (width - 1))) * 4, (row + Math.floor(share * (width - 1))) * 4 + 3)];
      const bar = at((from + to) / 2);
      const same = (share) => Math.max(...at(share).map((part, index) => Math.abs(part - bar[index]))) < 8;
      const inside = [from + 0.02, to - 0.02];
      const outside = [from - 0.02, to + 0.02].filter((share) => share > 0.01 && share < 0.99);
      assert.deepEqual(inside.map(same), [true, true]);
      assert.deepEqual(outside.map(same), [false]);
    }
    await close();
  });
}

test('the two themes look different', async () => {
  const [light, dark] = await Promise.all(['light', 'dark'].map(async (theme) => {
    const { page, close } = await open(browser, service.page(RUN_FAILED, theme), { theme });
    const shot = await picture(page);
    await close();
    return shot;
  }));
  assert.deepEqual([light.width, light.height], [dark.width, dark.height]);
  const [one, other] = [light, dark].map(pixels);
  const differing = one.filter((pixel, index) => String(pixel) !== String(other[index])).length;
  assert.ok(differing > 0.95 * one.length, `${differing} of ${one.length} pixels differ`);
});
