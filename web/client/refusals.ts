import { isRefusal } from './api.ts'
import { ofField, sentence } from '../text/field-words.ts'

/** The event, and the next step where the server's words do not hold it already. */
export function explain(error: Error): { what: string; next: string | null } {
  if (isRefusal(error)) {
    const ours = error.envelope.error === 'internal_error'
    return {
      what: error.envelope.message,
      next: ours ? 'This is a fault of the server, not of what you did. Its log has the cause under this id.' : null,
    }
  }
  if (error.name === 'TimeoutError') {
    return { what: 'The server took too long to answer.', next: 'Nothing of yours is lost. Try again.' }
  }
  if (error instanceof TypeError) {
    return { what: 'The server cannot be reached.', next: 'Check that it runs and that you are connected.' }
  }
  return { what: error.message, next: null }
}

/** Tests with rows that do not pass: nothing on the page is wrong by itself, and whoever knows better may go on. */
export function isTestFailure(error: Error): boolean {
  return isRefusal(error) && error.envelope.reason === 'test_failed'
}

/** Server messages about single fields, by field, as sentences. */
export function fieldErrors(error: Error): Record<string, string> {
  if (!isRefusal(error) || isTestFailure(error)) return {}
  return Object.fromEntries((error.envelope.details ?? []).map(({ field, message }) => [field, sentence(message)]))
}

/** Server messages about fields that are not on the page, or about tests; null when there are none. */
export function unplacedDetails(
  error: Error,
  fields: readonly string[],
): Array<{ field: string; sentence: string }> | null {
  if (!isRefusal(error) || error.envelope.details === undefined) return null
  return error.envelope.details
    .filter(({ field }) => !fields.includes(field))
    .map(({ field, message }) => ({
      field,
      sentence: isTestFailure(error) ? `${field}: ${message}` : ofField(field, message),
    }))
}
