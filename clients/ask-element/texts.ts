/** Everything the element says. A page may replace any of it: `element.texts = { ask: 'Fragen' }`. */
export const englishTexts = {
  label: 'Ask a question',
  placeholder: 'What would you like to know?',
  ask: 'Ask',
  stop: 'Stop',
  asking: 'Looking for the answer …',
  answer: 'Answer',
  understood: 'Understood as',
  inQuestion: 'in your question: “{words}”',
  corrected: 'Read as “{text}”.',
  leftOut: 'Not taken into account',
  withoutThem: 'Answer without {words}',
  whichOne: 'Which of these do you mean?',
  tryThese: 'Questions that are answered here',
  needed: 'One thing is missing',
  neededMore: 'A few things are missing',
  showAnswer: 'Show the answer',
  optional: 'optional',
  oneEachLine: 'One on each line.',
  yes: 'Yes',
  no: 'No',
  choose: 'Choose …',
  table: 'Table',
  chart: 'Chart',
  view: 'How the answer is shown',
  chartOf: '{value} by {label}',
  noMatch: 'There is no answer to this question here.',
  noRows: 'Nothing was found.',
  rows: '{count} rows',
  row: '1 row',
  truncated: 'These are the first {count} rows; there are more.',
  more: 'Show {count} more rows',
  asOf: 'Data of {time}',
  tooMany: 'Too many questions. Try again in {seconds} seconds.',
  unreachable: 'The service did not answer. Check your connection and try again.',
  noAccess: 'This page may not ask right now. Load it again, or tell its owner.',
  failed: 'Something went wrong. Try again later.',
}

export type Texts = typeof englishTexts

export function say(text: string, values: Record<string, string | number>): string {
  return text.replaceAll(/\{(\w+)\}/g, (mark, name: string) => String(values[name] ?? mark))
}
