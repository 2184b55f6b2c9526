import { dirname, join, normalize } from 'node:path'
import { foreignTables } from './tables.ts'
import {
  aboveApp,
  callPath,
  entries,
  grabBags,
  homes,
  leaves,
  mayImport,
  sharedRooms,
  typeLeaves,
  valuesForWeb,
} from './plan.ts'

type Import = { from: string; to: string; typeOnly: boolean }

/** Every violation of the plan in a tree of sources, each in one line. */
export function violations(sources: Map<string, string>): string[] {
  const imports = [...sources].flatMap(([path, text]) => importsOf(path, text))
  return [
    ...[...sources.keys()].flatMap((path) => namesOf(path)),
    ...[...sources].flatMap(([path, text]) => habitsOf(path, text)),
    ...[...sources].flatMap(([path, text]) => lengthsOf(path, text)),
    ...imports.flatMap((each) => directionOf(each)),
    ...imports.flatMap((each) => hopOf(each)),
    ...cyclesOf(imports),
    ...folderCyclesOf(imports),
    ...fullFolders([...sources.keys()]),
    ...namelessFiles([...sources.keys()]),
    ...manyMeanings(sources),
    ...twinsOf(sources),
    ...foreignTables(new Map([...sources].filter(([path]) => speaksSql(path))), roomOf),
  ]
}

/** Only rooms that may reach the database can name a table; elsewhere the same words are English. */
function speaksSql(path: string): boolean {
  const room = roomOf(path) ?? ''
  return room === 'server/store' || (mayImport[room] ?? []).includes('server/store')
}

/** The longest named room that holds a file. */
export function roomOf(path: string): string | undefined {
  return Object.keys(mayImport)
    .filter((room) => path.startsWith(`${room}/`))
    .sort((left, right) => right.length - left.length)[0]
}

function importsOf(path: string, text: string): Import[] {
  const pattern = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?((?:[^'";]*?)\s+from\s+)?'([^']+)'|import\('([^']+)'\)/g
  return [...text.matchAll(pattern)].map((match) => {
    const target = match[3] ?? match[4] ?? ''
    const named = /^\{([^}]*)\}/.exec((match[2] ?? '').trim())?.[1]
    const allTypes = named !== undefined && named.split(',').every((name) => /^\s*(type\s|$)/.test(name))
    const resolved = target.startsWith('.') ? normalize(join(dirname(path), target)) : target
    return { from: path, to: resolved, typeOnly: match[1] !== undefined || allTypes }
  })
}

/** Names that two rooms of the server export: who reads one must not wonder which is meant. */
function twinsOf(sources: Map<string, string>): string[] {
  const rooms = new Map<string, Set<string>>()
  for (const [path, text] of sources) {
    const room = roomOf(path) ?? ''
    // A door repeats the names of its room.
    if (!room.startsWith('server/') || path.endsWith('/index.ts')) continue
    for (const [, name = ''] of text.matchAll(exported)) rooms.set(name, (rooms.get(name) ?? new Set()).add(room))
  }
  return [...rooms]
    .filter(([, each]) => each.size > 1)
    .map(([name, each]) => `${name} is exported by ${[...each].toSorted().join(' and ')}`)
}

const exported = /^export (?:async )?(?:function\*?|const|type|class|interface) (\w+)/gm

function namesOf(path: string): string[] {
  if (grabBags.test(path)) return [`${path}: a grab bag by name`]
  if (/[A-Z]/.test(path.split('/').at(-1) ?? '')) return [`${path}: file names are kebab-case`]
  return roomOf(path) === undefined ? [`${path}: stands in no room of the plan`] : []
}

function habitsOf(path: string, text: string): string[] {
  const found: string[] = []
  if (/^export \*/m.test(text)) found.push(`${path}: a door lists its names, no export *`)
  if (/process\.env/.test(text) && !entries.has(path) && path.startsWith('server/')) {
    found.push(`${path}: reads process.env; only an entry hands it to the configuration`)
  }
  if (/^\s*(export\s+)?class\s+\w+/m.test(text) && path.startsWith('server/') && path !== 'server/failure.ts') {
    found.push(`${path}: Failure is the only class in the house`)
  }
  return found
}

const maxFunctionLines = 70

/** A function may be long where the line above it says why. */
function lengthsOf(path: string, text: string): string[] {
  if (!/^(server|cli|clients|web)\//.test(path)) return []
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const name = /^(?:export )?(?:async )?function\*? (\w+)/.exec(line)?.[1]
    if (name === undefined) return []
    const length = lines.indexOf('}', at) - at + 1
    const isExplained = /^\/\/ Over 70 lines: \w/.test(lines[at - 1] ?? '')
    if (length <= maxFunctionLines) return isExplained ? [`${path}: ${name} is short and excuses its length`] : []
    return isExplained ? [] : [`${path}: ${name} has ${length} lines and no reason for it`]
  })
}

function directionOf({ from, to, typeOnly }: Import): string[] {
  const home = roomOf(from)
  if (home === undefined) return []
  if (!to.includes('/') || !/^(api|server|web|cli|clients|test|bench)\//.test(to))
    return libraryOf(from, home, to, typeOnly)
  const room = roomOf(to)
  if (room !== undefined && sharedRooms.has(room) && home.startsWith('server') && to === `${room}/index.ts`) return []
  if (room === home || leaves.has(to)) return home.startsWith('server') || room === home ? [] : [wrong(from, to)]
  if (to === 'server/app.ts') return aboveApp.has(home) && typeOnly ? [] : [wrong(from, to)]
  if (typeLeaves.has(to))
    return home.startsWith('server') && (typeOnly || home === 'server/http') ? [] : [wrong(from, to)]
  if (room === undefined || !(mayImport[home] ?? []).includes(room)) return [wrong(from, to)]
  if (room === 'api') {
    const mayTake = home !== 'web' || typeOnly || valuesForWeb.has(to)
    return mayTake ? [] : [`${from}: the web app takes only types from ${to}`]
  }
  // Both ends of a socket speak one language; the files that define it are the executor's door.
  if (
    (home === 'server/engine' || home === 'server/lookups') &&
    /\/executor\/(socket\/[\w-]+|lookup\/lookup-(file|layout)|instance\/sql-tokens)\.ts$/.test(to)
  )
    return []
  return to === `${room}/index.ts` ? [] : [`${from}: imports ${to} past the door ${room}/index.ts`]
}

function hopOf({ from, to, typeOnly }: Import): string[] {
  const allowed = callPath[from]
  const room = roomOf(to)
  if (allowed === undefined || room === undefined || typeOnly) return []
  if (room === 'api' || leaves.has(to) || room === roomOf(from) || allowed.includes(room)) return []
  return [`${from}: a call takes one hop more, to ${room}`]
}

function libraryOf(from: string, home: string, library: string, typeOnly: boolean): string[] {
  const owner = homes.find((each) => each.library.test(library))
  if (owner === undefined || owner.room === home || owner.also?.includes(home) === true) return []
  if (owner.types === true && typeOnly) return []
  return [`${from}: ${library} lives in ${owner.room}`]
}

function wrong(from: string, to: string): string {
  return `${from}: may not import ${to}`
}

/** Cycles between files, types included: what must be understood together should stand together. */
function cyclesOf(imports: Import[]): string[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of imports) {
    if (to.includes('/')) next.set(from, [...(next.get(from) ?? []), to])
  }
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path)
    if (at !== -1) {
      found.push(`cycle: ${[...trail.slice(at), path].join(' → ')}`)
      return
    }
    if (done.has(path)) return
    for (const target of next.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of next.keys()) visit(path, [])
  return found
}

const maxFilesInFolder = 16

/** Folders that nobody holds in the head any more. */
function fullFolders(paths: string[]): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    if (/^(server|cli|web)\/.*\.tsx?$/.test(path)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > maxFilesInFolder)
    .map(([folder, count]) => `${folder}: holds ${count} files, at most ${maxFilesInFolder} are allowed`)
}

