// Follows a run over HTTP until it is completed, with both versions of the TypeScript SDK in the revision 2025-11-25.
// Usage: node follow.mjs SERVER

import assert from 'node:assert/strict';

import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { report, start } from './scenario.mjs';

// A run of the example data that ends some minutes of the sandbox after its start.
const uri = 'tas://projects/demo/runs/s3sank19vdh';
const [binary] = process.argv.slice(2);

const versions = {
  1: { client: new Client1({ name: 'follow', version: '1' }), Transport: Transport1, method: ResourceUpdatedNotificationSchema },
  2: {
    client: new Client2({ name: 'follow', version: '1' }, { versionNegotiation: { mode: 'legacy' } }),
    Transport: Transport2,
    method: 'notifications/resources/updated',
  },
};

for (const [version, { client, Transport, method }] of Object.entries(versions)) {
  await report(`TypeScript SDK ${version}, resources/subscribe over HTTP`, async () => {
    const server = await start(binary, ['http', '--sandbox', '--listen', '127.0.0.1:0', '--admin', 'off', '--drain-s', '0']);
    try {
      let wake;
      let updates = 0;
      client.setNotificationHandler(method, ({ params }) => {
        assert.equal(params.uri, uri);
        updates += 1;
        wake();
      });
      await client.connect(new Transport(new URL(server.address)));

      let updated = new Promise((resolve) => { wake = resolve; });
      await client.subscribeResource({ uri });
      let state;
      do {
        await updated;
        updated = new Promise((resolve) => { wake = resolve; });
        const { contents } = await client.readResource({ uri });
        ({ state } = JSON.parse(contents[0].text));
      } while (state !== 'COMPLETED');
      await client.unsubscribeResource({ uri });
      return `${updates} updates until ${state}`;
    } finally {
      await client.close();
      await server.stop();
    }
  });
}
