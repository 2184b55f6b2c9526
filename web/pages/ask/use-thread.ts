import { useRef, useState } from 'react'
import { makeCall, type CallRequest, type Outcome } from '../query/call/calls.ts'
import { headersOf, pathOf, type CallTarget } from '../query/call/snippet-text.ts'
import { requestIdOf, resultOf, type More, type QuestionResult } from './question-result.ts'
import { wholeQuestion, type WholeQuestion } from './whole-question.ts'

/** An answered question that the next one may follow. */
export type Earlier = {
  question: string
  /** As it would be asked on its own; null where nobody can tell. */
  whole: WholeQuestion | null
  query: string
  parameters: Record<string, unknown>
  requestId: string | null
}

/** One question of a thread, and how it ended; `outcome` and `error` are null while it is under way. */
export type Turn = {
  id: number
  question: string
  more: More
  earlier: Earlier | null
  request: CallRequest
  outcome: Outcome | null
  result: QuestionResult | null
  error: Error | null
  isCancelled: boolean
  /** Its values were changed by hand: the words no longer say them. */
  isEdited: boolean
}

export type Way = { target: CallTarget; key: string | null }

/** The questions of a page in their order. One is under way at a time. */
export function useThread(way: Way) {
  const [turns, setTurns] = useState<Turn[]>([])
  const running = useRef<AbortController | null>(null)
  const nextId = useRef(0)
  const last = turns.at(-1)

  /** Sends a question; the turn `again` is replaced by it, others stay. */
  const send = async (asked: Asked, again?: number): Promise<Turn> => {
    running.current?.abort()
    const stopper = new AbortController()
    running.current = stopper
    const id = again ?? (nextId.current += 1)
    let turn: Turn = {
      ...asked,
      id,
      request: requestOf(way, asked),
      outcome: null,
      result: null,
      error: null,
      isCancelled: false,
    }
    const show = (change: Partial<Turn>): void => {
      turn = { ...turn, ...change }
      setTurns((before) => before.map((each) => (each.id === id ? turn : each)))
    }
    setTurns((before) =>
      again === undefined ? [...before, turn] : before.map((each) => (each.id === id ? turn : each)),
    )
    try {
      const outcome = await makeQuestionCall(way, turn, stopper.signal)
      show({ outcome, result: resultOf(outcome) })
    } catch (error) {
      if (stopper.signal.aborted) show({ isCancelled: true })
      else show({ error: error instanceof Error ? error : new Error(String(error)) })
    }
    return turn
  }

  return {
    turns,
    isPending: last !== undefined && last.outcome === null && last.error === null && !last.isCancelled,
    /** The answered question that the next one follows. */
    earlier: turns.reduce<Earlier | null>((before, turn) => earlierOf(turn) ?? before, null),
    ask: (question: string, earlier: Earlier | null) => send({ question, more: {}, earlier, isEdited: false }),
    again: ({ id, question, earlier }: Turn, more: More) => send({ question, more, earlier, isEdited: false }, id),
    /** The same query with other values, which need not stand in the question. */
    edit: ({ id, question }: Turn, query: string, parameters: Record<string, unknown>) =>
      send({ question, more: { query_name: query, parameters, partial: true }, earlier: null, isEdited: true }, id),
    cancel: () => running.current?.abort(),
    clear: () => {
      running.current?.abort()
      setTurns([])
    },
  }
}

function earlierOf({ question, result, outcome, earlier }: Turn): Earlier | null {
  if (result?.outcome !== 'answered' || result.query === null || outcome === null) return null
  const { query, parameters } = result
  const whole = wholeQuestion(question, result, earlier?.whole ?? null)
  return { question, whole, query, parameters, requestId: requestIdOf(outcome) }
}

type Asked = Pick<Turn, 'question' | 'more' | 'earlier' | 'isEdited'>

async function makeQuestionCall(way: Way, turn: Omit<Asked, 'isEdited'>, signal: AbortSignal): Promise<Outcome> {
  const outcome = await makeCall({ ...requestOf(way, turn), signal })
  // The log may not keep what the question before was answered with; the question is then asked on its own.
  const isForgotten = outcome.status === 404 && way.key !== null && turn.earlier !== null
  return isForgotten ? makeCall({ ...requestOf(way, { ...turn, earlier: null }), signal }) : outcome
}

function requestOf({ target, key }: Way, { question, more, earlier }: Omit<Asked, 'isEdited'>): CallRequest {
  const { projectId, environment } = target
  const common = { time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone, ...more }
  if (key === null) {
    const follows = earlier === null ? {} : { follows: { query_name: earlier.query, parameters: earlier.parameters } }
    const body = { question, environment, run: true, ...common, ...follows }
    return { path: `/v1/projects/${projectId}/ask`, headers: {}, body, key }
  }
  const follows = earlier?.requestId === undefined || earlier.requestId === null ? {} : { follows: earlier.requestId }
  const body = { query: question, project_id: projectId, explain: true, ...common, ...follows }
  return { path: pathOf(target), headers: headersOf(target), body, key }
}