/** Names that say nothing by themselves: several of them in the house, and no search finds the one that is meant. */
const nameless = new Set(['open.ts', 'turns.ts', 'judge.ts', 'files.ts'])

/** A route is called after its noun, and stands under it. */
function namelessFiles(paths: string[]): string[] {
  return paths
    .filter((path) => path.startsWith('server/') && !path.startsWith('server/http/routes/'))
    .filter((path) => nameless.has(path.split('/').at(-1) ?? ''))
    .map((path) => `${path}: the name lacks its noun`)
}

/** Cycles between the folders of a room. Its door stands above all of them and counts for none. */
function folderCyclesOf(imports: Import[]): string[] {
  const next = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const room = roomOf(from)
    if (room === undefined || room === 'server' || roomOf(to) !== room) continue
    if (from === `${room}/index.ts` || dirname(from) === dirname(to)) continue
    next.set(dirname(from), (next.get(dirname(from)) ?? new Set()).add(dirname(to)))
  }
  const reached = (start: string): Set<string> => {
    const seen = new Set<string>()
    const waiting = [start]
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for (const target of next.get(folder) ?? []) {
        if (seen.has(target)) continue
        seen.add(target)
        waiting.push(target)
      }
    }
    return seen
  }
  return [...next].flatMap(([folder, targets]) =>
    [...targets]
      .filter((target) => folder < target && reached(target).has(folder))
      .map((target) => `folders in a circle: ${folder} and ${target}`),
  )
}

/** Words that once meant nine things: a type of that name is declared once for the server and once for the app. */
const oneMeaning = ['Place']
/** Names that two files of one room export on purpose: what the router finds, and what it makes of that. */
const twoMeanings = new Set(['Candidate'])

/** Types that the server exports have a name of their own, and so do those above wherever they stand. */
function manyMeanings(sources: Map<string, string>): string[] {
  const inApp = oneMeaning.flatMap((name) =>
    declaredTwice(sources, 'web/', new RegExp(`^(?:export )?type (${name})\\b`, 'gm')),
  )
  const form = new RegExp(`^(?:export type (\\w+)|type (${oneMeaning.join('|')})\\b)`, 'gm')
  return [...inApp, ...declaredTwice(sources, 'server/', form)]
}

function declaredTwice(sources: Map<string, string>, side: string, form: RegExp): string[] {
  const declared = [...sources].flatMap(([path, text]) =>
    path.startsWith(side)
      ? Array.from(text.matchAll(form), ([, one, other = '']) => ({ name: one ?? other, path }))
      : [],
  )
  return [...Map.groupBy(declared, ({ name }) => name)]
    .filter(([name, places]) => places.length > 1 && !twoMeanings.has(name))
    .map(
      ([name, places]) =>
        `${name} is declared in ${places
          .map(({ path }) => path)
          .toSorted()
          .join(' and ')}`,
    )
}
