import type { TextShape } from '../../language/index.ts'
import { bareWording } from '../counter-examples.ts'
import type { IndexedText } from './index-text.ts'

/** The rows of examples by their wording, whatever their values are of. */
export function ownWordingsOf(texts: IndexedText[]): Map<string, number[]> {
  const rows = new Map<string, number[]>()
  for (const [row, { kind, shape }] of texts.entries()) {
    if (kind !== 'example') continue
    const wording = openWording(shape)
    rows.set(wording, [...(rows.get(wording) ?? []), row])
  }
  return rows
}

/** The wording of a text with a gap for each value. */
export function openWording({ masked }: Pick<TextShape, 'masked'>): string {
  return bareWording(masked).replaceAll(/<[^<>]*>/g, '<>')
}
