import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { inputOf, type Card, type MarkedToken } from '../../server/router/project/card.ts'
import type { Reader } from '../../server/router/encoder/reader.ts'

type Dump = {
  world: string
  cards: Array<Pick<Card, 'description' | 'slots' | 'examples'>>
  questions: Array<{ read: Array<{ ids: number[]; places: Array<0 | [number, number]> }> }>
}
/** By world: for each question the logits by query, of the whole and of each token that is no mark. */
type Readings = Record<string, Array<Record<string, [match: number, tokens: Array<[number, number, number]>]>>>

/**
 * A reader that answers with what readers have said who had not seen the world that is asked: so five folds are
 * measured on the product's own path. What nobody has read is left to the reader that is there, and counted.
 */
export async function recordedReader(
  reader: Reader,
  { dumps, readings }: { dumps: string; readings: string },
): Promise<Reader & { unknown: () => number }> {
  const known = new Map<string, Float32Array>()
  for (const name of (await readdir(readings)).filter((file) => file.endsWith('.json.gz'))) {
    const found = JSON.parse(gunzipSync(await readFile(join(readings, name))).toString()) as Readings
    for (const [world, questions] of Object.entries(found)) {
      const dump = JSON.parse(await readFile(join(dumps, `${world}.json`), 'utf8')) as Dump
      for (const [at, byQuery] of questions.entries()) {
        for (const [query, [match, tokens]] of Object.entries(byQuery)) {
          const [card, read] = [dump.cards[Number(query)], dump.questions[at]?.read[Number(query)]]
          if (card === undefined || read === undefined) throw new TypeError(`${world} has no query ${query}.`)
          const { ids } = inputOf(reader.constants, markedOf(reader, read), {
            ...card,
            places: new Map(),
            isBare: false,
          })
          const left = tokens.map(([, , logit]) => logit)
          const logits = read.places.map((place) => (place === 0 ? 0 : (left.shift() ?? 0)))
          known.set(ids.join(' '), Float32Array.from([match, ...logits]))
        }
      }
    }
  }
  let unknown = 0
  return {
    ...reader,
    unknown: () => unknown,
    score: async (input) => {
      const found = known.get(input.ids.join(' '))
      if (found === undefined) unknown += 1
      return found ?? reader.score(input)
    },
  }
}

function markedOf({ constants }: Reader, { ids, places }: Dump['questions'][number]['read'][number]): MarkedToken[] {
  return ids
    .map((id, at): MarkedToken => {
      const place = places[at]
      return { id, place: place === undefined || place === 0 ? null : { start: place[0], end: place[1] } }
    })
    .slice(0, constants.max_question_tokens)
}
