import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const count = z.int().min(0)

/** Choices made when the reader was trained: its input's lengths and marks, and where its logits count. */
const constantsSchema = z.strictObject({
  /** So many of the router's best queries are read beside the question. */
  candidates: count,
  /** One whose score lies further behind that of the first is not among them. */
  score_reach: z.number(),
  /** A question of which the router's own evidence lies further below its threshold is not read. */
  least_lead: z.number(),
  /** From this logit on the first is not compared with the others. */
  sure_from: z.number(),
  /** Weight of the router's score beside the logit when a candidate is chosen. */
  score_weight: z.number(),
  /** Shares below which a question is refused that the router would answer, and one that it would not. */
  refuse_below: z.number(),
  refuse_far_below: z.number(),
  /** In a project of fewer queries less speaks against a far-away question: there the second of these is higher. */
  few_queries: count,
  refuse_far_of_few_below: z.number(),
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
   * When the reader chooses in a project (`decision/guard.ts`): with so many own questions, and unless fewer of them
   * come out right with it than chance would give so seldom. Of more queries than it has learned from, one that is
   * lost is too many, and so are more read below a logit than the usual share would give by chance.
   */
  guard: z.strictObject({
    least_examples: count,
    match_below: z.number(),
    usual_share: z.number(),
    least_chance: z.number(),
    most_queries: count,
    /** Where it does not choose: from this share on it answers what the router would refuse. */
    rescue_from: z.number(),
    /** There, below this logit, an answer says what it leaves out. */
    flag_below: z.number(),
  }),
})

export type ReaderConstants = z.output<typeof constantsSchema>

export async function readReaderConstants(path: string): Promise<ReaderConstants> {
  return constantsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
}
