// A host of MCP Apps: a page with a frame that contains the result of `resources/read`, under the policy that the
// specification of the extension defines for views without permissions.

import { open } from './browser.mjs';

export const HOST = 'http://host.example/';
const POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

export const call = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } });
export const READ = { method: 'resources/read', params: { uri: 'ui://tas/run-report' } };

/** A host with the view in a frame. It sends no answer by itself, and records every message of the view. */
export async function framed(browser, view, options) {
  const body = '<!doctype html><title>host</title><iframe sandbox="allow-scripts" title="view"></iframe>';
  const serve = { [HOST]: { contentType: 'text/html', headers: { 'content-security-policy': POLICY }, body } };
  const { page, seen, close } = await open(browser, HOST, { serve, ...options });
  await page.evaluate((html) => {
    window.heard = [];
    window.frame = document.querySelector('iframe');
    frame.style.cssText = 'width: 100%; height: 700px; border: 0';
    addEventListener('message', ({ data, source }) => source === frame.contentWindow && window.heard.push(data));
    window.say = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
    frame.srcdoc = html;
  }, view.contents[0].text);
  const say = (message) => page.evaluate((one) => say(one), message);
  const notify = (method, params) => say({ method, params });
  /** Waits for the next message with this name that was not returned before. */
  const heard = async (method) => {
    const there = await page.waitForFunction((name) => {
      const place = window.heard.findIndex((one) => one.method === name);
      return place >= 0 && window.heard.splice(place, 1)[0];
    }, method, { timeout: 5000 });
    return there.jsonValue();
  };
  /** Waits until the view has processed every message that was sent to it. */
  const settled = async () => {
    await say({ id: 'settled', method: 'ping' });
    await page.waitForFunction(() => window.heard.some((one) => one.id === 'settled'));
    await page.evaluate(() => { window.heard = window.heard.filter((one) => one.id !== 'settled'); });
  };
  const waiting = async () => {
    await settled();
    return page.evaluate(() => window.heard.map((one) => one.method));
  };
  const start = async (result = {}) => {
    const initialize = await heard('ui/initialize');
    await say({ id: initialize.id, result: { protocolVersion: '2026-01-26', hostInfo: { name: 'host', version: '1' }, hostCapabilities: {}, hostContext: {}, ...result } });
    await heard('ui/notifications/initialized');
    return initialize;
  };
  return { page, seen, close, say, notify, heard, settled, waiting, start, view: page.frameLocator('iframe'), frame: () => page.frames()[1] };
}
