import type { Guide } from './guide.ts'

/** Where the pages of `docs/` say that the service runs, as `npm start` prints it. */
const written = 'http://127.0.0.1:4400'
/** The sample API of the service answers under a name of its own, for loads that the service itself makes. */
const sample = 'sample.localhost:4400'

/** A guide whose commands can be pasted as they stand: they name the address under which it is read. */
export function atThisAddress(guide: Guide, { origin, port } = location): Guide {
  // Through a proxy the port is the proxy's.
  const sampleHere = port === '' ? sample : `sample.localhost:${port}`
  const here = (text: string): string => text.replaceAll(written, origin).replaceAll(sample, sampleHere)
  const parts = guide.parts.map((part) =>
    'html' in part ? { html: here(part.html) } : { ...part, code: here(part.code) },
  )
  return { ...guide, parts }
}
