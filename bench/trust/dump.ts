import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildIndex, openEncoder, type ProjectIndex } from '../../server/router/index.ts'
import { fill } from '../../server/router/filling/fill.ts'
import { judge as rankQueries, plain, read, rerank } from '../../server/router/route.ts'
import { objectionTo } from '../../server/router/decision/objections.ts'
import { spell } from '../../server/router/spell.ts'
import { boundIn, withMarks, type Card } from '../../server/router/project/card.ts'
import type { Reader } from '../../server/router/encoder/reader.ts'
import { isRightWith } from './judge.ts'
import { readWorlds, type World, type WorldQuestion } from './world.ts'

/**
 * `node bench/trust/dump.ts <folder of worlds> <folder to write to>`
 * What the reader is trained on: every question of a world beside every query of it, as the tokens that the product
 * would read, with what the router makes of it. One file a world.
 */
const { positionals } = parseArgs({ allowPositionals: true })
const [from = '.', to = '.'] = positionals
const now = new Date('2026-11-16T12:00:00Z')
const clock = { now, timeZone: 'UTC' }
const encoder = await openEncoder({
  modelDir: 'models/question-encoder',
  readerDir: 'models/question-reader',
  threads: 1,
})
const { reader } = encoder
if (reader === null) throw new TypeError('The reader could not be opened.')
await mkdir(to, { recursive: true })
for (const world of await readWorlds(from, now)) {
  const index = await buildIndex(encoder, world.project)
  const cards = (index.reading?.cards ?? []).map(({ description, slots, examples }) => ({
    description,
    slots,
    examples,
  }))
  const questions = []
  for (const each of world.questions) questions.push(await dumpQuestion(reader, index, { world, each }))
  await writeFile(join(to, `${world.name}.json`), JSON.stringify({ world: world.name, cards, questions }))
  console.log(world.name, questions.length)
}
await encoder.close()

type Asking = { world: World; each: WorldQuestion }

async function dumpQuestion(open: Reader, index: ProjectIndex, { world, each }: Asking): Promise<unknown> {
  const { text } = spell(index, plain(each.question), clock)
  const first = rankQueries(index, await read(index, text, clock))
  const { evidence, ranked, sure } = (await rerank(index, first)) ?? first
  const asked = evidence.asked
  const placeOf = (name: string | undefined): number => index.queries.findIndex(({ query }) => query.name === name)
  const words = each.words === undefined ? -1 : text.toLowerCase().indexOf(each.words.toLowerCase())
  return {
    text,
    class: each.class,
    query: placeOf(each.query),
    near: placeOf(each.near),
    asksFor: placeOf(each.asks_for),
    pair: each.pair ?? null,
    mayRefuse: each.or_refuse,
    words: words < 0 || each.words === undefined ? null : [words, words + each.words.length],
    lead: sure - index.calibration.threshold,
    ranked: ranked.map(({ candidate, score }) => [candidate.query, Number(score.toFixed(3))]),
    read: index.queries.map((query, at) => {
      const filled = fill(index, asked, query, clock)
      const card = index.reading?.cards[at]
      if (card === undefined) throw new TypeError('A query has no card.')
      const bound = boundIn(filled.sources)
      const marked = withMarks(open.constants, open.tokenizer.pieces(asked.linked.text), { bound, places: card.places })
      return {
        ids: marked.map(({ id }) => id),
        // Where each token stands in the text; a mark stands nowhere.
        places: marked.map(({ place }) => (place === null ? 0 : [place.start, place.end])),
        values: valueTokens(open, card, filled),
        missing: filled.missing.length,
        gaps: filled.gaps.length,
        unused: filled.unused.length,
        isOpposed: objectionTo(index, asked, query, filled) !== null,
        isRight: isRightWith(world, each, { query: query.query.name, parameters: filled.parameters, now }),
      }
    }),
  }
}

/** What each slot would be given, as tokens. */
function valueTokens(
  { tokenizer }: Reader,
  { places }: Card,
  { parameters, sources }: ReturnType<typeof fill>,
): Array<[place: number, ids: number[], isLiteral: boolean]> {
  return Object.entries(parameters).flatMap(([slot, value]) => {
    const place = places.get(slot)
    if (place === undefined) return []
    const said = [value].flat().map(String).join(', ').toLowerCase()
    const isLiteral = sources[slot]?.text.toLowerCase() === said
    return [[place, tokenizer.pieces(`= ${said}`).map(({ id }) => id), isLiteral] satisfies [number, number[], boolean]]
  })
}
