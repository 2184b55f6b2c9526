import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { Client } from 'pg'

/** A place that may be looked into, and all that stands in it. */
export type Place = { name: string; content: Buffer }

/** How a text may stand somewhere: as it is, in a URL, in hexadecimal, and in base 64 behind any other text. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const shifted = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '')
    // The letters at both ends mix with what stands beside.
    return text.slice(offset === 0 ? 0 : 4, -1)
  })
  const urlSafe = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      bytes.toString('hex'),
      ...shifted,
      ...urlSafe,
    ]),
  ]
}

type Needle = { kind: string; bytes: Buffer }

/** Which secrets stand in which places, each in one line. */
export function finds(secrets: Record<string, string>, places: Place[]): string[] {
  const needles = Object.entries(secrets).flatMap(([kind, secret]) =>
    spellings(secret).map((text): Needle => ({ kind, bytes: Buffer.from(text) })),
  )
  const search = searchFor(needles)
  return places.flatMap(({ name, content }) => search(content).map((kind) => `${kind} in ${name}`))
}

/** Looks for all of them in one pass, by their first four bytes: the folder is large, and the spellings are hundreds. */
function searchFor(needles: Needle[]): (content: Buffer) => string[] {
  const byStart = new Map<number, Needle[]>()
  const isStart = new Uint8Array(65_536)
  for (const needle of needles) {
    const start = needle.bytes.readUInt32BE(0)
    byStart.set(start, [...(byStart.get(start) ?? []), needle])
    isStart[start >>> 16] = 1
  }
  return (content) => {
    const found = new Set<string>()
    for (let at = 0; at + 4 <= content.length; at += 1) {
      // Most places are told apart by two bytes.
      if (isStart[((content[at] ?? 0) << 8) | (content[at + 1] ?? 0)] === 0) continue
      for (const { kind, bytes } of byStart.get(content.readUInt32BE(at)) ?? []) {
        if (content.compare(bytes, 0, bytes.length, at, Math.min(at + bytes.length, content.length)) === 0)
          found.add(kind)
      }
    }
    return [...found]
  }
}

/** Every file of a folder, and what is in those that are compressed. */
export async function filesOf(folder: string): Promise<Place[]> {
  const places: Place[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path)
    places.push({ name: path.slice(folder.length + 1), content: Buffer.concat([content, inflated(content)]) })
  }
  return places
}

function inflated(content: Buffer): Buffer {
  const magic = content.subarray(0, 4).toString('hex')
  if (magic.startsWith('1f8b')) return gunzipSync(content)
  if (magic === '28b52ffd') return zstdDecompressSync(content)
  return Buffer.alloc(0)
}

/** Every row of every table of the built-in database, of ours and of the queue, and what its sessions have said last. */
export async function dumpOf(dataDir: string): Promise<Place[]> {
  const [, , , , sockets = ''] = (await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')
  const client = new Client({ host: sockets, user: 'sluice', database: 'postgres', query_timeout: 30_000 })
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    const places: Place[] = []
    for (const { name } of [...tables.rows, { name: 'pg_stat_activity' }]) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`)
      // Bytes are written in hexadecimal, which is one of the spellings.
      places.push({ name: `table ${name}`, content: Buffer.from(rows.map(({ row }) => row).join('\n')) })
    }
    return places
  } finally {
    await client.end()
  }
}

/** What anybody on the machine sees of processes, and what their children were given. */
export async function processesOf(service: number, tree: number[]): Promise<Place[]> {
  const places: Place[] = []
  for (const pid of tree) {
    const files = pid === service ? ['cmdline'] : ['cmdline', 'environ']
    for (const file of files) {
      const content = await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0))
      places.push({ name: `/proc of ${pid === service ? 'the service' : 'a child'}: ${file}`, content })
    }
  }
  return places
}
