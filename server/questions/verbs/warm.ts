import { Failure } from '../../failure.ts'
import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import type { Place } from '../../ids.ts'

type Parts = { store: Pick<Database, 'db'>; questionIndexes: Pick<QuestionIndexes, 'warm' | 'index'>; observe: Observe }

/** Places are found among so many of the last questions. */
const lastQuestions = 200
/** A thousand queries take seconds of a processor to read, and tens of megabytes. */
const maxPlaces = 4

/**
 * Reads the queries of the places that were asked last, so that their first question after a start does not wait for it.
 * A project that keeps no questions is read when it is asked.
 */
export async function warmQuestions(parts: Parts): Promise<void> {
  await parts.questionIndexes.warm()
  const places = await placesAskedLast(parts.store).catch((error: unknown) => {
    report(parts, error)
    return []
  })
  for (const place of places) await readQueries(parts, place)
}

/**
 * After it the first question in a place is answered as any later one. Where it fails the first question does it, and is
 * told why it cannot.
 */
export async function readQueries(parts: Pick<Parts, 'questionIndexes' | 'observe'>, place: Place): Promise<void> {
  try {
    await parts.questionIndexes.index({ ...place, only: null }, 'judging')
  } catch (error) {
    // A missing encoder is reported once, by the encoder.
    if (!(error instanceof Failure)) report(parts, error)
  }
}

function report({ observe }: Pick<Parts, 'observe'>, error: unknown): void {
  observe({ kind: 'fault', where: 'reading queries ahead', error })
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
