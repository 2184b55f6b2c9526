import { createHash } from 'node:crypto'
import type { ProjectIndex } from './project/project-index.ts'

/**
 * The vector of a text. Who asks as an example asks, but for its values, asks a masked text that the index has read
 * already: encoding it again would cost more than all the rest of such a question.
 */
export async function vectorOf(
  { encoder, vectors }: Pick<ProjectIndex, 'encoder' | 'vectors'>,
  text: string,
): Promise<Float32Array> {
  const known = vectors.modelHash === encoder.hash ? vectors.byText.get(textKey(text)) : undefined
  if (known !== undefined) return known
  const [vector] = await encoder.encode([text])
  if (vector === undefined) throw new TypeError('The encoder gave no vector.')
  return vector
}

export function textKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
