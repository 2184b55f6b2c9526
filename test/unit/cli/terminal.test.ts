import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildProgram } from '../../../cli/program.ts'
import { exitCodes } from '../../../cli/terminal/exit.ts'
import { openProgress } from '../../../cli/terminal/progress.ts'
import { styleFor } from '../../../cli/terminal/style.ts'
import { table, visible } from '../../../cli/terminal/table.ts'
import { openTerminal } from '../../harness/terminal.ts'

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

describe('every command', async () => {
  const commands = (await buildProgram()).commands.flatMap((each) => [each, ...each.commands])

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

describe('compiled modules', () => {
  const version = (cache: string): string => {
    const env = { PATH: process.env['PATH'], XDG_CACHE_HOME: cache }
    return spawnSync(process.execPath, ['--no-warnings', 'cli/main.ts', '--version'], { encoding: 'utf8', env }).stdout
  }

  test('are kept for the next command, and done without where there is no room for them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-compiled-'))
    try {
      const number = version(folder)
      expect(number).toMatch(/^\d+\.\d+/)
      const kept = await readdir(join(folder, 'sluice/compiled'), { recursive: true })
      expect(kept.length).toBeGreaterThan(10)
      await writeFile(join(folder, 'file'), '')
      expect(version(join(folder, 'file'))).toBe(number)
    } finally {
      await rm(folder, { recursive: true })
    }
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

  const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

  test.runIf(hasShell('fish'))('for fish completes commands, subcommands, options and their values', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'sluice.fish')
      await writeFile(file, run('fish'))
      const complete = (line: string): string[] => {
        const ask = `source '${file}'; complete -C '${line}'`
        const { stdout, stderr } = spawnSync('fish', ['-c', ask], {
          encoding: 'utf8',
          cwd: folder,
          env: homeIn(folder),
        })
        expect(stderr).toBe('')
        return stdout.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0] ?? '']))
      }
      expect(complete('sluice rel')).toEqual(['release', 'releases'])
      expect(complete('sluice jobs ')).toEqual(['cancel', 'list', 'retry', 'watch'])
      // A job has no command below it.
      expect(complete('sluice jobs watch ')).not.toContain('list')
      expect(complete('sluice release --fo')).toEqual(['--force'])
      expect(complete('sluice types --language ')).toEqual(['python', 'typescript'])
      expect(complete('sluice completion z')).toEqual(['zsh'])
      expect(complete('sluice --js')).toEqual(['--json'])
    })
  })

  test.runIf(hasShell('zsh'))(
    'for zsh completes commands, subcommands, options and their values',
    async () => {
      await inFolder(async (folder) => {
        await writeFile(join(folder, '_sluice'), run('zsh'))
        const complete = async (line: string, becomes: RegExp): Promise<void> => {
          const terminal = openTerminal(['zsh', '-f', '-i'], { cwd: folder, env: homeIn(folder) })
          const ready = `PS1='> '; fpath=('${folder}' $fpath); autoload -Uz compinit; compinit -u -D; echo is-$((1 + 1))`
          try {
            terminal.type(`${ready}\n`)
            await terminal.until(/is-2/)
            terminal.type(`${line}\t\t`)
            await terminal.until(becomes)
          } finally {
            terminal.close()
          }
        }
        const asked: Array<[line: string, becomes: RegExp]> = [
          ['sluice rel', /release +-- .*\n.*releases +-- /],
          ['sluice jobs wa', /sluice jobs watch/],
          ['sluice release --fo', /sluice release --force/],
          ['sluice release -e staging --fo', /sluice release -e staging --force/],
          ['sluice types -l py', /sluice types -l python/],
          ['sluice completion fi', /sluice completion fish/],
        ]
        for (const [line, becomes] of asked) await expect(complete(line, becomes), line).resolves.toBeUndefined()
      })
    },
    120_000,
  )

  test('for zsh and fish names every command', async () => {
    const { commands } = await buildProgram([])
    for (const shell of ['zsh', 'fish']) {
      const script = run(shell)
      for (const command of commands) expect(script).toContain(command.name())
    }
  })
})

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-shell-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function homeIn(folder: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: folder, LANG: 'C.UTF-8' }
}
