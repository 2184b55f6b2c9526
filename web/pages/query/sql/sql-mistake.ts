import { isRefusal } from '../../../client/api.ts'
import type { SqlMistake } from './sql-editor.tsx'

/** Where in the SQL the server found something wrong, if that is why it refused. */
export function mistakeOf(error: Error | null): SqlMistake | null {
  if (error === null || !isRefusal(error) || error.status !== 400) return null
  const { line, column, word, details, message } = error.envelope
  return {
    message: details?.[0]?.message ?? message,
    line: typeof line === 'number' ? line : null,
    column: typeof column === 'number' ? column : null,
    word: typeof word === 'string' ? word : '',
  }
}
