// What this project is made of: the rules of scripts/supply.mjs, a bill of materials, and the registry's advisories where
// they can be reached. `npm test -- supply`
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './bill-of-materials.mjs'
import { installMissing, root } from './prepare.mjs'
import { supplyProblems } from './supply.mjs'

installMissing()
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const lock = read('package-lock.json')
const problems = supplyProblems(read('package.json'), lock, (path) => existsSync(join(root, path, 'package.json')))
for (const problem of problems) console.error(`FAILED ${problem}`)

const { text, components } = billOfMaterials()
mkdirSync(join(root, 'test/artefacts'), { recursive: true })
writeFileSync(join(root, 'test/artefacts/sbom.json'), text)
const listed = Object.keys(lock.packages).length - 1
if (components.length < listed * 0.8)
  problems.push(`the bill of materials has ${components.length} of ${listed} packages`)
console.log(`${components.length} packages in test/artefacts/sbom.json (CycloneDX)`)

const audit = npm('audit', '--json')
const report = audit.stdout === '' ? {} : JSON.parse(audit.stdout)
if (report.metadata === undefined) {
  console.log('The registry gives no advisories from here; run this where it does.')
} else {
  const { high, critical, total } = report.metadata.vulnerabilities
  console.log(`${total} advisories, ${high + critical} of them high or critical`)
  if (high + critical > 0) problems.push('an advisory is high or critical: npm audit')
}

console.log(problems.length === 0 ? 'ok' : `${problems.length} problems:\n${problems.join('\n')}`)
process.exitCode = problems.length === 0 ? 0 : 1

function npm(...args) {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, shell: process.platform === 'win32' }
  return spawnSync(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, options)
}
