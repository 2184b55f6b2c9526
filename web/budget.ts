import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Plugin, Rollup } from 'vite'

export type LoadSize = { files: string[]; rawBytes: number; gzipBytes: number; brotliBytes: number }

type Bundle = Record<string, Rollup.OutputChunk | Rollup.OutputAsset>

/** Everything a first visit must fetch before the page works: the entry and what it imports without being asked to. */
export function measureFirstLoad(bundle: Bundle): LoadSize {
  const files = new Set<string>()
  const visit = (file: string): void => {
    const chunk = bundle[file]
    if (chunk?.type !== 'chunk' || files.has(file)) return
    files.add(file)
    for (const imported of chunk.imports) visit(imported)
  }
  for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk' && chunk.isEntry) visit(chunk.fileName)
  const size: LoadSize = { files: [...files], rawBytes: 0, gzipBytes: 0, brotliBytes: 0 }
  for (const file of files) {
    const chunk = bundle[file]
    const code = chunk?.type === 'chunk' ? chunk.code : ''
    size.rawBytes += Buffer.byteLength(code)
    size.gzipBytes += gzipSync(code).length
    size.brotliBytes += brotliCompressSync(code).length
  }
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

/** Fails the build when the first load outgrows its budget. */
export function keepBudget(budgetBytes: number): Plugin {
  return {
    name: 'sluice-budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const { line, mistake } = judgeFirstLoad(measureFirstLoad(bundle), budgetBytes)
      if (mistake !== null) this.error(mistake)
      this.info(line)
    },
  }
}

/** Puts a brotli and a gzip copy beside every text file, so that the server has nothing to compress per request. */
export function compressAssets(): Plugin {
  return {
    name: 'sluice-compress',
    apply: 'build',
    // After every other plugin: what is compressed must be what is served.
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (!/\.(js|css|svg)$/.test(file.fileName)) continue
          const source = file.type === 'chunk' ? file.code : file.source
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotliCompressSync(source) })
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzipSync(source) })
        }
      },
    },
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
