declare module '*.md' {
  import type { Guide } from './pages/docs/guide.ts'

  export const guide: Guide
}

declare module 'virtual:guides-index' {
  /** Of all guides, as the search library writes it. */
  export const index: string
}
