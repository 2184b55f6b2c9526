import { link, respell, type CallerTime, type Linked, type Respelled } from '../language/index.ts'
import type { ProjectIndex } from './project/project-index.ts'
import type { Explanation, Routing } from './decision/routing.ts'

/** A question as it is read: with its typing errors put right, and told in its own words again afterwards. */
export type Spelled = {
  text: string
  /** The reading of the words, where it was needed to tell whether they are misspelled. */
  linked: Linked | null
  restore: (routing: Routing) => Routing
}

export function spell({ linker, spelling, queries, rulesOff }: ProjectIndex, text: string, clock: CallerTime): Spelled {
  let linked: Linked | null = null
  const respelled = respell(text, spelling, {
    isStrange: linker.mayBeTypo,
    // Only now is it worth knowing what the words were read as.
    isTaken: ({ start, end }) =>
      (linked ??= link(linker, text, clock)).spans.some((span) => span.start < end && start < span.end),
  })
  if (respelled === null || rulesOff.has('spelling')) return { text, linked, restore: (routing) => routing }
  return {
    text: respelled.text,
    linked: null,
    restore: (routing) => {
      const name = 'query' in routing ? routing.query : routing.explanation.candidates[0]?.name
      const slots = queries.find(({ query }) => query.name === name)?.slots ?? []
      const free = new Set(slots.filter(({ type }) => type.kind === 'text').map((slot) => slot.name))
      return restored(routing, { text, respelled, free })
    },
  }
}

type Restoring = { text: string; respelled: Respelled; free: Set<string> }

function restored(routing: Routing, { text, respelled, free }: Restoring): Routing {
  const back = <Located extends { start: number; end: number; text: string }>(place: Located): Located => {
    const at = respelled.placeOf(place)
    return { ...place, ...at, text: text.slice(at.start, at.end) }
  }
  const known = routing.explanation
  const sources = Object.fromEntries(Object.entries(known.sources).map(([slot, source]) => [slot, back(source)]))
  // A free text is what was written, not what it looks like.
  const asWritten = (parameters: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(parameters).map(([slot, value]) => {
        const isFree = free.has(slot) && value === known.sources[slot]?.text
        return [slot, isFree ? sources[slot]?.text : value]
      }),
    )
  const explanation: Explanation = {
    ...known,
    sources,
    parameters: asWritten(known.parameters),
    unused: known.unused.map(back),
    unexpressed: known.unexpressed.map(back),
    readAs: respelled.text,
  }
  return 'parameters' in routing
    ? { ...routing, parameters: asWritten(routing.parameters), explanation }
    : { ...routing, explanation }
}
