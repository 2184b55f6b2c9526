/**
 * What a unified diff has to say of a query: its pieces with an empty line between them. The names of files and the
 * places in them are left out; they are known by what follows them, as a comment that went begins with `---` too.
 */
export function changedLines(text: string): string[] {
  return text
    .split(/^--- .*\n\+\+\+ .*\n(?=@@ )/m)
    .flatMap((part) => part.split(/^@@ .*\n/m).slice(1))
    .map((piece) => piece.split('\n').filter((line) => /^[-+ ]/.test(line)))
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}
