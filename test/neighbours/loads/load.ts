import type { MeasuredStage } from '../measured-stage.ts'

/** What paths, searches and bodies name: the parameters of a path, `url` of the external API, `attempt`. */
export type Ids = Record<string, string>
export type Who = 'nobody' | 'key' | 'operator' | 'person'
type Body = string | object
type Made = (stage: MeasuredStage) => Promise<unknown>

/** One call of a route with the most it takes, or more: a row of the tables beside. */
export type Load = {
  name: string
  kind: 'hostile' | 'ordinary'
  /** `METHOD /path/:parameter`, as in the table of who may call it. */
  route: string
  /** Who calls: the operator unless given. */
  as?: Who
  /** Parameters of the path that differ from those of the stage. */
  ids?: Ids
  search?: string | ((ids: Ids) => string)
  headers?: Record<string, string>
  /** Several are sent one after the other. A text is sent as it is. */
  body?: Body | ((ids: Ids) => Body)
  bodies?: Body[]
  /** Set up once for all loads that ask for it, before anything is measured. */
  given?: Made[]
  /** Set up before each attempt. */
  before?: (stage: MeasuredStage) => unknown
  /** Goes on after the answer, and is measured with it: jobs that the call has begun. */
  after?: (stage: MeasuredStage, text: string) => Promise<unknown>
  /** The answer has no end: so many are read while something happens, and given up. */
  streams?: { count: number; meanwhile: Made }
  /**
   * 200 unless given. `refused` is any that blames the caller, but for who he is or how often he calls; `answered` is
   * that or a success.
   */
  status?: number | 'refused' | 'answered'
  /** Its answer has at least so many bytes, or these words: else it does not reach what it is about. */
  bytes?: number
  words?: string
}

export type Request = { method: string; path: string; headers: Record<string, string>; payload?: string }

export function requestsOf(load: Load, ids: Ids, credentials: Record<Who, Record<string, string>>): Request[] {
  const all = { ...ids, ...load.ids }
  const [method = '', pattern = ''] = load.route.split(' ')
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = all[name]
    if (id === undefined) throw new Error(`${load.name}: no ${name}`)
    return encodeURIComponent(id)
  })
  const search = typeof load.search === 'function' ? load.search(all) : (load.search ?? '')
  const given = typeof load.body === 'function' ? load.body(all) : load.body
  return (load.bodies ?? [given]).map((body) => ({
    method,
    path: path + search,
    headers: {
      ...credentials[load.as ?? 'operator'],
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...load.headers,
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  }))
}

/** A list of so many bytes. */
export function repeated(text: string, bytes: number): string {
  return list(Math.floor(bytes / (text.length + 1)), text)
}

export function list(length: number, item: string): string {
  return `[${Array.from({ length }, () => item).join(',')}]`
}

/** Texts one behind the other until they are so long. */
export function longText(length: number, item: (index: number) => string): string {
  const items: string[] = []
  for (let chars = 0, index = 0; chars < length; index += 1) chars += items[items.push(item(index)) - 1]?.length ?? 1
  return items.join('')
}

/** An object of so many members. */
export function names(length: number, prefix = 'slot_nr_'): Record<string, number> {
  return Object.fromEntries(Array.from({ length }, (_, at) => [`${prefix}${at}`, 0]))
}
