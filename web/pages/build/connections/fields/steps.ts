import type { Configuration } from '../../shared/wire.ts'
import { bodyText, fieldsOf, linesOf, newId } from './lines.ts'

type Step = NonNullable<Configuration['steps']>[number]

/** A request behind the one of the connection, as it stands in the form. */
export type StepDraft = {
  id: number
  method: string
  url: string
  /** `name=value`, one a line. */
  headers: string
  bodyType: string
  body: string
  /** It is made again until its answer says that it is ready. */
  waits: boolean
  path: string
  /** Values between commas. */
  is: string
  fails: string
  everySeconds: number
}

const emptyStep: Omit<StepDraft, 'id'> = {
  method: 'GET',
  url: '',
  headers: '',
  bodyType: 'json',
  body: '',
  waits: false,
  path: '',
  is: '',
  fails: '',
  everySeconds: 5,
}

/** Waits for what was started, then brings it. */
const firstSteps = [
  { ...emptyStep, url: '{{start:url}}', waits: true, path: 'status' },
  { ...emptyStep, url: '{{answer:result_url}}' },
]

export const mostSteps = 5

export function withStep(steps: StepDraft[]): StepDraft[] {
  const added = steps.length === 0 ? firstSteps : [emptyStep]
  return [...steps, ...added.map((step) => ({ ...step, id: newId() }))]
}

export function stepDraftsOf(steps: Step[] = []): StepDraft[] {
  return steps.map(({ url, method = 'GET', headers = {}, body, until }) => ({
    ...emptyStep,
    id: newId(),
    url,
    method,
    headers: linesOf(headers),
    ...(body !== undefined && {
      bodyType: typeof body['type'] === 'string' ? body['type'] : 'json',
      body: bodyText(body),
    }),
    waits: until !== undefined,
    path: until?.path ?? '',
    is: (until?.is ?? []).join(', '),
    fails: (until?.fails ?? []).join(', '),
    everySeconds: until?.every_seconds ?? 5,
  }))
}

/** The wire form of the steps; undefined where there are none. */
export function stepsOf(drafts: StepDraft[]): Step[] | undefined {
  if (drafts.length === 0) return undefined
  return drafts.map((draft) => {
    const { url, method, headers, bodyType, body, waits } = draft
    return {
      url: url.trim(),
      method,
      ...(headers.trim() !== '' && { headers: fieldsOf(headers, '\n') }),
      ...(body.trim() !== '' && method !== 'GET' && { body: { type: bodyType, content: contentOf(bodyType, body) } }),
      ...(waits && { until: untilOf(draft) }),
    }
  })
}

function contentOf(type: string, body: string): unknown {
  return type === 'form' || type === 'multipart' ? fieldsOf(body) : body
}

function untilOf({ path, is, fails, everySeconds }: Pick<StepDraft, 'path' | 'is' | 'fails' | 'everySeconds'>) {
  const values = (text: string) => text.split(',').flatMap((value) => (value.trim() === '' ? [] : [value.trim()]))
  return {
    ...(path.trim() !== '' && { path: path.trim() }),
    ...(values(is).length > 0 && { is: values(is) }),
    ...(values(fails).length > 0 && { fails: values(fails) }),
    every_seconds: everySeconds,
  }
}
