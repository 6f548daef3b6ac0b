#!/usr/bin/env node
// Speaks the command line and JSON-RPC of Prisma's native schema engine, and lets the official WASM build of
// the same engine do the work through a driver adapter. Give it to the CLI as PRISMA_SCHEMA_ENGINE_BINARY.
//
// Exact pins, all of one Prisma release (the protocol is internal):
//   prisma, @prisma/client, @prisma/adapter-pg, @prisma/driver-adapter-utils   7.10.0
//   @prisma/schema-engine-wasm   7.10.0-4.0edf323efd1d98336f3f0a68684b56f689b900d3
//   pg                           8.23.1
// URL parameters (sslmode, schema) are not passed on. SHIM_ROOT: where to resolve packages from, when not
// from this file's folder. SHIM_DEBUG: prints the calls to stderr.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const here = path.dirname(new URL(import.meta.url).pathname);
const { resolve } = createRequire(path.join(process.env.SHIM_ROOT ?? here, 'x.js'));
const load = (file) => import(pathToFileURL(file).href);
const esmTwin = (name) => resolve(name).replace(/index\.js$/, 'index.mjs');
const { PrismaPg } = await load(esmTwin('@prisma/adapter-pg'));
const utils = await load(esmTwin('@prisma/driver-adapter-utils'));
const { default: pg } = await load(resolve('pg'));
const wasmFolder = path.dirname(resolve('@prisma/schema-engine-wasm'));

const args = process.argv.slice(2);
const valuesOf = (flag) => args.flatMap((arg, i) => (arg === flag ? [args[i + 1]] : []));
const url = JSON.parse(valuesOf('--datasource')[0] ?? '{}').url;

if (args.includes('--version')) {
  const { version } = JSON.parse(fs.readFileSync(path.join(wasmFolder, 'package.json'), 'utf8'));
  console.log(`schema-engine-cli ${version.split('.').pop()}`);
  process.exit(0);
}
if (args.includes('cli')) {
  await databaseCommand(args.at(-1));
  process.exit(0);
}

// ---- `cli` commands: can-connect-to-database, create-database, drop-database --------------------------

async function databaseCommand(command) {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  try {
    if (command === 'can-connect-to-database') await runOn(url);
    else if (command === 'create-database') await runOn(adminUrl(), `CREATE DATABASE ${quoted(name)}`);
    else if (command === 'drop-database') await runOn(adminUrl(), `DROP DATABASE ${quoted(name)}`);
    else exitWith('P1000', `unsupported ${command}`);
  } catch (error) {
    if (error.code === '3D000') exitWith('P1003', `Database \`${name}\` does not exist`);
    exitWith(error.code === '28P01' ? 'P1000' : 'P1001', String(error.message || error.code));
  }
}

function adminUrl() {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  return String(admin);
}

async function runOn(connectionString, sql) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    if (sql) await client.query(sql);
  } finally {
    await client.end();
  }
}

function quoted(name) {
  return pg.escapeIdentifier(name);
}

function exitWith(code, message) {
  const fields = { message, is_panic: false, error_code: code };
  const timestamp = new Date().toISOString();
  const line = { timestamp, level: 'ERROR', fields, target: 'schema_engine::logger' };
  process.stderr.write(`\n${JSON.stringify(line)}\n`);
  process.exit(1);
}

// ---- the engine --------------------------------------------------------------------------------------

globalThis.PRISMA_WASM_PANIC_REGISTRY = {
  message: '',
  set_message(message) {
    this.message = message;
    process.stderr.write(`PANIC ${message}\n`);
  },
};
const bindings = await load(path.join(wasmFolder, 'schema_engine_bg.js'));
const compiled = new WebAssembly.Module(fs.readFileSync(path.join(wasmFolder, 'schema_engine_bg.wasm')));
const instance = new WebAssembly.Instance(compiled, { './schema_engine_bg.js': bindings });
bindings.__wbg_set_wasm(instance.exports);
instance.exports.__wbindgen_start();

// ---- the driver adapter, with three faults of adapter-pg mended ---------------------------------------

