import { words } from '../../language/index.ts'

/** Hashed words and letter triples as a direction of length one, for machines where the encoder does not run. */
export function hashedVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  const add = (feature: string, weight: number): void => {
    const hash = fnv(feature)
    const at = (hash >>> 1) % dimensions
    vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weight : -weight)
  }
  for (const { stem } of words(text)) {
    add(stem, 1)
    const padded = `^${stem}$`
    for (let at = 0; at + 3 <= padded.length; at += 1) add(`#${padded.slice(at, at + 3)}`, 0.4)
  }
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares) || 1
  return vector.map((value) => value / length)
}

function fnv(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
