// A headless browser that can open only files, and records the requests of pages.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const launch = () => chromium.launch({ executablePath: process.env.BROWSER, args: QUIET });

/** An open page, with its errors and the URLs that it requested. */
export async function open(browser, url, { theme = 'light', width = 900, height = 800, serve } = {}) {
  // The policy of the page applies to the scripts of the tests too, except for the accessibility check.
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, timezoneId: 'UTC', locale: 'en-US' });
  const page = await context.newPage();
  const seen = { errors: [], requests: [], popups: [] };
  page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()));
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('dialog', (dialog) => { seen.errors.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('popup', (popup) => seen.popups.push(popup.url()));
  await context.route('**', (route) => {
    const wanted = route.request().url();
    seen.requests.push(wanted);
    if (serve?.[wanted]) return route.fulfill(serve[wanted]);
    return wanted === url ? route.continue() : route.abort();
  });
  await page.goto(url);
  return { page, seen, close: () => context.close() };
}

/** Checks that the page has no error and has requested only itself. */
export function assertQuiet(seen, url) {
  assert.deepEqual(seen, { errors: [], requests: [url], popups: [] });
}

/** Checks that the accessibility checker finds no violation in a page or a frame. */
export async function assertAccessible(frame) {
  await frame.evaluate(axe);
  const { violations } = await frame.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  assert.deepEqual(violations.map((one) => [one.id, one.nodes.map((node) => `${node.target} ${node.failureSummary}`)]), []);
}
