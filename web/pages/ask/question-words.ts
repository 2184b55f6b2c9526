import type { QuestionResult } from './question-result.ts'

type Before = { question: string; parameters: Record<string, unknown> }

/** The changes of a follow-up to the question before it. */
export function sayChanged(changed: string[], now: Record<string, unknown>, before: Before): string {
  const words = changed.map((slot) => {
    const [value, earlier] = [now[slot], before.parameters[slot]]
    if (value === undefined || value === null) return `${slot} left out`
    const instead = earlier === undefined || earlier === null ? '' : ` instead of ${sayValue(earlier)}`
    return `${slot} is ${sayValue(value)}${instead}`
  })
  return `Follow-up to “${before.question}”: ${words.length === 0 ? 'nothing changed' : words.join(', ')}.`
}

/** Why a question has no answer, in one sentence. */
export function sayRefusal({ outcome, message, query, confidence, missing }: QuestionResult): string {
  const sure = confidence === null ? '' : `, ${Math.round(confidence * 100)} % sure`
  if (outcome === 'ambiguous') return 'Several queries could answer this. Choose one.'
  if (outcome === 'unexpressed') {
    return `${query ?? 'The nearest query'} would leave out a part of the question, so it is not answered.`
  }
  if (outcome === 'unsure') return `${query ?? 'A query'} may answer this${sure}. So it is not answered.`
  // Hints of the API for its callers are offered as fields here.
  if (outcome === 'missing_slots' && missing !== null) {
    const names = Object.keys(missing.properties).join(', ')
    return `${query ?? 'A query'} would answer this, but the question does not say ${names}.`
  }
  return message ?? `No deployed query answers this${sure}.`
}

/** The words that the answer leaves out; empty where it leaves out none. */
export function leftOutWords({ unexpressed, routing }: QuestionResult): string {
  const unused = routing.unused.filter(
    ({ start }) => !unexpressed.some((each) => each.start <= start && start < each.end),
  )
  return [
    ...unexpressed.map(({ text, kind }) => `“${text}” (${kind.replace('_', ' ')})`),
    ...unused.map(({ text }) => `“${text}” (a value)`),
  ].join(', ')
}

/** Those that are given, as they stand in a sentence. */
export function sayValues(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined)
  return given.map(([slot, value]) => `${slot} = ${sayValue(value)}`).join(', ')
}

export function sayValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
