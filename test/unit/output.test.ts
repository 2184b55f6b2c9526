import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLines } from '../../server/process/output.ts'

// Longer than what a pipe takes whole or not at all.
const line = (at: number): string => `${JSON.stringify({ at, text: 'x'.repeat(10_000) })}\n`

/** A pipe whose reader reads when it likes. */
function openPipe(): number {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pipe-'))
  const path = join(folder, 'pipe')
  spawnSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => {
    closeSync(pipe)
    rmSync(folder, { recursive: true })
  })
  return pipe
}

function readAll(pipe: number): string {
  const bytes = Buffer.alloc(1_000_000)
  let have = 0
  for (;;) {
    try {
      have += readSync(pipe, bytes, { offset: have })
    } catch {
      return bytes.toString('utf8', 0, have)
    }
  }
}

// `mkfifo`, and a pipe of 64 KiB.
describe.runIf(process.platform === 'linux')('lines into a pipe', () => {
  test('a reader who stops reading costs lines, and where they are missing stands how many', () => {
    const pipe = openPipe()
    const { write } = openLines(pipe)
    for (let at = 0; at < 20; at += 1) write(line(at))
    const before = readAll(pipe)
    write(line(20))
    const read = `${before}${readAll(pipe)}`.trimEnd().split('\n')
    const lines = read.map((each) => JSON.parse(each) as { at?: number; lines?: number })
    const [last, notice, ...heard] = lines.toReversed()
    expect(heard.length).toBeGreaterThan(5)
    expect(heard.toReversed().map(({ at }) => at)).toEqual(heard.map((_, at) => at))
    expect(notice).toMatchObject({ kind: 'log-lines-lost', level: 40, lines: 20 - heard.length })
    expect(last).toMatchObject({ at: 20 })
  })

  test('a reader who was only slow loses nothing', () => {
    const pipe = openPipe()
    const { write } = openLines(pipe)
    let read = ''
    for (let at = 0; at < 50; at += 1) {
      write(line(at))
      if (at % 5 === 4) read += readAll(pipe)
    }
    expect(read.trimEnd().split('\n')).toHaveLength(50)
  })

  test('a disk that is full stops nobody', () => {
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const { write } = openLines(full)
    for (let at = 0; at < 10; at += 1) expect(() => write(line(at))).not.toThrow()
  })
})
