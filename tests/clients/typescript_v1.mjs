// Runs the scenario with version 1 of the TypeScript SDK, which supports the revisions up to 2025-11-25.
// Usage: node typescript_v1.mjs SERVER

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { report, scenario } from './scenario.mjs';

const [server] = process.argv.slice(2);

await report('TypeScript SDK 1', async () => {
  const client = new Client({ name: 'typescript-v1', version: '1' });
  await client.connect(new StdioClientTransport({ command: server, args: ['--sandbox'] }));
  try {
    const tools = await scenario({
      // Listing the tools compiles the output schemas, with which the SDK validates every result.
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      call: (name, args) => client.callTool({ name, arguments: args }),
    });
    const { resourceTemplates } = await client.listResourceTemplates();
    const { uriTemplate } = resourceTemplates.find((template) => template.name === 'run');
    const ref = { type: 'ref/resource', uri: uriTemplate };
    const { completion } = await client.complete({ ref, argument: { name: 'run', value: '' }, context: { arguments: { project: 'demo' } } });
    const [run] = completion.values;
    const uri = uriTemplate.replace('{project}', 'demo').replace('{run}', run);
    const { contents } = await client.readResource({ uri });
    assert.equal(JSON.parse(contents[0].text).multiplayer_run_id, run);
    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({ name: 'triage-run', arguments: { run_id: run } });
    assert.ok(messages[0].content.text.includes(`"run_id": "${run}"`));
    return `${tools} tools, ${resourceTemplates.length} resource templates, ${prompts.length} prompts, server ${client.getServerVersion().version}`;
  } finally {
    await client.close();
  }
});
