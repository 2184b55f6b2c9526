import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { featureNames, type FeatureName } from '../ranking/compare.ts'
import { confidenceNames, type FewName, type ManyName } from '../ranking/confidence.ts'

/** What was learned offline with `bench/routing/learn.ts` and holds for every project. */
export type Constants = {
  ranker: Record<FeatureName, number>
  confidence: { many: Weighing<ManyName>; few: Weighing<FewName> }
}

type Weighing<Name extends string> = { bias: number; weights: Record<Name, number> }

const numbers = <Name extends string>(names: readonly [Name, ...Name[]]) => z.record(z.enum(names), z.number())

const constantsSchema = z.strictObject({
  ranker: numbers(featureNames),
  confidence: z.strictObject({
    many: z.strictObject({ bias: z.number(), weights: numbers(confidenceNames.many) }),
    few: z.strictObject({ bias: z.number(), weights: numbers(confidenceNames.few) }),
  }),
})

export async function readConstants(path: string): Promise<Constants> {
  return constantsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
}
