import { fixedLimits } from '../../../api/limits.ts'
import { newId } from '../../ids.ts'
import type { CallKind, QueryAnswered } from './call.ts'

/** Calls of one kind that came within a second, in the columns of `request_batches`. */
export type Batch = {
  kind: CallKind
  start: number
  ids: string[]
  afterMs: Series
  totalUs: Series
  sqlUs: Series
  rows: Series
  bytes: Series
  asked: Asked | null
}

/** A value for each call; only the first is there while all are the same. */
export type Series = number[]

/** Fields that only questions have. A question is a batch of its own. */
type Asked = { routeUs: number | null; question: string | null; confidence: number | null }

/** The longest time that a batch spans: a call is looked for in batches that began as long before it. */
export const batchMs = 1_000
/** One page of the log may have to look into as many batches as it has calls. */
const maxCalls = 500

export function beginBatch(kind: CallKind, event: QueryAnswered, at: number): Batch {
  return {
    kind,
    start: at,
    ids: [event.requestId ?? newId('request', at)],
    afterMs: [0],
    totalUs: [micros(event.totalMs)],
    sqlUs: [micros(event.sqlMs)],
    rows: [event.rows],
    bytes: [event.bytes],
    asked: askedOf(event),
  }
}

/** Adds a call to a batch; false where it needs another. */
export function joinBatch(batch: Batch, event: QueryAnswered, at: number): boolean {
  const afterMs = at - batch.start
  const count = batch.ids.length
  if (afterMs < 0 || afterMs >= batchMs || count >= maxCalls) return false
  if (batch.asked !== null || event.routeMs !== undefined || event.question !== undefined) return false
  batch.ids.push(event.requestId ?? newId('request', at))
  append(batch.afterMs, afterMs, count)
  append(batch.totalUs, micros(event.totalMs), count)
  append(batch.sqlUs, micros(event.sqlMs), count)
  append(batch.rows, event.rows, count)
  append(batch.bytes, event.bytes, count)
  return true
}

function append(series: Series, value: number, count: number): void {
  const [same = 0] = series
  if (series.length === 1) {
    if (value === same) return
    while (series.length < count) series.push(same)
  }
  series.push(value)
}

function askedOf({ routeMs, question }: QueryAnswered): Asked | null {
  if (routeMs === undefined && question === undefined) return null
  return {
    routeUs: routeMs === undefined ? null : micros(routeMs),
    question: question === undefined ? null : storable(question.text.slice(0, fixedLimits.questionChars.value)),
    confidence: question?.confidence ?? null,
  }
}

function micros(ms: number): number {
  return Math.round(ms * 1_000)
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', ' ')
}
