/** A name as SQL of our own writes it, whatever it holds. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
