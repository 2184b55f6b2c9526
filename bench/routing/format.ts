import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SlotSchema } from '../../api/slots.ts'
import type { RoutableProject } from '../../server/router/index.ts'

/** The benchmark's own format: public question sets recast as projects with deployed queries. */
type BenchSlot = {
  name: string
  type: string
  enum?: string[]
  values_from?: string
  optional?: boolean
}
type BenchQuery = {
  name: string
  description: string
  examples: { text: string; slots: Record<string, string> }[]
  slots: BenchSlot[]
}
export type BenchQuestion = {
  text: string
  expected_query: string | null
  expected_slots: Record<string, string>
  seen_pattern?: boolean
  oos?: 'near' | 'far'
}
export type BenchProject = {
  project: string
  value_lists: Record<string, string[]>
  queries: BenchQuery[]
  questions: BenchQuestion[]
}
export type BenchSet = { name: string; projects: BenchProject[]; maxExamples: number; template: boolean }

export async function readSets(folder: string): Promise<BenchSet[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => {
      const projects = JSON.parse(await readFile(join(folder, file), 'utf8')) as BenchProject[]
      const maxExamples = Math.max(...projects.flatMap(({ queries }) => queries.map(({ examples }) => examples.length)))
      const template = projects.some(({ queries }) => queries.some(({ slots }) => slots.length > 0))
      return { name: basename(file, '.json'), projects, maxExamples, template }
    }),
  )
}

/** A benchmark project at `k` examples a query, as the product would be told of it. */
export function toProject({ queries, value_lists: lists }: BenchProject, k: number): RoutableProject {
  return {
    values: Object.fromEntries(Object.entries(lists).map(([name, values]) => [`values.${name}`, values])),
    queries: queries.map(({ name, description, examples, slots }) => ({
      name,
      description,
      examples: examples.slice(0, k).map(({ text, slots: parameters }) => ({ question: text, parameters })),
      slots: {
        properties: Object.fromEntries(slots.map((slot) => [slot.name, property(slot)])),
        required: slots.filter(({ optional }) => optional !== true).map((slot) => slot.name),
      },
    })),
  }
}

/** The sets name the type of every slot; authors seldom give a title, so nothing is learned or measured with one. */
function property({ type, enum: values, values_from: from }: BenchSlot): SlotSchema {
  const source = from === undefined ? {} : { 'x-values-from': `values.${from}` }
  return type === 'integer'
    ? { type: 'integer', ...source }
    : { type: 'string', ...source, ...(values === undefined ? {} : { enum: values }) }
}
