import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const commandLimitMs = 240_000

export type Shell = {
  /** Runs commands in the same shell, so that what one sets the next finds. What fails throws. */
  run(commands: string): Promise<string>
  close(): void
}

/** One shell for a page, as a reader has it: a command that fails ends it. */
export function openShell(folder: string, env: Record<string, string>): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
  let [stdout, stderr, runs] = ['', '', 0]
  let wake = (): void => undefined
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString()
    wake()
  })
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  child.once('close', () => wake())
  // A shell that has ended takes no more; `run` says so.
  child.stdin.on('error', () => undefined)
  child.stdin.write('set -euo pipefail\n')

  const run = async (commands: string): Promise<string> => {
    runs += 1
    const mark = `-- end of ${runs} --`
    const file = join(folder, `.commands-${runs}.sh`)
    await writeFile(file, commands)
    stdout = stderr = ''
    child.stdin.write(`source '${file}' < /dev/null\necho\necho '${mark}'\n`)
    const endAt = Date.now() + commandLimitMs
    while (!stdout.includes(mark)) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It failed: ${stdout}${stderr}`)
      if (Date.now() > endAt) throw new Error(`It did not end within ${commandLimitMs} ms: ${stdout}${stderr}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return stdout.slice(0, stdout.indexOf(mark)).trim()
  }
  return { run, close: () => void child.kill('SIGKILL') }
}
