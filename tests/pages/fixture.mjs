// The sandbox and the browser of one test file. Both end after the tests.

import { after } from 'node:test';
import { Service } from './binary.mjs';
import { launch } from './browser.mjs';

export async function fixture() {
  const [service, browser] = await Promise.all([Service.start(), launch()]);
  after(async () => {
    await browser.close();
    service.stop();
  });

  return { service, browser };
}
