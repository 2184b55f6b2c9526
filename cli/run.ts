import { CommanderError } from 'commander'
import { CommandFailure, exitCodes } from './terminal/exit.ts'
import { buildProgram } from './program.ts'
import { styleFor } from './terminal/style.ts'

/** Runs the command and ends with the code that says how it went. */
export async function run(): Promise<void> {
  // A reader that has enough, such as `head`, is no failure of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  try {
    const program = await buildProgram(process.argv.slice(2))
    await program.parseAsync()
  } catch (error) {
    process.exitCode = report(error)
  }
}

function report(error: unknown): number {
  // Help and version end this way, too; the rest has been told.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  const isJson = process.argv.includes('--json')
  if (error instanceof CommandFailure) {
    if (isJson) {
      const envelope = { error: error.exit, message: error.message, ...error.fields }
      process.stderr.write(`${JSON.stringify(envelope)}\n`)
    } else process.stderr.write(failureText(error))
    return exitCodes[error.exit]
  }
  // Ctrl-D at a question, and Ctrl-C.
  if (error instanceof Error && error.name === 'AbortError') return exitCodes.interrupted
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return exitCodes.failed
}

function failureText({ message, hint }: CommandFailure): string {
  const style = styleFor(process.stderr, !process.argv.includes('--no-color'))
  return `${style.bad('✗')} ${message}\n${hint === undefined ? '' : `${style.dim(hint)}\n`}`
}
