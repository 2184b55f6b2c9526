import react from '@vitejs/plugin-react'
import { join } from 'node:path'
import { defineConfig } from 'vite'
import { packAssets } from './budget.ts'
import { catalog } from './catalog-plugin.ts'
import { embed } from './embed-plugin.ts'
import { guides } from './guides-plugin.ts'

/** The sources of the guides. */
const docs = join(import.meta.dirname, '../docs')
const connections = join(import.meta.dirname, '../catalog')
const askElement = join(import.meta.dirname, '../clients/ask-element')
const firstLoadBudgetBytes = 200 * 1024
/** Pages that need one of these need all of it, and most need none. The editor's own file leads to all of its library. */
const large = /codemirror|lezer|sql-editor|react-virtual|virtual-core|parts\/grid|spotlight/

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), guides(docs), catalog(connections), embed(askElement), packAssets(firstLoadBudgetBytes)],
  resolve: {
    alias: [
      // Faces without what no page shows (web/fonts/README.md).
      {
        find: /^\.\/files\/(inter|jetbrains-mono)-latin-wght-normal\.woff2$/,
        replacement: join(import.meta.dirname, 'fonts/$1-latin.woff2'),
      },
    ],
  },
  // The server puts the nonce of each answer where this stands.
  html: { cspNonce: '__STYLE_NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The content security policy takes fonts from the origin alone.
    assetsInlineLimit: (path) => (path.endsWith('.woff2') ? false : undefined),
    // Parts of a page would each ask for a file of styles; all of them together are hardly larger.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          groups: [
            // A first visit asks for one file, and a page that is opened later for a few: small ones join their neighbours.
            { name: 'base', tags: ['$initial'], priority: 2 },
            {
              name: 'shared',
              test: (path: string) => !large.test(path),
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 24_000,
              priority: 1,
            },
          ],
        },
      },
    },
    // Bundled packages are passed on, and their licences ask that the text goes with them.
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:4400' }, fs: { allow: [import.meta.dirname, docs] } },
})
