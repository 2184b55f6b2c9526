declare module 'virtual:catalog' {
  import type { CatalogEntry } from '../api/catalog.ts'

  export const entries: Array<{ name: string; entry: CatalogEntry }>
}
