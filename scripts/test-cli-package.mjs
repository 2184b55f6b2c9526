// The command line by itself, packed and installed into an empty folder as a user does: `npm test -- cli-package`. Under
// each Node that is there, from 20 on, and as one file.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { findNode, root } from './prepare.mjs'

/** A file by itself is read whole at each start, and its compiled form is not kept. */
const startRatio = { 'main.mjs': 3, 'sluice.mjs': 5 }
const most = { bytes: 5_000_000, files: 90 }
const nodes = [...new Set(['/usr/bin/node', findNode()])].filter(existsSync)
const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-package-'))
const results = []
try {
  run(findNode(), [join(root, 'scripts/build-cli.mjs'), join(folder, 'built')])
  run('npm', ['pack', '--loglevel=error', '--pack-destination', folder, join(folder, 'built')])
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', join(folder, tarball)])
  const installed = join(folder, 'node_modules')
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const bytes = files.reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0)
  console.log(`${(bytes / 1e6).toFixed(1)} MB in ${files.length} files`)
  check('it is small, and nothing comes with it', bytes < most.bytes && files.length < most.files)
  check('nothing of it is native', !files.some(({ name }) => name.endsWith('.node')))
  // node:http brings a second HTTP client, which is a third of a start: it is loaded where a port is opened.
  const texts = files
    .filter(({ name }) => name.endsWith('.mjs'))
    .map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'))
  check(
    'a start loads no second HTTP client',
    texts.every((text) => !/\bfrom ?["'](?:node:)?http["']/.test(text)),
  )
  for (const node of nodes) look(node, join(installed, 'sluice-cli/dist'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${results.filter((each) => each).length} passed, ${results.filter((each) => !each).length} failed`)
process.exitCode = results.every((each) => each) ? 0 : 1

function look(node, dist) {
  const of = run(node, ['--version']).trim()
  for (const program of ['main.mjs', 'sluice.mjs']) {
    const home = mkdtempSync(join(folder, 'home-'))
    const sluice = (...args) => spawnSync(node, [join(dist, program), ...args], options(node, home))
    check(`${of} ${program}: --version`, /^\d+\.\d+\.\d+/.test(sluice('--version').stdout))
    check(`${of} ${program}: init`, sluice('init').status === 0 && existsSync(join(home, '.sluice/schemas/query.json')))
    check(`${of} ${program}: add`, sluice('add', 'github', 'owner=a', 'repo=b').status === 0)
    const env = { ...options(node, home), env: { ...options(node, home).env, GITHUB_TOKEN: 'anything' } }
    check(`${of} ${program}: validate`, spawnSync(node, [join(dist, program), 'validate'], env).status === 0)
    const start = sluice('start')
    check(
      `${of} ${program}: start says what it takes`,
      start.status === 2 && start.stderr.includes('the command line alone'),
    )
    const [ours, bare] = fastest(
      () => sluice('--version'),
      () => spawnSync(node, ['-e', '0']),
    )
    console.log(`${of} ${program}: starts in ${ours.toFixed(0)} ms, an empty program in ${bare.toFixed(0)} ms`)
    check(`${of} ${program}: starts quickly`, ours < bare * startRatio[program])
  }
  const imported = "import('sluice-cli/client').then((m) => console.log(typeof m.createClient))"
  check(`${of}: sluice-cli/client`, run(node, ['-e', imported]).trim() === 'function')
}

/** The least of several, taken in turn: on a machine that others use too, the rest of them say how busy it is. */
function fastest(...acts) {
  const rounds = Array.from({ length: 15 }, () =>
    acts.map((act) => {
      const begun = performance.now()
      act()
      return performance.now() - begun
    }),
  )
  return acts.map((_, at) => Math.min(...rounds.map((times) => times[at])))
}

function check(name, isGood) {
  results.push(isGood)
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}`)
}

/** Without the Node and the programs of this project: a user has none. */
function options(node, home) {
  const path = process.env.PATH.split(delimiter).filter((each) => !each.includes('node_modules'))
  const env = { ...process.env, PATH: [dirname(node), ...path].join(delimiter), HOME: home }
  for (const name of Object.keys(env))
    if (/^(npm_|NODE_|SLUICE_|XDG_)/.test(name) && !/registry/i.test(name)) delete env[name]
  return { cwd: home, env, encoding: 'utf8', timeout: 120_000 }
}

function run(command, args) {
  const { status, signal, stdout, stderr } = spawnSync(command, args, options(findNode(), folder))
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? signal}:\n${stdout}${stderr}`)
  return stdout
}
