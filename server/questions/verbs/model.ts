import type { Outbound } from '../../connections/index.ts'
import type { Observe } from '../../observe.ts'
import type { ProjectIndex } from '../index-project.ts'
import type { Routing } from '../route.ts'
import type { Asking } from './decide.ts'

export type LanguageModel = {
  /** Settles what the router leaves open, or null: then the router's own answer stands. */
  help(index: ProjectIndex, asking: Asking, routing: Routing): Promise<Routing | null>
}

export function openLanguageModel(options: {
  url: string | undefined
  model: string | undefined
  apiKey: string | undefined
  timeoutMs: number
  outbound: Outbound
  observe: Observe
}): LanguageModel | null {
  return options.url === undefined ? null : { help: () => Promise.resolve(null) }
}
