import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { packAssets } from './budget.ts'

const firstLoadBudgetBytes = 300 * 1024

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), packAssets(firstLoadBudgetBytes)],
  // The server puts the nonce of each answer where this stands.
  html: { cspNonce: '__STYLE_NONCE__' },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2023', chunkSizeWarningLimit: 1200 },
  server: { proxy: { '/v1': 'http://127.0.0.1:4400' } },
})