// 1. Never a connectionString: node-postgres lets it win over `database`, so that the shadow database would
//    be the main one.
const connection = url ? connectionFields(new URL(url)) : {};

function connectionFields({ hostname, port, username, password, pathname }) {
  return {
    host: hostname,
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  };
}

// 2. executeScript splits on ';', which breaks $$ bodies and the single transaction: send the script whole.
function sendScriptsWhole(adapter) {
  adapter.executeScript = async (sql) => {
    const client = await adapter.underlyingDriver().connect();
    try {
      await client.query(sql);
    } catch (error) {
      adapter.onError(error);
    } finally {
      client.release();
    }
  };
  return adapter;
}

// 3. OID 18 ("char", used in pg_catalog) is refused: read it as text (25), present it as Character.
function presentChars(adapter) {
  const { queryRaw } = adapter;
  adapter.queryRaw = async (query) => {
    const charColumns = [];
    const performIO = async (io) => {
      const result = await adapter.performIO(io);
      result.fields.forEach((field, i) => {
        if (field.dataTypeID !== 18) return;
        charColumns.push(i);
        field.dataTypeID = 25;
      });
      return result;
    };
    const reader = Object.create(adapter, { performIO: { value: performIO } });
    const result = await queryRaw.call(reader, query);
    for (const i of charColumns) result.columnTypes[i] = utils.ColumnTypeEnum.Character;
    return result;
  };
  if (adapter.startTransaction) {
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (level) => presentChars(await startTransaction(level));
  }
  return adapter;
}

const mended = (adapter) => sendScriptsWhole(presentChars(adapter));
const factory = new PrismaPg(connection);
const connectPlain = factory.connect.bind(factory);
factory.connect = async () => mended(await connectPlain());

// Shadow databases are dropped when disposed of, and once more at the end for those that were not.
const shadows = new Set();
factory.connectToShadowDb = async () => {
  const name = `prisma_migrate_shadow_db_${crypto.randomUUID()}`;
  const admin = await connectPlain();
  await admin.underlyingDriver().query(`CREATE DATABASE "${name}"`);
  shadows.add(name);
  const shadow = mended(await new PrismaPg({ ...connection, database: name }).connect());
  const dispose = shadow.dispose.bind(shadow);
  shadow.dispose = async () => {
    await dispose();
    await admin.underlyingDriver().query(`DROP DATABASE IF EXISTS "${name}"`);
    await admin.dispose();
  };
  return shadow;
};

async function dropShadows() {
  if (!shadows.size) return;
  const client = new pg.Client(connection);
  await client.connect();
  for (const name of shadows) await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  await client.end();
}

// ---- JSON-RPC over stdin and stdout, one line a message, one call at a time ---------------------------

const debug = process.env.SHIM_DEBUG ? (text) => process.stderr.write(`${text}\n`) : () => {};
const datamodels = valuesOf('--datamodels').map((file) => [file, fs.readFileSync(file, 'utf8')]);
const adapter = utils.bindMigrationAwareSqlAdapterFactory(factory);
let engine;
async function getEngine() {
  const options = { datamodels: datamodels.length ? datamodels : undefined };
  engine ??= await bindings.SchemaEngine.new(options, (message) => debug(String(message)), adapter);
  return engine;
}

const methodNames = { getDatabaseVersion: 'version' };
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let printId = 1e6;

async function answer({ id, method, params }) {
  try {
    const result = await (await getEngine())[methodNames[method] ?? method](params);
    if (method === 'diff' && typeof result?.stdout === 'string') {
      send({ method: 'print', params: { content: result.stdout }, id: ++printId });
    }
    send({ id, result: result ?? {} });
  } catch (error) {
    const message = String(error?.message ?? error);
    const data = error?.data ?? { is_panic: false, message, meta: null };
    send({ id, error: { code: error?.code ?? 4466, message, data } });
  }
}

let chain = Promise.resolve();
const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (!message.method) return;
  debug(`RPC ${line.slice(0, 4000)}`);
  chain = chain.then(() => answer(message));
});
lines.on('close', () => chain.then(dropShadows).catch(() => {}).finally(() => process.exit(0)));
