import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { arch, cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileCache, programBeside } from '../../process/index.ts'

const packTimeoutMs = 60_000

/**
 * The folder in which models lie as they are when they are ready to run on this processor; made where it is not there.
 * Processes that open them map their weights and share them, and are ready sooner. It lies beside the compiled modules;
 * null where none are kept, or where it cannot be made: then each process holds weights of its own.
 */
export async function packedModels(
  models: Array<{ path: string; sha256: string }>,
  cache: string | undefined = compileCache().NODE_COMPILE_CACHE,
): Promise<string | null> {
  if (cache === undefined) return null
  const [cpu] = cpus()
  const runtime = process.versions.modules
  const key = JSON.stringify([models.map(({ sha256 }) => sha256), arch(), cpu?.model, runtime, packingVersion])
  const folder = join(cache, `models-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`)
  try {
    await access(folder)
    return folder
  } catch {
    return (await pack(folder, models)) ? folder : null
  }
}

/** To be changed with the runtime or what is written: packed models of before are then left alone. */
const packingVersion = 'onnxruntime-node 1.30.0, the reader as it was written'

async function pack(folder: string, models: Array<{ path: string }>): Promise<boolean> {
  const making = `${folder}.${process.pid}`
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(making)
    await runPacking([making, ...models.map(({ path }) => path)])
    // A process that comes second finds the same folder there.
    await rename(making, folder).catch(() => access(folder))
    return true
  } catch {
    return false
  } finally {
    await rm(making, { recursive: true, force: true }).catch(() => undefined)
  }
}

function runPacking(args: string[]): Promise<void> {
  const program = fileURLToPath(programBeside(import.meta.url, 'pack-models'))
  const child = spawn(process.execPath, ['--no-warnings', program, ...args], {
    env: { ...compileCache() },
    stdio: 'ignore',
    timeout: packTimeoutMs,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`packing ended with ${code}`))))
  })
}
