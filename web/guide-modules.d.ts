declare module '*.md' {
  import type { Guide } from './pages/docs/guide.ts'

  export const guide: Guide
}

declare module 'virtual:guides-index' {
  /** All guides, as the search library writes them. */
  export const index: string
}
