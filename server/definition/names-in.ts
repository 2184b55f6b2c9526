/** The names that a text holds as words, in any spelling. The text is read once, however many names there are. */
export function namesIn(text: string, names: { has(name: string): boolean }): string[] {
  const found = new Set<string>()
  for (const [word] of text.matchAll(/\w+/g)) {
    const name = word.toLowerCase()
    if (names.has(name)) found.add(name)
  }
  return [...found]
}
