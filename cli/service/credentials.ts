import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { CommandFailure } from '../terminal/exit.ts'

/** Credentials for one service: a token to manage with, a key to call with. */
const stored = z.strictObject({ token: z.string().optional(), key: z.string().optional() })
const credentials = z.strictObject({ services: z.record(z.string(), stored).default({}) })
export type Stored = z.output<typeof stored>

type Environment = Readonly<Record<string, string | undefined>>

export function credentialsFile(environment: Environment): string {
  const config = environment['XDG_CONFIG_HOME'] ?? join(environment['HOME'] ?? homedir(), '.config')
  return join(config, 'sluice', 'credentials.yaml')
}

/** Credentials of a service, by its address. A file that others may read is refused: they may have read it. */
export async function readStored(environment: Environment, url: string): Promise<Stored> {
  return (await readAll(credentialsFile(environment))).services[addressOf(url)] ?? {}
}

export async function store(environment: Environment, url: string, given: Stored): Promise<string> {
  const file = credentialsFile(environment)
  const all = await readAll(file)
  all.services[addressOf(url)] = { ...all.services[addressOf(url)], ...given }
  await writeAll(file, all)
  return file
}

/** Whether there was something. */
export async function forget(environment: Environment, url: string): Promise<boolean> {
  const file = credentialsFile(environment)
  const all = await readAll(file)
  const { [addressOf(url)]: kept, ...others } = all.services
  if (kept === undefined) return false
  await writeAll(file, { services: others })
  return true
}

async function writeAll(file: string, all: z.output<typeof credentials>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, stringify(all), { mode: 0o600 })
  await chmod(draft, 0o600)
  await rename(draft, file)
}

async function readAll(file: string): Promise<z.output<typeof credentials>> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return { services: {} }
  const { mode } = await stat(file)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new CommandFailure('credentials', `${file} can be read by others.`, {
      hint: `chmod 600 ${file}, and replace what is in it: it may be known.`,
    })
  }
  const parsed = credentials.safeParse(readYaml(text))
  if (!parsed.success) {
    throw new CommandFailure('credentials', `${file} cannot be read.`, { hint: 'Remove it and run `sluice login`.' })
  }
  return parsed.data
}

function readYaml(text: string): unknown {
  try {
    return parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Two spellings of one address are one service. */
function addressOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}
