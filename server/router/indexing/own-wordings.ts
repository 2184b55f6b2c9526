import type { TextShape } from '../../language/index.ts'
import { bareWording } from '../ranking/counter-examples.ts'
import type { IndexedText } from '../project/index-text.ts'

/** The rows of examples by their wording, whatever their values are of, and word for word. */
export function ownWordingsOf(texts: IndexedText[]): Map<string, number[]> {
  const rows = new Map<string, number[]>()
  for (const [row, { kind, text, shape }] of texts.entries()) {
    if (kind !== 'example') continue
    for (const wording of new Set([openWording(shape), bareWording(text)])) {
      rows.set(wording, [...(rows.get(wording) ?? []), row])
    }
  }
  return rows
}

/** The wording of a text with a gap for its values: values side by side, "March 2026", may be one elsewhere. */
export function openWording({ masked }: Pick<TextShape, 'masked'>): string {
  return bareWording(masked).replaceAll(/<[^<>]*>(?:\s+<[^<>]*>)*/g, '<>')
}
