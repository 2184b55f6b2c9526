/** The differences, part by part: those that are compared line by line, and those that are replaced. */
type Difference = { diff: string; replaced: string[] }

/**
 * The lines of a unified diff of a query: its pieces with an empty line between them. The names of files and the
 * places in them are left out; they are known by what follows them, as a comment that went begins with `---` too. Parts
 * that are replaced are left out: their lines were not compared.
 */
export function changedLines({ diff, replaced }: Difference): string[] {
  const [, ...split] = diff.split(/^--- (\w+) of .*\n\+\+\+ .*\n(?=@@ )/m)
  return split
    .filter((_, at) => at % 2 === 1 && !replaced.includes(split[at - 1] ?? ''))
    .flatMap((part) => part.split(/^@@ .*\n/m).slice(1))
    .map((piece) => piece.split('\n').filter((line) => /^[-+ ]/.test(line)))
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

const partNames: Record<string, string> = { sql: 'SQL', slots: 'slots', settings: 'settings' }

/** Null where every part was compared. */
export function replacedText({ replaced }: Difference): string | null {
  if (replaced.length === 0) return null
  return `Replaced, with too many lines to compare: ${replaced.map((part) => partNames[part] ?? part).join(', ')}.`
}
