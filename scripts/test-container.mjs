// Builds the image of the Dockerfile and starts it as a container that may write to its volume and /tmp alone: `npm run
// test:container`. Needs root on a Debian: Buildah builds without a daemon, on base images that debootstrap makes of
// Debian's packages. They are kept between runs in ~/.cache/sluice-container. Where that is not possible it says so and
// is skipped.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort, installPackage } from './debian-server.mjs'
import { findNode, installMissing, root } from './prepare.mjs'

const suite = 'bookworm'
const readyLimitMs = 120_000
const stopLimitMs = 40_000
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice-container')
// Overlay keeps of each step what it changed. Plain folders would copy everything at each, which takes hours.
const storage = ['--root', join(cache, 'storage'), '--runroot', join(cache, 'run'), '--storage-driver', 'overlay']
const counts = { passed: 0, failed: 0 }

const obstacle = findObstacle()
if (obstacle === undefined) {
  installMissing()
  await buildAndStart()
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed === 0 ? 0 : 1
} else {
  console.log(`0 passed, 0 failed, 1 skipped\nNot built here: ${obstacle}.`)
}

function findObstacle() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return 'it needs root on Linux'
  for (const name of ['buildah', 'debootstrap'])
    if (spawnSync(name, ['--version']).error !== undefined && !installPackage(name)) return `there is no ${name}`
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0) return 'namespaces cannot be made here'
  if (!canOverlay()) return `no overlay can be mounted over ${cache}`
  return undefined
}

