import { Command } from 'commander'
import { spawn } from 'node:child_process'
import { findNode, serverEnvironment } from '../../../scripts/launch.mjs'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { serverProgram } from '../../context/installation.ts'
import { countText, timeText } from '../../terminal/texts.ts'

type Options = { data?: string }
type BackupReport = { tables: number; rows: number; files: number; missing_files: string[]; at: string }

export function backupCommand(): Command {
  const command = new Command('backup')
    .description(
      'Copies every table at one moment, the files that its rows name and the key of its data folder into a new folder. On the machine that has the data folder, with the same settings as the service.',
    )
    .argument('<folder>', 'a folder that is not there yet')
    .option('--data <folder>', 'the data folder, instead of ./data')
  return does<Options>(command, (context, options, [folder = '']) => run('backup', { context, options, folder }))
}

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description(
      'Into an empty data folder, and into an empty database where SLUICE_DATABASE_URL names one. A backup of an older version is brought forward. Then `sluice start`.',
    )
    .argument('<folder>', 'what `sluice backup` made')
    .option('--data <folder>', 'the data folder, instead of ./data')
  return does<Options>(command, (context, options, [folder = '']) => run('restore', { context, options, folder }))
}

async function run(
  act: 'backup' | 'restore',
  { context, options, folder }: { context: Context; options: Options; folder: string },
): Promise<void> {
  const progress = context.progress()
  progress.show(null, act === 'backup' ? 'copying' : 'restoring')
  const report = await runProgram(act, folder, options).finally(() => progress.end())
  if (context.json) context.printJson(report)
  else {
    const { print, style } = context
    const what = `${countText(report.rows, 'row')} of ${countText(report.tables, 'table')}, ${countText(report.files, 'file')}`
    print(`${style.good('✓')} ${what}, as of ${timeText(report.at)}`)
    if (report.missing_files.length > 0) {
      print(style.warn(`${countText(report.missing_files.length, 'file')} that rows name were not there.`))
    }
    if (act === 'backup') print(style.dim(`${folder} holds the key of the credentials, too: keep it as safe as them.`))
  }
}

/** In a process of its own, on the Node that the server needs. */
async function runProgram(act: string, folder: string, { data }: Options): Promise<BackupReport> {
  const env = serverEnvironment({ ...process.env, ...(data !== undefined && { SLUICE_DATA_DIR: data }) })
  const child = spawn(findNode(), ['--no-warnings', serverProgram('backup-program'), act, folder], { env })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0) throw new CommandFailure('failed', stderr.trim() || `It ended with ${code}.`)
  return JSON.parse(stdout) as BackupReport
}
