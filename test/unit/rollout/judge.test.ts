import { expect, test } from 'vitest'
import { hasSeenEnough, judgeTrial, type QueryFigures } from '../../../server/rollout/judge-trial.ts'

const none = { errorRate: null, p95Factor: null, differences: null, minCalls: 20 }
const rules = (on: Partial<typeof noneOf> | null) => ({
  step: null,
  rollBackOn: on === null ? null : { ...none, ...on },
})
const noneOf: { errorRate: number | null; p95Factor: number | null; differences: number | null; minCalls: number } =
  none

type Seen = [calls: number, errors: number, p95Ms: number]

function figures(after: Seen, before: Seen): QueryFigures[] {
  const of = ([calls, errors, p95Ms]: Seen) => ({ calls, errors, p95Ms })
  return [{ query: 'revenue', after: of(after), before: of(before) }]
}

const nothing = { calls: 0, different: 0, dropped: 0 }

test.each([
  ['no rule, whatever happens', rules(null), figures([100, 100, 9_000], [100, 0, 1]), nothing, false],
  ['too few calls to tell', rules({ errorRate: 0.05 }), figures([19, 19, 1], [1_000, 0, 1]), nothing, false],
  ['errors beyond the limit', rules({ errorRate: 0.05 }), figures([100, 6, 1], [1_000, 0, 1]), nothing, true],
  ['errors at the limit', rules({ errorRate: 0.05 }), figures([100, 5, 1], [1_000, 0, 1]), nothing, false],
  [
    'errors that the version before has as well',
    rules({ errorRate: 0.05 }),
    figures([100, 12, 1], [1_000, 100, 1]),
    nothing,
    false,
  ],
  [
    'errors where nobody calls the version before',
    rules({ errorRate: 0.05 }),
    figures([20, 2, 1], [0, 0, 0]),
    nothing,
    true,
  ],
  ['slower by more than the factor', rules({ p95Factor: 2 }), figures([50, 0, 21], [50, 0, 10]), nothing, true],
  ['slower within the factor', rules({ p95Factor: 2 }), figures([50, 0, 20], [50, 0, 10]), nothing, false],
  ['nothing to compare the time with', rules({ p95Factor: 2 }), figures([50, 0, 900], [3, 0, 1]), nothing, false],
  [
    'differences beyond the limit',
    rules({ differences: 0.01 }),
    figures([9, 0, 1], [9, 0, 1]),
    { calls: 100, different: 2, dropped: 0 },
    true,
  ],
  [
    'differences within it',
    rules({ differences: 0.01 }),
    figures([9, 0, 1], [9, 0, 1]),
    { calls: 100, different: 1, dropped: 0 },
    false,
  ],
  [
    'one difference where none is allowed',
    rules({ differences: 0 }),
    figures([9, 0, 1], [9, 0, 1]),
    { calls: 20, different: 1, dropped: 0 },
    true,
  ],
] as const)('%s', (_, given, queries, compared, isTakenBack) => {
  expect(judgeTrial(given, [...queries], compared) !== null).toBe(isTakenBack)
})

test('the reason names the query and both figures', () => {
  const because = judgeTrial(rules({ errorRate: 0.05 }), figures([100, 50, 1], [100, 1, 1]), nothing)
  expect(because).toBe('50 % of the calls of revenue fail, 1 % do on the version before.')
})

test('without any rule nothing need be seen before a step; with one, so many calls', () => {
  expect(hasSeenEnough(rules(null), figures([0, 0, 0], [0, 0, 0]))).toBe(true)
  expect(hasSeenEnough(rules({}), figures([19, 0, 0], [500, 0, 0]))).toBe(false)
  expect(hasSeenEnough(rules({}), figures([20, 0, 0], [0, 0, 0]))).toBe(true)
})
