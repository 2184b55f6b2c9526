import { Failure } from '../../failure.ts'
import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import type { Router } from '../indexes/open-indexes.ts'

type Parts = { store: Pick<Database, 'db'>; router: Pick<Router, 'warm' | 'index'>; observe: Observe }

type Place = { projectId: string; environment: string }

/** Places are found among so many of the last questions. */
const lastQuestions = 200
/** A thousand queries take seconds of a processor to read, and tens of megabytes. */
const maxPlaces = 4

/**
 * Reads the queries of the places that were asked last, so that their first question after a start does not wait for it.
 * A project that keeps no questions is read when it is asked.
 */
export async function warmQuestions({ store, router, observe }: Parts): Promise<void> {
  await router.warm()
  // Where it fails the first question does it, and is told why it cannot.
  const tell = (error: unknown): void => observe({ kind: 'fault', where: 'reading queries ahead', error })
  const places = await placesAskedLast(store).catch((error: unknown) => {
    tell(error)
    return []
  })
  for (const place of places) {
    await router.index({ ...place, only: null }, 'judging').catch((error: unknown) => {
      // That there is no encoder is told once, by the encoder.
      if (!(error instanceof Failure)) tell(error)
    })
  }
}

/** The last one first. */
async function placesAskedLast({ db }: Pick<Database, 'db'>): Promise<Place[]> {
  const asked = await db
    .selectFrom('questions')
    .select(['projectId', 'environment'])
    .orderBy('id', 'desc')
    .limit(lastQuestions)
    .execute()
  const places = new Map(asked.map((place) => [`${place.projectId} ${place.environment}`, place]))
  return [...places.values()].slice(0, maxPlaces)
}
