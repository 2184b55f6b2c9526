import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

export type Terminal = {
  /** What stands on the screen now, without colours, as a person reads it. */
  screen(): string
  /** Every byte that came, colours included. */
  raw(): string
  type(text: string): void
  /** Waits until the screen shows something. */
  until(pattern: RegExp): Promise<void>
  exited: Promise<number | null>
  /** Hangs up: what runs in it ends. */
  close(): void
}

const columns = 100
const untilMs = 60_000

/** A command in a real pseudo-terminal, made by `script` of util-linux. */
export function openTerminal(command: string[], options: { cwd: string; env: Record<string, string> }): Terminal {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 40; exec ${quoted}`, '/dev/null'], {
    cwd: options.cwd,
    env: { ...options.env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let raw = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (raw += text))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    raw: () => raw,
    screen: () => drawn(raw),
    type: (text) => void child.stdin.write(text),
    exited,
    close: () => void child.kill('SIGKILL'),
    async until(pattern) {
      for (const deadline = Date.now() + untilMs; Date.now() < deadline; await wait(20)) {
        if (pattern.test(drawn(raw))) return
        if (child.exitCode !== null) break
      }
      if (!pattern.test(drawn(raw))) throw new Error(`The screen never showed ${pattern}:\n${drawn(raw)}`)
    },
  }
}

// oxlint-disable-next-line no-control-regex -- terminals speak in them
const sequence = /\u001b\[([0-9;?]*)([A-Za-z])|\r|\n|\u001b.|[^\u001b\r\n]/gsu

/** Just enough of a terminal for lines that change where they stand. */
function drawn(raw: string): string {
  const lines: string[][] = [[]]
  let [row, column] = [0, 0]
  const line = (): string[] => (lines[row] ??= [])
  for (const [whole, parameters = '', letter] of raw.matchAll(sequence)) {
    const count = Number(parameters.split(';')[0]) || 0
    if (whole === '\r') column = 0
    else if (whole === '\n') row += 1
    else if (letter === 'K') line().splice(parameters === '2' ? 0 : column)
    else if (letter === 'J') {
      line().splice(column)
      lines.splice(row + 1)
    } else if (letter === 'G') column = Math.max(0, count - 1)
    else if (letter === 'C') column += Math.max(1, count)
    else if (letter === 'D') column = Math.max(0, column - Math.max(1, count))
    else if (letter === 'A') row = Math.max(0, row - Math.max(1, count))
    else if (!whole.startsWith('\u001b')) {
      while (line().length < column) line().push(' ')
      line()[column] = whole
      column += 1
    }
  }
  return lines.map((each) => (each ?? []).join('').trimEnd()).join('\n')
}
