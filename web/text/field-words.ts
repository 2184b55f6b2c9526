/** What is said about a field, with the field in words. A message that is a sentence already needs none before it. */
export function ofField(field: string, message: string): string {
  const isWhole = /^[A-Z“]/.test(message) && /[.!?]$/.test(message)
  return isWhole ? message : sentence(`${sayField(field)} ${message}`)
}

const fieldWords: Record<string, string> = {
  url: 'the address',
  connect_spec: 'the connection',
  responsePathExtractor: 'the path of the rows',
  sql: 'the SQL',
  cache_seconds: 'for how long answers are kept',
}

/** `parameters.category` is what people call `category`, `rate_limit.per_minute` the `per minute` of a rate limit. */
function sayField(field: string): string {
  const known = fieldWords[field]
  if (known !== undefined) return known
  const path = field.replace(/^(parameters|connect_spec\.config|config|slots\.properties|body|query)\./, '')
  return fieldWords[path] ?? path.replaceAll(/[_.]/g, ' ')
}

export function sentence(words: string): string {
  const capital = words.charAt(0).toUpperCase() + words.slice(1)
  return /[.!?]$/.test(capital) ? capital : `${capital}.`
}
