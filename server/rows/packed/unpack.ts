import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { Failure } from '../../failure.ts'
import { charsetOf, kindOf, parseContentType } from '../text/content.ts'
import { xlsxToLines } from './xlsx.ts'
import { xmlToLines } from './xml.ts'

/** A body as it came, or what it was turned into. */
export type Body = { path: string; contentType: string | undefined; extractor: string | undefined }
export type Unpacked = Body & { isParquet: boolean }
type Options = { workPath: string; maxBytes: number; maxDepth: number; goOn?: (() => void) | undefined }

const headBytes = 16_384
/** A file within a file; more is made to keep someone busy. */
const maxLayers = 2
const linesType = 'application/x-ndjson'

/**
 * The contents of a body that is no text to be read as it is: `.gz` and `.zst` are unpacked, Excel and XML become one row
 * a line. The first bytes decide, whatever the Content-Type says. Files of its own begin with `workPath`.
 */
export async function unpackBody(given: Body, options: Options): Promise<Unpacked> {
  const { workPath, maxBytes, maxDepth, goOn } = options
  let { path: packedPath, contentType: packedType } = given
  for (let layer = 0; ; layer += 1) {
    const packing = packingOf(await headOf(packedPath))
    if (packing === null) break
    if (layer === maxLayers) throw refused('is packed more than twice')
    const path = `${workPath}.unpacked`
    await unpack(packedPath, `${path}.next`, { packing, maxBytes, goOn })
    await rename(`${path}.next`, path)
    packedPath = path
    packedType = innerType(packedType)
  }
  const body = { ...given, path: packedPath, contentType: packedType }
  const head = await headOf(body.path)
  if (startsWith(head, parquetMagic)) return { ...body, isParquet: true }
  const path = `${workPath}.lines`
  if (startsWith(head, zipMagic)) {
    await xlsxToLines(body.path, path, { sheet: body.extractor, maxBytes, goOn })
    return { path, contentType: linesType, extractor: undefined, isParquet: false }
  }
  const charset = xmlCharset(body.contentType, head)
  const text = new TextDecoder(charset).decode(head, { stream: true })
  if (kindOf(body.contentType, text) !== 'xml') return { ...body, isParquet: false }
  await xmlToLines(body.path, path, { path: body.extractor, charset, maxDepth, goOn })
  return { path, contentType: linesType, extractor: undefined, isParquet: false }
}

/** Whether rows can be read from the front of the body: neither packed, nor of a kind or charset that is turned into another. */
export async function readsAsItComes(path: string, contentType: string | undefined): Promise<boolean> {
  const head = await headOf(path)
  const isText = packingOf(head) === null && !startsWith(head, parquetMagic) && !startsWith(head, zipMagic)
  if (!isText || charsetOf(contentType, head) !== 'utf-8') return false
  return ['json', 'lines', 'csv'].includes(kindOf(contentType, head.toString('utf8')))
}

/** The files that `unpackBody` may leave. */
export function unpackedPaths(workPath: string): string[] {
  return ['unpacked', 'unpacked.next', 'lines'].map((end) => `${workPath}.${end}`)
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path, 'r')
  const head = Buffer.alloc(headBytes)
  const { bytesRead } = await file.read(head, 0, headBytes, 0)
  return head.subarray(0, bytesRead)
}

const parquetMagic = 'PAR1'
const zipMagic = 'PK\u0003\u0004'

function startsWith(head: Buffer, magic: string): boolean {
  return head.toString('latin1', 0, magic.length) === magic
}

type Packing = 'gzip' | 'zstd'

function packingOf(head: Buffer): Packing | null {
  const magic = head.subarray(0, 4).toString('hex')
  if (magic.startsWith('1f8b08')) return 'gzip'
  return magic === '28b52ffd' ? 'zstd' : null
}

/** The type of a packed body says nothing about its contents. */
function innerType(contentType: string | undefined): string | undefined {
  const { type } = parseContentType(contentType)
  return /gzip|zstd|octet-stream|^$/.test(type) ? undefined : contentType
}

/** The header goes before the declaration, as in JSON; both are rare. */
function xmlCharset(contentType: string | undefined, head: Buffer): string {
  const named = parseContentType(contentType).parameters['charset']
  const [, declared] = /^<\?xml[^>]*\bencoding=["']([\w.-]+)["']/.exec(head.toString('latin1', 0, 200)) ?? []
  const type = named === undefined && declared !== undefined ? `x; charset=${declared}` : contentType
  return charsetOf(type, head) ?? 'utf-8'
}

type Unpacking = { packing: Packing; maxBytes: number; goOn: (() => void) | undefined }

/** Counts what comes out, so that a small file cannot become an endless one. */
async function unpack(from: string, to: string, { packing, maxBytes, goOn }: Unpacking): Promise<void> {
  let bytes = 0
  const count = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      try {
        goOn?.()
        done(bytes > maxBytes ? tooLarge(maxBytes) : null, piece)
      } catch (error) {
        done(error as Error)
      }
    },
  })
  const unpacker = packing === 'gzip' ? createGunzip() : createZstdDecompress()
  try {
    await pipeline(createReadStream(from), unpacker, count, createWriteStream(to, { mode: 0o600 }))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (/^(Z_|ZSTD_|ERR_ZLIB|ERR__)/.test(code)) throw refused('is packed, and its packing is damaged')
    throw error
  }
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('upstream_error', {
    reason: 'too_large',
    message: `The answer unpacks to more than ${maxBytes} bytes, which is all that a load may bring.`,
  })
}

function refused(what: string): Failure {
  return new Failure('upstream_error', { reason: 'not_tabular', message: `The answer ${what}.` })
}
