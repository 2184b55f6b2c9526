import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const count = z.int().min(0)

/** What was chosen when the reader was trained: its input's lengths and marks, and where its logits count. */
const constantsSchema = z.strictObject({
  /** So many of the router's best queries are read beside the question. */
  candidates: count,
  /** One whose score lies further behind that of the first is not among them. */
  score_reach: z.number(),
  /** A question of which the router's own evidence lies further below its threshold is not read. */
  least_lead: z.number(),
  /** From this logit on the first is not compared with the others. */
  sure_from: z.number(),
  /** What the router's score counts beside the logit when one of them is chosen. */
  score_weight: z.number(),
  /** Shares below which a question is refused that the router would answer, and one that it would not. */
  refuse_below: z.number(),
  refuse_far_below: z.number(),
  /** In a project of fewer queries what the router would not answer is not answered: nothing was learned from such. */
  far_from_queries: count,
  /** Below this share an answer says what it leaves out. */
  flag_below: z.number(),
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
    unknown: count,
    cls: count,
    sep: count,
  }),
  /**
   * So many examples a project must have. The share of them that is read below a logit in any project; where chance
   * would give as many as there are more seldom than this, it is misread. What is usual counts as so many examples.
   */
  guard: z.strictObject({
    least_examples: count,
    match_below: z.number(),
    usual_share: z.number(),
    usual_examples: count,
    least_chance: z.number(),
  }),
})

export type ReaderConstants = z.output<typeof constantsSchema>

export async function readReaderConstants(path: string): Promise<ReaderConstants> {
  return constantsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
}
