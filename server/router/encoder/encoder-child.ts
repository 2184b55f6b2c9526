import { spawn, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { encoderFlags, encoderVariables } from '../../../scripts/memory.mjs'
import { compileCache, programBeside } from '../../process/index.ts'
import { Failure } from '../../failure.ts'
import { createWordReader, packWords } from './encoder-pipe.ts'

type Waiting = { resolve: (vector: Float32Array) => void; reject: (error: unknown) => void }

/** A process of the encoder: 100 MB that are not the server's, and native code whose crash is not the server's either. */
export type EncoderChild = {
  child: ChildProcess
  socket: Socket
  waiting: Map<number, Waiting>
  /** Runs while somebody waits, anew after every answer; at its end the process is killed and another takes its place. */
  silence: NodeJS.Timeout | null
  lost: Error | null
}

const openTimeoutMs = 30_000
const stderrBytes = 8_000

/** `onLost` is called once, and only for one that was open. */
export async function openEncoderChild(
  args: string[],
  onLost: (error: Error, opened: EncoderChild) => void,
): Promise<EncoderChild> {
  const program = fileURLToPath(programBeside(import.meta.url, 'encoder-process'))
  const child = spawn(process.execPath, ['--no-warnings', ...encoderFlags, program, ...args], {
    // No environment, so no secret.
    env: { ...encoderVariables, UV_THREADPOOL_SIZE: '1', ...compileCache() },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // A signal to our whole process group is for us; it would come before the process can say that it heeds none.
    detached: true,
  })
  const socket = child.stdio[3] as Socket
  const opened: EncoderChild = { child, socket, waiting: new Map(), silence: null, lost: null }
  let stderr = ''
  child.stderr?.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(0, stderrBytes)))
  let isOpen = false
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), openTimeoutMs)
    const lose = (error: Error): void => {
      if (opened.lost !== null) return
      clearTimeout(timer)
      opened.lost = error
      stopSilenceTimer(opened)
      const owed = new Failure('overloaded', { retryAfterSeconds: 1, cause: error })
      for (const waiter of opened.waiting.values()) waiter.reject(owed)
      opened.waiting.clear()
      reject(error)
      if (isOpen) onLost(error, opened)
    }
    child.on('error', lose)
    child.on('exit', () => lose(new Error(`The encoder has ended. ${reasonIn(stderr)}`.trim())))
    // The end of the process tells all there is to know.
    socket.on('error', () => undefined)
    const read = createWordReader((id, words) => {
      if (id === 0) {
        clearTimeout(timer)
        isOpen = true
        return resolve()
      }
      const waiter = opened.waiting.get(id)
      opened.waiting.delete(id)
      if (opened.waiting.size === 0) {
        stopSilenceTimer(opened)
        socket.unref()
      } else opened.silence?.refresh()
      if (words.byteLength > 0) return waiter?.resolve(new Float32Array(words))
      return waiter?.reject(new Error('The encoder could not read this text.'))
    })
    socket.on('data', read)
  })
  // An open encoder must not keep a finished process alive; one that owes an answer must.
  child.unref()
  socket.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  return opened
}

/** The line that names the error: where it stands among source lines and a stack differs. */
function reasonIn(stderr: string): string {
  return /^\w*Error\b.*$/m.exec(stderr)?.[0] ?? stderr.trim().slice(-500)
}

export async function endEncoderChild({ child, lost }: EncoderChild): Promise<void> {
  if (lost !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  // Else a process that has nothing more to do ends before its children have.
  child.ref()
  // It holds nothing that could be lost, and heeds no other signal.
  child.kill('SIGKILL')
  await ended
}

function stopSilenceTimer(opened: EncoderChild): void {
  if (opened.silence !== null) clearTimeout(opened.silence)
  opened.silence = null
}

/** Result for a text, or for a question beside a card. */
export function askChild(
  opened: EncoderChild,
  { id, words, silenceMs }: { id: number; words: Int32Array; silenceMs: number },
): Promise<Float32Array> {
  const { child, socket, waiting } = opened
  opened.silence ??= setTimeout(() => child.kill('SIGKILL'), silenceMs)
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject })
    socket.ref()
    socket.write(packWords(id, words))
  })
}
