// node chdb_front.js MODULES FOLDER - a server of HTTP on a free port of the loopback
// interface, with the newest engine of ClickHouse in its process: what profio sends to a
// server, it answers as one does. Prints the port when it listens, keeps its data in FOLDER,
// and ends when its input ends. MODULES is where npm put chdb.
//
// Temporary tables of a query are parts of a form: they become tables in memory with names of
// their own, which the query has instead. The engine reads and writes rows through files.

'use strict';

const fs = require('fs');
const http = require('http');
const path = require('path');

const { Session } = require(path.resolve(process.argv[2], 'chdb'));
const folder = path.resolve(process.argv[3]);
const session = new Session(path.join(folder, 'data'));
let count = 0;

// Writes bytes into a new file, and returns its path.
function file_of (bytes) {
  const name = path.join(folder, `rows-${++count}`);
  fs.writeFileSync(name, bytes);
  return name;
}

const quoted = (text) => `'${text.replace(/[\\']/g, '\\$&')}'`;

// Returns the parts of a form: the bytes of each by its name.
function parts_of (body, boundary) {
  const parts = new Map();
  const line = Buffer.from(`--${boundary}`);
  let at = body.indexOf(line) + line.length + 2;
  for (;;) {
    const end = body.indexOf(Buffer.concat([Buffer.from('\r\n'), line]), at - 2);
    if (end < 0)
      return parts;
    const head = body.indexOf('\r\n\r\n', at);
    const name = /name="([^"]*)"/.exec(body.toString('latin1', at, head))[1];
    parts.set(name, body.subarray(Math.min(head + 4, end), end));
    at = end + line.length + 4;
  }
}

// Runs SQL, whose end may name the format of the answer.
async function run (sql) {
  const found = /^([^]*) FORMAT (\w+)$/.exec(sql);
  const answer = await session.queryAsync(found ? found[1] : sql,
    { format: found ? found[2] : 'TabSeparated' });
  return Buffer.from(answer.bytes());
}

// Answers a query with temporary tables.
async function run_with (sql, parts, parameters) {
  const tables = [];
  const files = [];
  try {
    for (const [name, bytes] of parts) {
      const table = `front.t${++count}`;
      const structure = parameters.get(`${name}_structure`);
      files.push(file_of(bytes));
      await session.queryAsync(`CREATE TABLE ${table} (${structure}) ENGINE = Memory`);
      tables.push(table);
      await session.queryAsync(`INSERT INTO ${table} SELECT * FROM file(${quoted(
        files.at(-1))}, 'RowBinary', ${quoted(structure)})`);
      sql = sql.replace(new RegExp(`\\b${name}\\b`, 'g'), table);
    }
    return await run(sql);
  }
  finally {
    for (const table of tables)
      await session.queryAsync(`DROP TABLE ${table}`);
    files.forEach((name) => fs.unlinkSync(name));
  }
}

// Inserts the rows of a body.
async function insert (sql, body) {
  const name = file_of(body);
  try {
    await session.queryAsync(sql.replace(/ FORMAT (\w+)$/, ` FROM INFILE ${quoted(name)} FORMAT $1`));
    return Buffer.alloc(0);
  }
  finally {
    fs.unlinkSync(name);
  }
}

function answer (request, body) {
  const parameters = new URL(request.url, 'http://front').searchParams;
  const form = /boundary=(.*)$/.exec(request.headers['content-type'] || '');
  const sql = parameters.get('query') || body.toString();
  if (form)
    return run_with(sql, parts_of(body, form[1]), parameters);
  return /^INSERT .* FORMAT \w+$/.test(sql) ? insert(sql, body) : run(sql);
}

// Requests are answered one after the other.
let before = session.queryAsync('CREATE DATABASE IF NOT EXISTS front');
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (bytes) => chunks.push(bytes));
  request.on('end', () => {
    before = before.then(() => answer(request, Buffer.concat(chunks))).then(
      (bytes) => response.end(bytes),
      (error) => {
        response.writeHead(500);
        response.end(`Code: ${error.clickhouseCode || 0}. ${error.message}`);
      });
  });
});

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
