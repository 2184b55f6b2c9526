import { notifications } from '@mantine/notifications'
import { readRefusal } from '../../client/api.ts'
import { saveFile } from '../../browser/save-file.ts'
import { copyText } from './copy-text.ts'
import type { Download, FileFormat, GridRow, GridSource } from './model.ts'

const types: Record<string, string> = { csv: 'text/csv', json: 'application/json', ndjson: 'application/x-ndjson' }

/** Saves the rows as a file: of the service where it makes one, which has all of them, else of those at hand. */
export async function saveRows(
  { name, fetch }: Download,
  format: FileFormat,
  { names, source }: { names: string[]; source: GridSource },
): Promise<void> {
  try {
    const content =
      fetch === undefined
        ? new Blob([textOf(format, names, await source.collect(Infinity))], { type: types[format] ?? '' })
        : await bodyOf(await fetch(format))
    saveFile(`${name}.${format}`, content)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'Try again.'
    notifications.show({ color: 'red', title: 'The file was not made', message })
  }
}

async function bodyOf(answer: Response): Promise<Blob> {
  if (!answer.ok) throw await readRefusal(answer)
  return answer.blob()
}

function textOf(format: FileFormat, names: string[], rows: GridRow[]): string {
  if (format !== 'ndjson') return copyText(format === 'csv' ? 'csv' : 'json', names, rows)
  return rows.map((row) => `${JSON.stringify(Object.fromEntries(names.map((name) => [name, row[name]])))}\n`).join('')
}