function canOverlay() {
  mkdirSync(cache, { recursive: true })
  const tried = mkdtempSync(join(cache, 'overlay-'))
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => join(tried, name))
  for (const folder of [lower, upper, work, merged]) mkdirSync(folder)
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`
  const mounting = ['mount', '-t', 'overlay', 'overlay', '-o', options, merged]
  // In a namespace of its own, so that nothing is left mounted.
  const { status } = spawnSync('unshare', ['--mount', ...mounting])
  rmSync(tried, { recursive: true })
  return status === 0
}

async function buildAndStart() {
  makeBaseImages()
  const secrets = mkdtempSync(join(tmpdir(), 'sluice-container-'))
  const npmrc = join(secrets, 'npmrc')
  writeFileSync(npmrc, 'cafile=/etc/ssl/certs/ca-certificates.crt\nfetch-timeout=30000\nfetch-retries=5\n')
  const images = ['NODE_IMAGE=localhost/sluice-node', 'BASE_IMAGE=localhost/sluice-base']
  const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never']
  // npm's memory of this machine: of what is there already nothing is downloaded.
  const npmCache = run('npm', ['config', 'get', 'cache', '--loglevel=error']).trim()
  mkdirSync(npmCache, { recursive: true })
  options.push('--volume', `${npmCache}:/root/.npm`)
  const given = [...images.flatMap((each) => ['--build-arg', each]), '--secret', `id=npmrc,src=${npmrc}`]
  try {
    run('buildah', [...storage, 'build', ...options, ...given, '--tag', 'sluice-tried', root], 'inherit')
    check('the image is built', true)
  } finally {
    rmSync(secrets, { recursive: true, force: true })
  }
  const { Docker: image } = JSON.parse(buildah('inspect', '--type', 'image', 'sluice-tried'))
  const { User, Volumes, Healthcheck, Env, Entrypoint, Cmd, StopSignal } = image.config
  check('it runs as somebody with a number who is not root', User === '10001:10001')
  check('it says where its data is, how it is and how it ends', Volumes['/var/lib/sluice'] && Healthcheck && StopSignal)
  const container = buildah('from', '--pull-never', 'sluice-tried').trim()
  try {
    const mounted = buildah('mount', container).trim()
    check('it holds its bill of materials and its licences', hasPapers(mounted))
    check('it holds nothing that only builds', !hasBuilders(mounted))
    await startIn(mounted, { env: Env, command: [...Entrypoint, ...Cmd], healthcheck: Healthcheck.Test })
  } finally {
    buildah('umount', container)
    buildah('rm', container)
  }
}

/** As the images of Debian and of Node that the Dockerfile names, as far as it asks. */
function makeBaseImages() {
  if (spawnSync('buildah', [...storage, 'inspect', '--type', 'image', 'sluice-node']).status === 0) return
  const files = join(cache, 'debian')
  if (!existsSync(join(files, 'etc/debian_version'))) {
    mkdirSync(cache, { recursive: true })
    const draft = `${files}.draft`
    rmSync(draft, { recursive: true, force: true })
    run('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite, draft])
    for (const path of ['var/cache/apt/archives', 'var/lib/apt/lists'])
      for (const name of readdirSync(join(draft, path)).filter((each) => !/^(lock|partial)$/.test(each)))
        rmSync(join(draft, path, name), { recursive: true })
    run('mv', [draft, files])
  }
  // Whom this machine trusts: a registry may be behind a proxy of its own.
  cpSync('/etc/ssl/certs/ca-certificates.crt', join(files, 'etc/ssl/certs/ca-certificates.crt'))
  const container = buildah('from', 'scratch').trim()
  buildah('copy', '--quiet', container, files, '/')
  buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  buildah('commit', '--quiet', container, 'sluice-base')
  buildah('copy', '--quiet', container, findNode(), '/usr/local/bin/node')
  const npm = dirname(dirname(run('readlink', ['-f', run('which', ['npm']).trim()]).trim()))
  buildah('copy', '--quiet', container, npm, '/usr/local/lib/node_modules/npm')
  const links = mkdtempSync(join(tmpdir(), 'sluice-container-'))
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(links, 'npm'))
  buildah('copy', '--quiet', container, links, '/usr/local/bin')
  rmSync(links, { recursive: true })
  buildah('commit', '--quiet', container, 'sluice-node')
  buildah('rm', container)
}

function hasPapers(mounted) {
  return ['NOTICE', 'dist/sbom.json', 'dist/web/dist/licenses.md', 'dist/licenses.md'].every((name) =>
    existsSync(join(mounted, 'opt/sluice', name)),
  )
}

function hasBuilders(mounted) {
  const names = ['node_modules/vitest', 'node_modules/typescript', 'node_modules/vite', 'server', 'test']
  return (
    existsSync(join(mounted, 'usr/local/bin/npm')) ||
    names.some((name) => existsSync(join(mounted, 'opt/sluice', name)))
  )
}

/**
 * The files of the image as a root that cannot be written to, with processes of its own, as the image's user and
 * without a capability: what a container is, but for its network, which is this machine's.
 */
async function startIn(mounted, { env, command, healthcheck }) {
  const data = mkdtempSync(join(tmpdir(), 'sluice-container-data-'))
  spawnSync('chown', ['10001:10001', data])
  const port = await freePort()
  const variables = [...env, `PORT=${port}`, 'HOST=127.0.0.1']
  const inside = (words) => ['env', '--ignore-environment', ...variables, ...words].map(quoted).join(' ')
  const drop = 'setpriv --reuid 10001 --regid 10001 --clear-groups --bounding-set=-all --no-new-privs'
  const script = `set -e
    mount --bind ${quoted(mounted)} ${quoted(mounted)}
    mount -o remount,bind,ro ${quoted(mounted)}
    mount --bind ${quoted(data)} ${quoted(join(mounted, 'var/lib/sluice'))}
    mount -t tmpfs -o mode=1777,size=256m tmpfs ${quoted(join(mounted, 'tmp'))}
    mount -t proc proc ${quoted(join(mounted, 'proc'))}
    mount -t tmpfs -o mode=755 tmpfs ${quoted(join(mounted, 'dev'))}
    for each in null zero random urandom; do
      touch ${quoted(join(mounted, 'dev'))}/$each
      mount --bind /dev/$each ${quoted(join(mounted, 'dev'))}/$each
    done
    mkdir -m 1777 ${quoted(join(mounted, 'dev/shm'))}
    exec chroot ${quoted(mounted)} sh -c ${quoted(`! touch /opt/sluice/written 2>/dev/null || exit 9; cd /var/lib/sluice; exec ${drop} ${inside(command)}`)}`
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--ipc', '--kill-child', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  try {
    check('it starts on a root that cannot be written to, with its own PostgreSQL', await isReady(url, ended))
    const printed = await untilPrinted(() => output, '"project_id"')
    const key = /Bearer (slc_\w+)/.exec(printed)?.[1]
    const project = /"project_id":"(\w+)"/.exec(printed)?.[1]
    const post = (path, body) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const called = await post('/v1/queries/sales_by_region', { region: 'north' })
    check('a query answers', called.status === 200)
    const asked = await post('/v1/query', { query: 'top 3 coffee products', project_id: project })
    check('a question is answered', asked.status === 200)
    check('its health check passes', isHealthy(child.pid, mounted, inside(healthcheck.slice(1))))
    check('the web app is there', (await fetch(`${url}/`).then((answer) => answer.text())).includes('<script'))
  } catch (error) {
    check(`what was started works: ${error instanceof Error ? error.message : String(error)}`, false)
  } finally {
    const service = childOf(child.pid)
    if (service !== undefined) process.kill(service, 'SIGTERM')
    const status = await Promise.race([ended, wait(stopLimitMs, 'late', { ref: false })])
    if (status === 'late') child.kill('SIGKILL')
    check('it ends in time when asked to, and well', status === 0)
    rmSync(data, { recursive: true, force: true, maxRetries: 10 })
  }
  if (counts.failed > 0) console.log(output)
}

function isHealthy(pid, mounted, command) {
  const entered = ['--target', String(childOf(pid)), '--mount', '--pid', 'chroot', mounted, 'sh', '-c', command]
  return spawnSync('nsenter', entered, { timeout: 10_000 }).status === 0
}

/** `unshare` waits for the first process of the new namespace, which became the service. */
function childOf(pid) {
  const first = spawnSync('pgrep', ['--parent', String(pid)], { encoding: 'utf8' }).stdout.trim()
  return first === '' ? undefined : Number(first)
}

async function isReady(url, ended) {
  for (const deadline = Date.now() + readyLimitMs; Date.now() < deadline; await wait(200)) {
    const answer = await Promise.race([fetch(`${url}/readyz`).catch(() => undefined), ended.then(() => 'ended')])
    if (answer === 'ended') return false
    if (answer?.status === 200) return true
  }
  return false
}

async function untilPrinted(output, words) {
  for (const deadline = Date.now() + readyLimitMs; Date.now() < deadline; await wait(200))
    if (output().includes(words)) return output()
  throw new Error(`“${words}” was not printed`)
}

function buildah(...args) {
  return run('buildah', [...storage, ...args])
}

function run(command, args, stdio = 'pipe') {
  const options = { encoding: 'utf8', timeout: 900_000, maxBuffer: 64 * 1024 * 1024, stdio }
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
  const { status, signal, stdout, stderr } = spawnSync(command, args, { ...options, env })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? signal}:\n${stdout}${stderr}`)
  return stdout
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function check(name, isGood) {
  counts[isGood ? 'passed' : 'failed'] += 1
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}`)
}
