// A start reads two thousand modules, packages included, which is half of its time. This puts them into a few files, for
// one state of the sources. They say what the sources say, under the same names.
import { mkdir } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { root } from './prepare.mjs'

const [folder, later = folder] = process.argv.slice(2)
if (folder === undefined || folder.startsWith('-'))
  throw new Error('Name the folder to write to, and what it will be called if that is another.')

/** What is compiled for one kind of machine stays in its package; `pg` only asks whether the last is there. */
const external = [/^@duckdb\//, /^onnxruntime-/, /^@node-rs\//, 'pg-native']
const ours = ['server', 'api'].map((name) => join(root, name) + sep)
const programBeside = /\bprogramBeside\(import\.meta\.url, '([^']+)'\)/g
const firstStatement = /^(?!import\b|[\s}/])/m

try {
  // First, since a folder that cannot be made is told in one line here.
  await mkdir(folder, { recursive: true })
  await write()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function write() {
  const bundle = await rolldown({
    input: { 'server/main': join(root, 'server/main.ts') },
    platform: 'node',
    external,
    plugins: [{ name: 'places', transform: keepPlaces }],
    // What is wrong with the sources ends it; how long a slow machine took is nobody's matter.
    checks: { bundlerTimings: false },
    onLog: (level, log, say) => level === 'warn' && say('error', log),
  })
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'parts/[name]-[hash].mjs',
    // Half the memory: V8 keeps the text of a program, and takes two bytes for each character if one needs them.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
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
      const fileName = `${relative(root, program).replaceAll(sep, '/')}.mjs`
      this.emitFile({ type: 'chunk', id: `${program}.ts`, fileName })
      return `new URL(${JSON.stringify(pathToFileURL(join(later, fileName)).href)})`
    })
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}
