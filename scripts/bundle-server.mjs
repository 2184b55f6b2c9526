// A start reads two thousand modules, packages included, which is half of its time. This puts them into a few files, for
// one state of the sources. They say what the sources say, under the same names.
import { mkdir } from 'node:fs/promises'
import { dirname, join, posix, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { root } from './prepare.mjs'

/** What is compiled for one kind of machine stays in its package, and what is loaded only when a text needs it. */
const external = [/^@duckdb\//, /^onnxruntime-/, /^@node-rs\//, 'chrono-node', 'tinyld', 'pg-native']
const ours = ['server', 'api'].map((name) => join(root, name) + sep)
const programBeside = /\bprogramBeside\(import\.meta\.url, '([^']+)'\)/g
const firstStatement = /^(?!import\b|[\s}/])/m
const placed = /\b(urlOf|folderOf)Place\("([^"]+)"\)/g

/**
 * Writes the server into `folder`, which will be called `later`. In a checkout its modules find migrations and models
 * among the sources. For the package all of that lies in the folder itself, wherever that is installed; `runtime` is
 * where its copy of onnxruntime-node begins. Answers what was written.
 */
export async function bundleServer(folder, { later = folder, programs = [], runtime } = {}) {
  // First, since a folder that cannot be made is told in one line here.
  await mkdir(folder, { recursive: true })
  const isAlone = runtime !== undefined
  const input = Object.fromEntries(
    ['server/main', ...programs].map((program) => [program, join(root, `${program}.ts`)]),
  )
  const bundle = await rolldown({
    input,
    platform: 'node',
    external,
    plugins: [
      { name: 'places', transform: keepPlaces, renderChunk: isAlone ? findBeside(runtime) : findAmongSources(later) },
    ],
    // What is wrong with the sources ends it; how long a slow machine took is nobody's matter.
    checks: { bundlerTimings: false },
    onLog: (level, log, say) => level === 'warn' && say('error', log),
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'parts/[name]-[hash].mjs',
    // Half the memory: V8 keeps the text of a program, and takes two bytes for each character if one needs them.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  return output
}

/**
 * Files that lie beside a module are found where they lie, and programs that it starts become part of the bundle. Above
 * the code of each module stands where it comes from, for whoever follows a line of a stack trace.
 */
function keepPlaces(code, id) {
  if (!ours.some((place) => id.startsWith(place))) return undefined
  return code
    .replace(firstStatement, `/*! ${relative(root, id)} */\n$&`)
    .replaceAll(programBeside, (_call, name) => {
      const program = join(dirname(id), name)
      const fileName = `${slashed(relative(root, program))}.mjs`
      this.emitFile({ type: 'chunk', id: `${program}.ts`, fileName })
      return `new URL(urlOfPlace(${JSON.stringify(fileName)}))`
    })
    .replaceAll('import.meta.dirname', `folderOfPlace(${JSON.stringify(slashed(relative(root, dirname(id))))})`)
    .replaceAll('import.meta.url', `urlOfPlace(${JSON.stringify(slashed(relative(root, id)))})`)
}

function findAmongSources(later) {
  return (code) =>
    code.replaceAll(placed, (_call, kind, path) => {
      const place = path.endsWith('.mjs') ? join(later, path) : join(root, path)
      return JSON.stringify(kind === 'urlOf' ? pathToFileURL(place).href : place)
    })
}

function findBeside(runtime) {
  return (code, { fileName }) => {
    const from = (path) => {
      const way = posix.relative(posix.dirname(fileName), path)
      return JSON.stringify(way.startsWith('.') ? way : `./${way}`)
    }
    return code
      .replaceAll(placed, (_call, kind, path) =>
        kind === 'urlOf' ? `new URL(${from(path)}, import.meta.url).href` : `import.meta.dirname + "/" + ${from(path)}`,
      )
      .replaceAll(/(["'])onnxruntime-node\1/g, from(runtime))
  }
}

const slashed = (path) => path.replaceAll(sep, '/')

if (import.meta.main) {
  const [folder, later] = process.argv.slice(2)
  try {
    if (folder === undefined || folder.startsWith('-'))
      throw new Error('Name the folder to write to, and what it will be called if that is another.')
    await bundleServer(folder, { later })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
