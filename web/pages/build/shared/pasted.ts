/** A command or a document, rather than an address. */
export function isCommand(text: string): boolean {
  return /^\s*(curl\s|\{(?!\{)|<|---|(openapi|swagger)\s*:)/i.test(text)
}

export function isUrl(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text.trim())
}
