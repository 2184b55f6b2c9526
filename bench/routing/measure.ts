/** Figures of a run, as the benchmark's page asks for them. */
export type Judged = {
  kind: 'in' | 'near' | 'far'
  seen: boolean
  right: boolean
  inTop3: boolean
  joint: boolean
  slots: { expected: number; given: number; right: number }
  confidence: number
  /** Whether the calibrated router would have answered. */
  answered: boolean
  elapsedMs: number
}

export type Figures = {
  questions: number
  top1: number
  top1Unseen: number
  top3: number
  joint: number
  slotF1: number
  aurocFar: number
  refusedFar: number
  aurocNear: number
  refusedNear: number
  /** With the project's own threshold instead of one chosen after the fact. */
  accepted: number
  /** Answered by the right query with the right values. */
  answeredRight: number
  refusedFarOwn: number
  refusedNearOwn: number
  p50Ms: number
  p95Ms: number
}

export function figuresOf(judged: Judged[]): Figures {
  const inside = judged.filter(({ kind }) => kind === 'in')
  const of = (kind: Judged['kind']): Judged[] => judged.filter((each) => each.kind === kind)
  const slots = inside.reduce(
    (sum, { slots: own }) => ({
      expected: sum.expected + own.expected,
      given: sum.given + own.given,
      right: sum.right + own.right,
    }),
    { expected: 0, given: 0, right: 0 },
  )
  const times = judged.map(({ elapsedMs }) => elapsedMs).sort((a, b) => a - b)
  return {
    questions: inside.length,
    top1: percent(inside, ({ right }) => right),
    top1Unseen: percent(
      inside.filter(({ seen }) => !seen),
      ({ right }) => right,
    ),
    top3: percent(inside, ({ inTop3 }) => inTop3),
    joint: percent(inside, ({ joint }) => joint),
    slotF1: slots.expected + slots.given === 0 ? NaN : (200 * slots.right) / (slots.expected + slots.given),
    aurocFar: auroc(inside, of('far')),
    refusedFar: refusedAt95(inside, of('far')),
    aurocNear: auroc(inside, of('near')),
    refusedNear: refusedAt95(inside, of('near')),
    accepted: percent(inside, ({ answered }) => answered),
    answeredRight: percent(inside, ({ answered, joint }) => answered && joint),
    refusedFarOwn: percent(of('far'), ({ answered }) => !answered),
    refusedNearOwn: percent(of('near'), ({ answered }) => !answered),
    p50Ms: times[Math.floor(times.length * 0.5)] ?? NaN,
    p95Ms: times[Math.floor(times.length * 0.95)] ?? NaN,
  }
}

function percent(judged: Judged[], holds: (each: Judged) => boolean): number {
  return judged.length === 0 ? NaN : (100 * judged.filter(holds).length) / judged.length
}

function auroc(inside: Judged[], outside: Judged[]): number {
  if (inside.length === 0 || outside.length === 0) return NaN
  let wins = 0
  for (const yes of inside)
    for (const no of outside) wins += yes.confidence > no.confidence ? 1 : yes.confidence === no.confidence ? 0.5 : 0
  return (100 * wins) / (inside.length * outside.length)
}

function refusedAt95(inside: Judged[], outside: Judged[]): number {
  const accepted = inside.map(({ confidence }) => confidence).sort((a, b) => a - b)
  const limit = accepted[Math.floor(accepted.length * 0.05)] ?? -Infinity
  return percent(outside, ({ confidence }) => confidence < limit)
}
