// node mcp_client.js MODULES COMMAND... - starts the command as a server of the
// Model Context Protocol with the client of its authors, reads calls from
// standard input (JSON: a list of { name, arguments }) and prints JSON: { server,
// tools, results }. A call that the protocol refuses has the result { error }.
// MODULES is where npm put the client.

'use strict';

const fs = require('fs');
const path = require('path');

const sdk = path.resolve(process.argv[2], '@modelcontextprotocol/sdk/dist/cjs/client');
const { Client } = require(path.join(sdk, 'index.js'));
const { StdioClientTransport } = require(path.join(sdk, 'stdio.js'));

async function main () {
  const calls = JSON.parse(fs.readFileSync(0, 'utf8'));
  const client = new Client({ name: 'spec', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.argv[3],
    args: process.argv.slice(4), env: process.env, stderr: 'inherit' }));
  const { tools } = await client.listTools();
  const results = [];
  for (const call of calls)
    results.push(await client.callTool(call).catch((e) => ({ error: e.message })));
  console.log(JSON.stringify({ server: client.getServerVersion(), tools, results }));
  await client.close();
}

main();
