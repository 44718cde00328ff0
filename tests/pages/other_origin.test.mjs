// Tests that web pages of other origins can use `tas-mcp http` exactly if the operator allows their origin.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixture } from './fixture.mjs';

const { service, browser } = await fixture();

const ALLOWED = 'https://allowed.example';
const REFUSED = 'https://refused.example';
const HEADERS = { 'Content-Type': 'application/json', 'X-Api-Key': 'svc_sandbox_demo', 'MCP-Protocol-Version': '2025-11-25', 'X-MCP-Readonly': 'true', traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` };

/** Calls `fetch` in a page of this origin. Returns what the page can read. */
async function fetchFrom(origin, url, headers) {
  // The server is on this machine, which pages may reach only with a permission of the person.
  const context = await browser.newContext({ permissions: ['local-network-access'] });
  await context.route(`${origin}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<title>Page</title>' }));
  const page = await context.newPage();
  await page.goto(`${origin}/`);
  const read = await page.evaluate(async ({ url, headers }) => {
    try {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
      return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.json() };
    } catch (error) {
      return { error: error.name };
    }
  }, { url, headers });
  await context.close();
  return read;
}

test('a page of an allowed origin reads answers, and one of another origin reads nothing', async () => {
  const url = await service.http({ TAS_HTTP_ALLOWED_ORIGINS: ALLOWED });
  const read = await fetchFrom(ALLOWED, url, HEADERS);
  assert.equal(read.status, 200, JSON.stringify(read));
  const names = read.body.result.tools.map((tool) => tool.name);
  assert.ok(names.includes('get_run') && !names.includes('start_run'), 'the header for read-only tools counts');
  assert.deepEqual(await fetchFrom(REFUSED, url, HEADERS), { error: 'TypeError' });
});

test('a page reads the challenge of a server that demands a sign-in', async () => {
  const grants = join(service.directory, 'grants.toml');
  writeFileSync(join(service.directory, 'key'), 'svc_sandbox_demo');
  writeFileSync(grants, '[[grant]]\nclaim = "groups"\nvalue = "qa"\nkey_file = "key"\n');
  const url = await service.http({ TAS_HTTP_ALLOWED_ORIGINS: ALLOWED, TAS_OAUTH_ISSUER: 'http://127.0.0.1:1', TAS_GRANTS_FILE: grants });
  const read = await fetchFrom(ALLOWED, url, { 'Content-Type': 'application/json' });
  assert.equal(read.status, 401, JSON.stringify(read));
  assert.match(read.challenge, /^Bearer .*resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp"/);
});
