import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const count = z.int().min(0)

/** What was chosen when the reader was trained: its input's lengths and marks, and where its logits count. */
const constantsSchema = z.strictObject({
  refuse_below: z.number(),
  flag_below: z.number(),
  rescue_from: z.number(),
  rescue_candidates: count,
  word_above: z.number(),
  max_tokens: count,
  max_question_tokens: count,
  description_tokens: count,
  slot_name_tokens: count,
  slot_description_tokens: count,
  values_tokens: count,
  choice_tokens: count,
  most_choices: count,
  example_tokens: count,
  most_examples: count,
  most_slots: count,
  token: z.strictObject({
    slot_first: count,
    example: count,
    end: count,
    choice: count,
    optional: count,
    cls: count,
    sep: count,
  }),
  guard: z.strictObject({
    least_examples_below: count,
    least_share_below: z.number(),
    quantile: z.number(),
  }),
})

export type ReaderConstants = z.output<typeof constantsSchema>

export async function readReaderConstants(path: string): Promise<ReaderConstants> {
  return constantsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
}
