/** A message about a field, with the field in words. A message that is a sentence already needs none before it. */
export function ofField(field: string, message: string): string {
  const [, at, slot] = exampleValue.exec(field) ?? []
  if (at !== undefined && slot !== undefined) {
    const example = `Example ${Number(at) + 1}`
    return message.startsWith('is not a slot')
      ? `${example} still uses ${slot}.`
      : sentence(`${example}: ${slot} ${message}`)
  }
  const isWhole = /^[A-Z“]/.test(message) && /[.!?]$/.test(message)
  return isWhole ? message : sentence(`${sayField(field)} ${message}`)
}

/** Where the values of an example stand in a query. */
const exampleValue = /^examples\.(\d+)\.parameters\.(.+)$/

const fieldWords: Record<string, string> = {
  url: 'the address',
  connect_spec: 'the connection',
  responsePathExtractor: 'the path of the rows',
  sql: 'the SQL',
  cache_seconds: 'the cache',
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
