// The sandbox and the browser of one test file. Both end after the tests.

import { after } from 'node:test';
import { Service } from './binary.mjs';
import { launch } from './browser.mjs';

export async function fixture() {
  const browser = await launch();
  const service = await Service.start();
  after(async () => {
    await browser.close();
    service.stop();
  });

  return { service, browser };
}
