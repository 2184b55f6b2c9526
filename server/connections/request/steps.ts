import type { HttpConfiguration, RequestStep } from '../../../api/connections.ts'
import { Failure, invalidField } from '../../failure.ts'
import { parsePath } from '../../rows/index.ts'
import { mapSecrets } from '../secrets/places.ts'
import { holdsSecretReference } from '../secrets/references.ts'
import { buildRequest } from './build-request.ts'
import { argumentsOf, fillVariables, type Moment, type StepAnswer, type StepAnswers } from './variables.ts'

/** Progress of the requests before the one for rows, in a form that can be stored. `done`: those that were answered. */
export type StepsState = StepAnswers & { done: number }

const nothing: StepAnswer = { values: {}, headers: {} }
export const noStepsDone: StepsState = { done: 0, start: nothing, answer: nothing }

/** Headers of a body, which a request without one leaves out. */
const bodyHeader = /^content-/i

/**
 * The request that comes after those that are done: the first is the configuration itself. Its headers and
 * authentication go with every step to the same host, port and scheme, and nowhere else.
 */
export function stepRequest(
  template: HttpConfiguration,
  moment: Omit<Moment, 'answers'>,
  { done, start, answer }: StepsState,
): HttpConfiguration {
  const first = fillVariables(template, moment)
  const step = (template.steps ?? [])[done - 1]
  if (step === undefined) return first
  return inStep(done - 1, () => {
    const { url, method, headers, body } = step
    const asked = { url, method, ...(headers && { headers }), ...(body && { body }) }
    const own = fillVariables(asked, { ...moment, answers: { start, answer } })
    if (!URL.canParse(own.url, first.url)) throw invalidField('url', 'is neither a path nor a whole address')
    const address = new URL(own.url, first.url)
    const { responsePathExtractor: extractor, included } = template
    const rows = {
      ...(extractor !== undefined && { responsePathExtractor: extractor }),
      ...(included !== undefined && { included }),
    }
    const isSame = address.origin === new URL(first.url).origin
    if (!isSame) return { ...own, ...rows, url: address.href }
    const named = new Set(Object.keys(own.headers ?? {}).map((name) => name.toLowerCase()))
    const shared = Object.entries(first.headers ?? {}).filter(([name]) => {
      return !named.has(name.toLowerCase()) && (own.body !== undefined || !bodyHeader.test(name))
    })
    const { authType, auth } = first
    return {
      ...own,
      ...rows,
      url: address.href,
      headers: { ...Object.fromEntries(shared), ...own.headers },
      ...(authType !== undefined && { authType }),
      ...(auth !== undefined && { auth }),
    }
  })
}

/** Paths into the body of an answer, and names of its headers, that the requests behind it go by. */
export function wantedOf({ steps = [] }: HttpConfiguration, done: number): { paths: string[]; headers: string[] } {
  const until = steps[done - 1]?.until?.path
  const next = steps[done]
  const names = (name: string) => [
    ...argumentsOf(next, `answer${name}`),
    ...(done === 0 ? argumentsOf(steps, `start${name}`) : []),
  ]
  return {
    paths: [...new Set([...names(''), ...(until === undefined ? [] : [until])])],
    headers: [...new Set(names('_header').map((name) => name.toLowerCase()))],
  }
}

/** Says at once what is wrong with a step, instead of at the first load. */
export function checkSteps(configuration: HttpConfiguration, moment: Omit<Moment, 'answers'>): void {
  const { steps = [] } = configuration
  for (const [index, step] of steps.entries()) {
    inStep(index, () => {
      const { url, method, headers, body } = step
      mapSecrets({ url, method, ...(headers && { headers }), ...(body && { body }) }, ({ field }) => {
        throw invalidField(
          field,
          'is a secret: keep it as a secret of the project that names its origins, and write {{secret:name}}',
        )
      })
      for (const path of pathsIn(step)) parsePath(path, 'url')
      if (step.until?.path !== undefined) parsePath(step.until.path, 'until.path')
    })
    const named = (name: string) => Object.fromEntries(argumentsOf(step, name).map((each) => [each, 'x']))
    const answered = (name: string): StepAnswer => {
      const headers = Object.entries(named(`${name}_header`)).map(([header, value]) => [header.toLowerCase(), value])
      return { values: named(name), headers: Object.fromEntries(headers) as Record<string, string> }
    }
    const state = { done: index + 1, start: answered('start'), answer: answered('answer') }
    // Whether a secret may go to a host that an answer names is seen once it does.
    const open = /^\s*\{\{/.test(step.url) ? steps.with(index, withoutSecrets(step)) : steps
    const request = stepRequest({ ...configuration, steps: open }, moment, state)
    inStep(index, () => buildRequest(request))
  }
}

function withoutSecrets({ headers = {}, body, ...step }: RequestStep): RequestStep {
  const open = Object.entries(headers).filter(([, value]) => !holdsSecretReference(value))
  return { ...step, headers: Object.fromEntries(open), ...(!holdsSecretReference(body) && { body }) }
}

function pathsIn(step: RequestStep): string[] {
  return ['start', 'answer'].flatMap((name) => argumentsOf(step, name))
}

/** A field of a step by the step that it belongs to. */
function inStep<Result>(index: number, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid_request' || error.details === undefined) throw error
    const [detail] = error.details
    const within = detail?.field.startsWith('steps[') === true ? '' : `steps[${index}].`
    throw invalidField(`${within}${detail?.field ?? ''}`, detail?.message ?? error.message)
  }
}

type Read = { values: Record<string, unknown>; headers: Record<string, string> }

/** Standing of an answer by the values that its step waits for. */
export function standing(step: RequestStep | undefined, { status, values }: Read & { status: number }) {
  const { until } = step ?? {}
  if (until === undefined) return { kind: 'done' as const }
  if (status === 202 || until.path === undefined)
    return { kind: status === 202 ? ('waits' as const) : ('done' as const) }
  const value = values[until.path]
  const isOne = (names: readonly (string | number | boolean)[]) => names.some((name) => String(name) === String(value))
  if (until.fails !== undefined && isOne(until.fails)) return { kind: 'failed' as const, value: String(value) }
  const isThere = value !== undefined && value !== null && value !== false && value !== ''
  const isDone = until.is === undefined ? isThere : isOne(until.is)
  return { kind: isDone ? ('done' as const) : ('waits' as const) }
}

/** The state once a request was answered. */
export function withAnswer(
  { done, start }: StepsState,
  { values, headers }: Read,
  template: HttpConfiguration,
): StepsState {
  const wanted = wantedOf(template, done)
  const pick = (from: Record<string, unknown>, names: string[]) =>
    Object.fromEntries(names.flatMap((name) => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])))
  const answer: StepAnswer = {
    values: pick(values, wanted.paths),
    headers: pick(headers, wanted.headers) as Record<string, string>,
  }
  return { done: done + 1, start: done === 0 ? answer : start, answer }
}
