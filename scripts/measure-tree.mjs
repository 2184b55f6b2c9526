/**
 * `node scripts/measure-tree.mjs`: how large the tree is, as counts that should fall: lines, files, folders that hold
 * many, settable limits, scripts, operations, comments that hide their subject, files on a question's way, and lines that
 * stand twice.
 * `--against 3478d265` counts those of another commit beside them, from the files that git has of it.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join, normalize } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const rooms = ['api', 'server', 'cli', 'clients', 'web', 'test', 'bench', 'scripts']
const sources = new Set(['.ts', '.tsx', '.mjs', '.css', '.py'])
/** The architecture test allows so many files in a folder of these. */
const [crowdedFrom, crowdedRooms] = [16, ['server', 'cli', 'web']]

/** A question comes in by its route, and `ask` answers it. */
const questionWay = ['server/http/routes/questions/questions.ts', 'server/questions/verbs/ask.ts']

const { values } = parseArgs({ options: { against: { type: 'string' } } })
const here = measure(root)
const there = values.against === undefined ? null : measureCommit(values.against)
print(here, there)

/** @param {string} commit */
function measureCommit(commit) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tree-'))
  try {
    const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 31 - 1 })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    return measure(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} folder @returns {Array<[what: string, count: number | null]>} */
function measure(folder) {
  const files = rooms.flatMap((room) => sourcesIn(folder, room))
  const texts = new Map(files.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
  const inRoom = (/** @type {string} */ room) => [...texts].filter(([path]) => path.startsWith(`${room}/`))
  const sizes = rooms.flatMap((room) => {
    const lines = inRoom(room).reduce((sum, [, text]) => sum + linesOf(text).length, 0)
    return /** @type {Array<[string, number]>} */ ([
      [`${room}: lines`, lines],
      [`${room}: files`, inRoom(room).length],
    ])
  })
  const comments = ['api', 'server', 'cli', 'clients', 'web'].flatMap(inRoom).flatMap(([, text]) => commentsOf(text))
  return [
    ...sizes,
    [`folders of ${crowdedRooms.join(', ')} with more than ${crowdedFrom} files`, crowded(files)],
    ['limits that can be set', settableLimits(folder)],
    ['npm scripts', Object.keys(jsonOf(folder, 'package.json').scripts).length],
    ['operations of the API', operations(folder)],
    ['lines of comment', comments.length],
    [
      'comments that begin with What, Who or Of',
      comments.filter((line) => /^(What|Who|Whoever|Of)\b/.test(line)).length,
    ],
    ["files on a question's way", filesReached(folder)],
    ['dependencies', Object.keys(jsonOf(folder, 'package.json').dependencies).length],
    ['literal duplicates of the server', duplicates(join(folder, 'server'))],
  ]
}

/** @param {string} folder @param {string} room */
function sourcesIn(folder, room) {
  if (!existsSync(join(folder, room))) return []
  return readdirSync(join(folder, room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && sources.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
}

/** @param {string} text */
function linesOf(text) {
  return text.split('\n').slice(0, text.endsWith('\n') ? -1 : undefined)
}

/**
 * Files of the server whose code a question may run: reached through imports of values, file by file. A door counts for
 * what is taken from it: the file behind it that has the name. Null where a commit has no such way. @param {string} folder
 */
function filesReached(folder) {
  if (!questionWay.every((path) => existsSync(join(folder, path)))) return null
  const left = [...questionWay]
  const reached = new Set()
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const { from, name } of namesTaken(folder, path, 'import')) {
      let [file, taken] = [from, name]
      for (let found; (found = namesTaken(folder, file, 'export').find(({ as }) => as === taken));)
        [file, taken] = [found.from, found.name]
      if (file.startsWith('server/')) left.push(file)
    }
  }
  return reached.size
}

/** Values that a file imports, or passes on, and where from. @param {string} folder @param {string} path @param {'import' | 'export'} word */
function namesTaken(folder, path, word) {
  const text = readFileSync(join(folder, path), 'utf8')
  const lines = text.matchAll(new RegExp(`^${word} (?:\\{([^}]*)\\}|\\* as \\w+|\\w+) from '(\\.[^']+)'`, 'gm'))
  return [...lines].flatMap(([, named = '*', from = '']) =>
    named
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '' && !each.startsWith('type '))
      .map((each) => {
        const [name = '', as = name] = each.split(' as ')
        return { from: normalize(join(dirname(path), from)), name, as }
      }),
  )
}

/** The words of each line that is a comment. @param {string} text */
function commentsOf(text) {
  return linesOf(text).flatMap((line) => {
    const [, words = ''] = /^\s*(?:\/\/|\/?\*+(?!\/))\s*(\S.*)$/.exec(line) ?? []
    return words === '' ? [] : [words]
  })
}

/** @param {string[]} files */
function crowded(files) {
  const counted = files.filter((path) => crowdedRooms.includes(path.split('/', 1)[0] ?? ''))
  const folders = Map.groupBy(counted, (path) => dirname(path))
  return [...folders].filter(([path, inside]) => inside.length > crowdedFrom && !path.endsWith('/migrations')).length
}

/** Limits in the page that a test holds to the schema: one variable each. @param {string} folder */
function settableLimits(folder) {
  const page = readFileSync(join(folder, 'docs/configuration.md'), 'utf8')
  const [, limits = ''] = page.split(/^## Limits.*$/m)
  return new Set(limits.match(/^\| `SLUICE_[A-Z_0-9]+`/gm)).size
}

/** @param {string} folder */
function operations(folder) {
  const methods = new Set(['get', 'put', 'post', 'patch', 'delete'])
  const { paths } = jsonOf(folder, 'docs/openapi.json')
  return Object.values(paths).reduce((sum, path) => sum + Object.keys(path).filter((key) => methods.has(key)).length, 0)
}

/**
 * Pairs that are the same to the letter; those of two migrations do not count, which are never edited once applied. Null
 * where the tool that finds them is not installed. @param {string} folder
 */
function duplicates(folder) {
  try {
    const found = execFileSync('duplicates', ['--repo', folder, '--most', '200', '--seconds', '300'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const pairs = found.matchAll(/^D\d+ (\S+) ~ (\S+)(?! shape)(?= \(|$)/gm)
    const migration = /^store\/migrations\//
    return [...pairs].filter(([, one = '', other = '']) => !migration.test(one) || !migration.test(other)).length
  } catch {
    return null
  }
}

/** @param {string} folder @param {string} path */
function jsonOf(folder, path) {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}

/** @param {Array<[string, number | null]>} now @param {Array<[string, number | null]> | null} before */
function print(now, before) {
  const shown = (/** @type {number | null | undefined} */ count) => count?.toLocaleString('en') ?? 'not measured'
  const rows = now.map(([what, count], index) => [what, ...(before ? [shown(before[index]?.[1])] : []), shown(count)])
  const header = ['what', ...(before ? [values.against ?? ''] : []), 'here']
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (/** @type {string[]} */ row) =>
    `| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  console.log([line(header), rule, ...rows.map(line)].join('\n'))
}
