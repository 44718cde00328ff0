// Runs the scenario with version 2 of the TypeScript SDK, in each mode of version negotiation.
// Usage: node typescript_v2.mjs SERVER

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { report, scenario } from './scenario.mjs';

const [server] = process.argv.slice(2);
const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };

for (const [name, mode] of Object.entries(modes)) {
  await report(`TypeScript SDK 2, ${name}`, async () => {
    const client = new Client({ name: 'typescript-v2', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ command: server, args: ['--sandbox'] }));
    try {
      const tools = await scenario({
        tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
        call: (tool, args) => client.callTool({ name: tool, arguments: args }),
      });
      return `${tools} tools, revision ${client.getNegotiatedProtocolVersion?.() ?? 'unknown'}`;
    } finally {
      await client.close();
    }
  });
}
