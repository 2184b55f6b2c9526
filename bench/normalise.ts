import { mkdtemp, rm, stat, writeFile, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { normalise } from '../server/rows/index.ts'

/** How fast answers become rows, beside `JSON.parse` of the same bytes. Usage: node bench/normalise.ts [megabytes] */
const megabytes = Number(process.argv[2] ?? 100)
const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))

function order(index: number) {
  return {
    id: index,
    customer: `Customer ${index % 977}`,
    email: `person${index}@example.org`,
    amount: (index * 7.31) % 1000,
    paid: index % 3 === 0,
    placed_at: new Date(1_700_000_000_000 + index * 1000).toISOString(),
    note: index % 5 === 0 ? null : 'A line of text as people write it, with "quotes" now and then.',
    address: { city: 'Łódź', postcode: String(10_000 + (index % 90_000)) },
    tags: ['new', 'web'],
  }
}

const rows = Math.floor((megabytes * 1_000_000) / JSON.stringify(order(12_345)).length)
const data = Array.from({ length: rows }, (_, index) => order(index))
const bodies = {
  'array, compact': JSON.stringify(data),
  'array, pretty': JSON.stringify(data.slice(0, rows / 2), null, 2),
  envelope: JSON.stringify({ meta: { total: rows }, data: { items: data } }),
  ndjson: data.map((row) => JSON.stringify(row)).join('\n'),
  numbers: JSON.stringify(data.flatMap(({ id, amount }) => [id, amount])),
}

for (const [name, body] of Object.entries(bodies)) {
  const input = join(folder, 'body')
  await writeFile(input, body)
  const { size } = await stat(input)
  const path = name === 'envelope' ? 'data.items' : ''
  const options = { path, contentType: 'application/json', maxDepth: 64 }
  await normalise(input, join(folder, 'rows'), options)
  const before = performance.now()
  const { rowCount } = await normalise(input, join(folder, 'rows'), options)
  const normaliseMs = performance.now() - before
  const text = await readFile(input, 'utf8')
  const parseStart = performance.now()
  if (name === 'ndjson') for (const line of text.split('\n')) JSON.parse(line)
  else JSON.parse(text)
  const parseMs = performance.now() - parseStart
  const speed = (size / 1e6 / (normaliseMs / 1e3)).toFixed(0)
  const ratio = (normaliseMs / parseMs).toFixed(2)
  console.log(`${name.padEnd(16)} ${rowCount} rows  ${speed} MB/s  ${ratio}× JSON.parse`)
}
await rm(folder, { recursive: true })
