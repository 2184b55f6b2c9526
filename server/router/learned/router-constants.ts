import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** Features of a query for a question, by name. The ranker's weights carry the same names. */
export const featureNames = [
  'cosRaw',
  'cosMasked',
  'cosMasked2nd',
  'cosName',
  'centroidRaw',
  'centroidMasked',
  'whiteRaw',
  'whiteMasked',
  'pairs',
  'slotsMissing',
  'spansUnused',
  'exactSignature',
] as const

export type FeatureName = (typeof featureNames)[number]
export type Features = Record<FeatureName, number>
/**
 * Signs for answering at all. A project of many queries is measured by how close they lie to each other; one of few
 * queries has no such measure, and closeness itself must do.
 */
export const confidenceNames = {
  many: ['probability', 'whiteNear', 'whiteGain', 'shapeGain', 'ownGain', 'slotsMissing', 'spansUnused', 'strange'],
  few: ['probability', 'cosRaw', 'cosName', 'slotsMissing', 'spansUnused', 'elsewhere', 'worded'],
} as const

/** Signs that an answer's share of being right is computed from, without the reader and with it. */
export const shareNames = {
  unread: ['short', 'margin', 'unused'],
  read: ['short', 'margin', 'unused', 'matchLow', 'matchMiddle', 'matchHigh', 'ahead'],
} as const

export type UnreadName = (typeof shareNames.unread)[number]
export type ReadName = (typeof shareNames.read)[number]
export type ManyName = (typeof confidenceNames.many)[number]
export type FewName = (typeof confidenceNames.few)[number]
/** Constants learned offline with `bench/routing/learn.ts`; they hold for every project. */
export type Constants = {
  ranker: Record<FeatureName, number>
  confidence: { many: Weighing<ManyName>; few: Weighing<FewName> }
  /** Learned with `bench/trust/calibration.ts`. */
  share: { unread: Weighing<UnreadName>; read: Weighing<ReadName> }
}

type Weighing<Name extends string> = { bias: number; weights: Record<Name, number> }

const numbers = <Name extends string>(names: readonly [Name, ...Name[]]) => z.record(z.enum(names), z.number())

const constantsSchema = z.strictObject({
  ranker: numbers(featureNames),
  confidence: z.strictObject({
    many: z.strictObject({ bias: z.number(), weights: numbers(confidenceNames.many) }),
    few: z.strictObject({ bias: z.number(), weights: numbers(confidenceNames.few) }),
  }),
  share: z.strictObject({
    unread: z.strictObject({ bias: z.number(), weights: numbers(shareNames.unread) }),
    read: z.strictObject({ bias: z.number(), weights: numbers(shareNames.read) }),
  }),
})

export async function readConstants(path: string): Promise<Constants> {
  return constantsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
}
