// TypeScript SDK, version 1: knows the revisions up to 2025-11-25.
// Usage: node typescript_v1.mjs SERVER

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { report, scenario } from './scenario.mjs';

const [server] = process.argv.slice(2);

await report('TypeScript SDK 1', async () => {
  const client = new Client({ name: 'typescript-v1', version: '1' });
  await client.connect(new StdioClientTransport({ command: server, args: ['--sandbox'] }));
  try {
    const tools = await scenario({
      // The list first: it compiles the output schemas that every answer is then held to.
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      call: (name, args) => client.callTool({ name, arguments: args }),
    });
    return `${tools} tools, server ${client.getServerVersion().version}`;
  } finally {
    await client.close();
  }
});
