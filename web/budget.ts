import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Plugin, Rollup } from 'vite'

export type LoadSize = { files: string[]; rawBytes: number; gzipBytes: number; brotliBytes: number }

type Bundle = Record<string, Rollup.OutputChunk | Rollup.OutputAsset>
type Compressed = { gzip: Buffer; brotli: Buffer }

/** Everything a first visit must fetch before the page works: the entry and what it imports without being asked to. */
export function measureFirstLoad(bundle: Bundle, compress: (source: string) => Compressed = compressText): LoadSize {
  const size: LoadSize = { files: [], rawBytes: 0, gzipBytes: 0, brotliBytes: 0 }
  const visit = (file: string): void => {
    const chunk = bundle[file]
    if (chunk?.type !== 'chunk' || size.files.includes(file)) return
    const { gzip, brotli } = compress(chunk.code)
    size.files.push(file)
    size.rawBytes += Buffer.byteLength(chunk.code)
    size.gzipBytes += gzip.length
    size.brotliBytes += brotli.length
    for (const imported of chunk.imports) visit(imported)
  }
  for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk' && chunk.isEntry) visit(chunk.fileName)
  return size
}

/** One line for the build's output, and the mistake where the budget is exceeded. */
export function judgeFirstLoad(size: LoadSize, budgetBytes: number): { line: string; mistake: string | null } {
  const line =
    `First load: ${kilobytes(size.gzipBytes)} of script gzipped, ${kilobytes(size.brotliBytes)} with brotli ` +
    `(${kilobytes(size.rawBytes)} raw, ${size.files.length} files; budget ${kilobytes(budgetBytes)} gzipped)`
  const excessBytes = size.gzipBytes - budgetBytes
  const mistake =
    excessBytes > 0
      ? `The first load is ${kilobytes(excessBytes)} over its budget of ${kilobytes(budgetBytes)}. Load what is not needed at once with import().`
      : null
  return { line, mistake }
}

/**
 * Fails the build when the first load outgrows its budget, and puts a brotli and a gzip copy beside every text file so
 * that the server has nothing to compress per request.
 */
export function packAssets(budgetBytes: number): Plugin {
  return {
    name: 'sluice-pack',
    apply: 'build',
    generateBundle: {
      // The measured and compressed bytes must be the served ones.
      order: 'post',
      handler(_options, bundle) {
        // Compressing well is slow: each file once, for the copy and for the measure.
        const known = new Map<string, Compressed>()
        const compress = (source: string): Compressed => {
          const made = known.get(source) ?? compressText(source)
          known.set(source, made)
          return made
        }
        const { line, mistake } = judgeFirstLoad(measureFirstLoad(bundle, compress), budgetBytes)
        if (mistake !== null) this.error(mistake)
        this.info(line)
        for (const file of Object.values(bundle)) {
          if (!/\.(js|css|svg)$/.test(file.fileName)) continue
          const source = file.type === 'chunk' ? file.code : Buffer.from(file.source).toString()
          const { gzip, brotli } = compress(source)
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzip })
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotli })
        }
      },
    },
  }
}

function compressText(source: string): Compressed {
  return { gzip: gzipSync(source), brotli: brotliCompressSync(source) }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
