import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { featureNames, type FeatureName } from './rank.ts'
import { confidenceNames, type ConfidenceName } from './refuse.ts'

/** What was learned offline with `bench/routing/learn.ts` and holds for every project. */
export type Constants = {
  ranker: Record<FeatureName, number>
  confidence: { bias: number; weights: Record<ConfidenceName, number>; threshold: number }
  /** Two best queries closer than this are both offered. */
  ambiguousMargin: number
}

const numbers = <Name extends string>(names: readonly [Name, ...Name[]]) => z.record(z.enum(names), z.number())

const constantsSchema = z.strictObject({
  ranker: numbers(featureNames),
  confidence: z.strictObject({ bias: z.number(), weights: numbers(confidenceNames), threshold: z.number() }),
  ambiguousMargin: z.number(),
})

export async function readConstants(path: string): Promise<Constants> {
  return constantsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
}
