import { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { readFiles } from '../../context/files.ts'
import { formatFile } from '../../project/index.ts'
import { CommandFailure } from '../../terminal/exit.ts'

type Options = { check?: boolean }

export function fmtCommand(): Command {
  const command = new Command('fmt')
    .description(
      'Writes the YAML of every file, comments included, indented by two blanks. Order, values and SQL stay as they are; a file that cannot be read is left alone.',
    )
    .option('--check', 'write nothing; end with 7 where a file would change')
  return does<Options>(command, fmt)
}

async function fmt(context: Context, { check }: Options): Promise<void> {
  const changed = [...(await readFiles(context.folder))].flatMap(([path, text]): Array<[string, string]> => {
    const formatted = formatFile(path, text)
    return formatted === text ? [] : [[path, formatted]]
  })
  const paths = changed.map(([path]) => path)
  if (check === true && paths.length > 0) {
    throw new CommandFailure('negative', `Not in the one style: ${paths.join(', ')}.`, {
      hint: '`sluice fmt` writes them.',
      fields: { files: paths },
    })
  }
  for (const [path, text] of changed) await writeFile(join(context.folder, path), text)
  if (context.json) context.printJson({ written: paths })
  else
    context.print(paths.length === 0 ? 'Every file is in the one style.' : paths.map((path) => `  ${path}`).join('\n'))
}
