import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operatorToken } from './app.ts'

const root = join(import.meta.dirname, '../..')
const runLimitMs = 120_000

export type CliRun = { code: number | null; stdout: string; stderr: string }

export type Cli = {
  /** The folder that commands are typed in. */
  folder: string
  environment: Record<string, string>
  run(...args: string[]): Promise<CliRun>
  /** Its answer in JSON; throws where the command fails. */
  json(...args: string[]): Promise<any> // oxlint-disable-line typescript/no-explicit-any -- a test asserts on it
  /** With something on standard input. */
  runWith(input: string, ...args: string[]): Promise<CliRun>
  /** One that goes on until it is ended, with what it has said so far. */
  start(...args: string[]): Started
  close(): Promise<void>
}

type Ended = { code: number | null; signal: NodeJS.Signals | null }
export type Started = {
  said(): Pick<CliRun, 'stdout' | 'stderr'>
  ended: Promise<Ended>
  /** As Ctrl-C does. */
  interrupt(): Promise<Ended>
}

/** The command line as a person has it: in a folder of its own, with a home of its own. */
export async function openCli(url: string, environment: Record<string, string> = {}): Promise<Cli> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  const folder = await mkdtemp(join(home, 'project-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SLUICE_URL: url,
    SLUICE_TOKEN: operatorToken,
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/sluice'),
    ...environment,
  }
  const spawned = (args: string[]) =>
    spawn(process.execPath, ['--no-warnings', join(root, 'cli/main.ts'), ...args], { cwd: folder, env })
  const runWith = (input: string, ...args: string[]): Promise<CliRun> =>
    new Promise((resolve) => {
      const child = spawned(args)
      const late = setTimeout(() => child.kill('SIGKILL'), runLimitMs)
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
      child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
      child.stdin.end(input)
      child.once('close', (code) => {
        clearTimeout(late)
        resolve({ code, stdout, stderr })
      })
    })
  return {
    folder,
    environment: env,
    runWith,
    run: (...args) => runWith('', ...args),
    start(...args) {
      const child = spawned(args)
      const late = setTimeout(() => child.kill('SIGKILL'), runLimitMs)
      const said = { stdout: '', stderr: '' }
      child.stdout.on('data', (bytes: Buffer) => (said.stdout += bytes.toString()))
      child.stderr.on('data', (bytes: Buffer) => (said.stderr += bytes.toString()))
      const ended = new Promise<Ended>((resolve) => {
        child.once('close', (code, signal) => {
          clearTimeout(late)
          resolve({ code, signal })
        })
      })
      return {
        said: () => said,
        ended,
        interrupt() {
          child.kill('SIGINT')
          return ended
        },
      }
    },
    async json(...args) {
      const { code, stdout, stderr } = await runWith('', ...args, '--json')
      if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout) as unknown
    },
    close: () => rm(home, { recursive: true, force: true }),
  }
}
