import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { buildProgram } from '../../../cli/program.ts'
import { exitCodes } from '../../../cli/exit.ts'
import { openProgress } from '../../../cli/terminal/progress.ts'
import { styleFor } from '../../../cli/terminal/style.ts'
import { table, visible } from '../../../cli/terminal/table.ts'

describe('a table', () => {
  const columns = [{ title: 'name' }, { title: 'count', align: 'right' as const }]

  test('stands in columns, wide characters, colours and all', () => {
    const rows = [
      ['\u001b[32mabc\u001b[39m', '1'],
      ['日本', '22'],
      ['é', '333'],
      ['👩‍👩‍👧', '4'],
    ]
    const widths = table(columns, rows)
      .split('\n')
      .map((line) => visible(line))
    expect(new Set(widths)).toEqual(new Set([11]))
  })

  test('gives way to the width of the terminal', () => {
    const lines = table(columns, [['x'.repeat(200), '1']], 40).split('\n')
    expect(lines.map((line) => visible(line))).toEqual([40, 40])
    expect(lines[1]).toContain('x… ')
  })

  test('cuts nothing that is to be copied', () => {
    const id = 'job_01M7J3KQ0KMNB6RMN8MJ'
    const text = table([{ title: 'JOB', whole: true }, { title: 'WHY' }], [[id, 'x'.repeat(100)]], 50)
    expect(text).toContain(id)
    expect(text.split('\n').map((line) => visible(line))).toEqual([29, 50])
  })

  test('keeps a row on one line', () => {
    expect(table(columns, [['a\nb', '1']]).split('\n')).toHaveLength(2)
  })
})

test('colours are only for terminals that have them', () => {
  const terminal = { isTTY: true, hasColors: () => true }
  expect(styleFor(terminal, true).bad('x')).toBe('\u001b[31mx\u001b[39m')
  expect(styleFor(terminal, false).bad('x')).toBe('x')
  expect(styleFor({ isTTY: true, hasColors: () => false }, true).bad('x')).toBe('x')
  expect(styleFor({}, true).bad('x')).toBe('x')
})

test('progress is one line in a terminal, and silent elsewhere', () => {
  const written: string[] = []
  const screen = (isTTY: boolean) => ({ isTTY, columns: 80, write: (text: string) => written.push(text) })
  const style = styleFor({}, false)
  const live = openProgress(screen(true), style)
  live.show(0.5, 'rows')
  live.end('done')
  expect(written.join('')).toBe(`\r\u001b[2K${'█'.repeat(12)}${'░'.repeat(12)}  50 % rows\r\u001b[2Kdone\n`)
  written.length = 0
  const silent = openProgress(screen(false), style)
  silent.show(0.5, 'rows')
  silent.end()
  expect(written).toEqual([])
})

describe('every command', () => {
  const commands = buildProgram().commands.flatMap((each) => [each, ...each.commands])

  test('says what it does, and so does each of its options and arguments', () => {
    expect(commands.length).toBeGreaterThan(25)
    for (const command of commands) {
      expect(command.summary(), command.name()).not.toBe('')
      for (const { description, flags } of command.options)
        expect(description, `${command.name()} ${flags}`).not.toBe('')
      for (const each of command.registeredArguments) expect(each.description, command.name()).not.toBe('')
    }
  })

  test('has an end of its own', () => {
    expect(new Set(Object.values(exitCodes)).size).toBe(Object.keys(exitCodes).length)
  })
})

describe('completion', () => {
  const run = (shell: string): string => {
    const args = ['--no-warnings', 'cli/main.ts', 'completion', shell]
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status).toBe(0)
    return stdout
  }

  test('for bash completes commands, subcommands and options', () => {
    const script = run('bash')
    const complete = (...words: string[]): string[] => {
      const given = words.map((word) => `'${word}'`).join(' ')
      const ask = `${script}\nCOMP_WORDS=(sluice ${given}); COMP_CWORD=${words.length}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`
      return spawnSync('bash', ['-c', ask], { encoding: 'utf8' }).stdout.trim().split('\n')
    }
    expect(complete('rel')).toEqual(['release', 'releases'])
    expect(complete('jobs', 'wa')).toEqual(['watch'])
    expect(complete('release', '--fo')).toEqual(['--force'])
    expect(complete('completion', 'z')).toEqual(['zsh'])
    expect(complete('keys', 'create', '--sa')).toEqual(['--save'])
  })

  test('for zsh and fish names every command', () => {
    for (const shell of ['zsh', 'fish']) {
      const script = run(shell)
      for (const { name } of buildProgram().commands.map((each) => ({ name: each.name() })))
        expect(script).toContain(name)
    }
  })
})
