import { join } from 'node:path'
import { build, type Plugin, type Rollup } from 'vite'

/** Where pages of others find it, below the address of the service. */
const fileName = 'embed/sluice-ask.js'
const budgetBytes = 40 * 1024

/** Makes `<sluice-ask>` one file beside the web app: whoever embeds it loads that and nothing else. */
export function embed(sources: string): Plugin {
  return {
    name: 'sluice-embed',
    apply: 'build',
    async generateBundle() {
      const [made] = [
        await build({
          configFile: false,
          logLevel: 'warn',
          build: { write: false, target: 'es2023', lib: { entry: join(sources, 'index.ts'), formats: ['es'] } },
        }),
      ].flat()
      const chunks = (made as Rollup.RollupOutput).output
      const [chunk] = chunks
      if (chunks.length > 1) this.error('The embedded element is more than one file.')
      if (Buffer.byteLength(chunk.code) > budgetBytes)
        this.error(`The embedded element has more than ${budgetBytes} bytes.`)
      this.emitFile({ type: 'asset', fileName, source: chunk.code })
    },
  }
}
