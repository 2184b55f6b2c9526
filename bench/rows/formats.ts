import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { FormatName } from '../anchors/format-maker.ts'
import { download } from '../download.ts'
import { undisturbed } from '../others.ts'
import { median, ratioOf, type Figure } from '../report.ts'
import type { Row } from '../row.ts'

const rounds = 41

type Format = { name: FormatName; accept: string; against: string }

const formats: Format[] = [
  { name: 'JSON', accept: 'application/json', against: 'bare DuckDB, string_agg(to_json)' },
  { name: 'CSV', accept: 'text/csv', against: 'bare DuckDB, COPY … (FORMAT csv), and reading the file' },
  {
    name: 'Arrow',
    accept: 'application/vnd.apache.arrow.stream',
    against: 'bare DuckDB, its values as vectors of apache-arrow',
  },
  {
    name: 'Parquet',
    accept: 'application/vnd.apache.parquet',
    against: 'bare DuckDB, COPY … (FORMAT parquet), and reading the file',
  },
]

export const formatsRow: Row = {
  name: 'formats',
  async measure({ worlds }) {
    const world = await worlds.data()
    const folder = await worlds.folder()
    const figures: Figure[] = []
    for (const { name, accept, against } of formats) {
      const maker = await startMaker(world.tables.data, folder)
      const [ours, theirs]: [number[], number[]] = [[], []]
      let sizeBytes = 0
      for (let round = 0; round < rounds + 2; round += 1) {
        const { bareMs, mine } = await undisturbed(async () => {
          const call = { ...world, path: '/v1/queries/part', accept }
          if (round % 2 === 0) return { bareMs: await maker.make(name), mine: await download(call) }
          const first = await download(call)
          return { bareMs: await maker.make(name), mine: first }
        })
        sizeBytes = mine.sizeBytes
        // Two rounds warm both sides up.
        if (round < 2) continue
        ours.push(mine.totalMs)
        theirs.push(bareMs)
      }
      maker.close()
      figures.push({
        what: `100,000 rows × 8 as ${name}, ${(sizeBytes / 1e6).toFixed(1)} MB, to the last byte`,
        against,
        ours: `${median(ours).toFixed(0)} ms`,
        theirs: `${median(theirs).toFixed(0)} ms`,
        value: ratioOf(ours, theirs),
        unit: '×',
        goal: { atMost: 1.15 },
      })
    }
    return figures
  },
}

async function startMaker(database: string, folder: string) {
  const child = fork(join(import.meta.dirname, '../anchors/format-maker.ts'), [database, folder])
  const ended = once(child, 'exit').then((): unknown[] => {
    throw new Error('the maker of formats ended')
  })
  const said = async (): Promise<unknown> => (await Promise.race([once(child, 'message'), ended]))[0]
  await said()
  return {
    /** In milliseconds, as it measures itself. */
    async make(name: FormatName): Promise<number> {
      child.send(name)
      return Number(await said())
    },
    close: () => void child.kill(),
  }
}
