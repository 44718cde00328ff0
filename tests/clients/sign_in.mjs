// A person signs in with a real provider and a real client, and works with `tas-mcp http --sandbox`.
// Usage: node sign_in.mjs SERVER

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import Provider from 'oidc-provider';
import { report, scenario, start } from './scenario.mjs';

// The provider warns about parts that are for development only, which is what they are used for here.
console.warn = () => {};
console.info = () => {};

const REDIRECT_URL = 'http://127.0.0.1:1/callback';
const SCOPE = 'tas:use';
const [binary] = process.argv.slice(2);

/** Starts a provider that signs in everybody as a member of the group `qa`. Returns its address. */
async function startProvider() {
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const issuer = `http://127.0.0.1:${listener.address().port}`;

  const provider = new Provider(issuer, {
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: () => ({ groups: ['qa'] }),
    scopes: ['openid', SCOPE],
    clientAuthMethods: ['none'],
    cookies: { keys: ['sign-in'] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({ scope: SCOPE, audience: resource, accessTokenFormat: 'jwt' }),
      },
    },
  });
  listener.on('request', provider.callback());
  return { issuer, stop: () => listener.close() };
}

/** Starts the server for persons of the group `qa`. Returns the address of its endpoint. */
async function startServer(issuer) {
  const directory = await mkdtemp(join(tmpdir(), 'sign-in-'));
  const grants = join(directory, 'grants.toml');
  await writeFile(join(directory, 'demo.key'), 'svc_sandbox_demo\n');
  await writeFile(grants, '[[grant]]\nclaim = "groups"\nvalue = "qa"\nkey_file = "demo.key"\n');

  const args = ['http', '--sandbox', '--listen', '127.0.0.1:0', '--admin', 'off', '--drain-s', '0',
    '--oauth-issuer', issuer, '--oauth-scopes', SCOPE, '--grants-file', grants];
  const server = await start(binary, args);

  const stop = async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  };
  return { address: server.address, stop };
}

/** The part of a client that keeps tokens. The browser is replaced by requests. */
class Browser {
  redirectUrl = REDIRECT_URL;

  clientMetadata = {
    client_name: 'sign-in', redirect_uris: [REDIRECT_URL], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'], response_types: ['code'],
  };

  clientInformation() { return this.information; }

  saveClientInformation(information) { this.information = information; }

  tokens() { return this.saved; }

  saveTokens(tokens) { this.saved = tokens; }

  saveCodeVerifier(verifier) { this.verifier = verifier; }

  codeVerifier() { return this.verifier; }

  saveDiscoveryState(state) { this.discovery = state; }

  discoveryState() { return this.discovery; }

  /** Signs in as `alice`, agrees, and keeps the parameters of the redirect to the client. */
  async redirectToAuthorization(url) {
    const cookies = new Map();
    let next = new URL(url);
    let form;
    for (let step = 0; step < 20; step += 1) {
      if (next.href.startsWith(REDIRECT_URL)) {
        this.callback = next.searchParams;
        return;
      }

      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(next, { method: form ? 'POST' : 'GET', body: form, headers: { cookie }, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) {
        const [name, value] = line.split(';')[0].split('=');
        cookies.set(name, value);
      }

      const location = response.headers.get('location');
      if (location) {
        [next, form] = [new URL(location, next), undefined];
      } else {
        const page = await response.text();
        const prompt = page.match(/name="prompt" value="(\w+)"/)?.[1];
        assert.ok(prompt, `no form at ${next.pathname}: ${page}`);
        form = new URLSearchParams({ prompt, login: 'alice', password: 'any' });
      }
    }
    assert.fail('the sign-in does not end');
  }
}

for (const [name, mode] of Object.entries({ legacy: 'legacy', modern: { pin: '2026-07-28' } })) {
  await report(`Sign-in, TypeScript SDK 2 and oidc-provider, ${name}`, async () => {
    const provider = await startProvider();
    const server = await startServer(provider.issuer);
    try {
      const browser = new Browser();
      const connect = async () => {
        const client = new Client({ name: 'sign-in', version: '1' }, { versionNegotiation: { mode } });
        const transport = new StreamableHTTPClientTransport(new URL(server.address), { authProvider: browser });
        await client.connect(transport).catch(async (error) => {
          if (!(error instanceof UnauthorizedError)) throw error;
          await transport.finishAuth(browser.callback);
          throw error;
        });
        return client;
      };

      await assert.rejects(connect, UnauthorizedError);
      const client = await connect();
      const tools = await scenario({
        tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
        call: (tool, args) => client.callTool({ name: tool, arguments: args }),
      });
      await client.close();

      const other = await fetch(server.address, { method: 'POST', headers: { authorization: `Bearer ${browser.saved.access_token}x` } });
      assert.equal(other.status, 401);
      return `${tools} tools`;
    } finally {
      await server.stop();
      provider.stop();
    }
  });
}
