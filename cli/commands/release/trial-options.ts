import { CommandFailure } from '../../terminal/exit.ts'

/** How a release is tried out before it answers everyone, as it is typed. */
export type TrialOptions = { canary?: string; step?: string; rollBackOn?: string; shadow?: boolean }

type Rules = { error_rate?: number; p95_factor?: number; differences?: number }
type Trial = {
  canary?: { percent: number; step?: { percent: number; seconds: number }; roll_back_on?: Rules }
  shadow?: true
}

/** `--canary 10 --step 20/10m --roll-back-on errors=0.05,p95=2,differences=0.01` as the service takes it. */
export function trialOf({ canary, step, rollBackOn, shadow }: TrialOptions): Trial {
  if (canary === undefined) {
    const lone = step !== undefined ? '--step' : rollBackOn !== undefined ? '--roll-back-on' : undefined
    if (lone !== undefined) throw usage(`${lone} is for a canary: say --canary <percent>, too.`)
    return shadow === true ? { shadow: true } : {}
  }
  if (shadow === true) throw usage('A release is a canary or a shadow, not both.')
  return {
    canary: {
      percent: percentOf('--canary', canary),
      ...(step !== undefined && { step: stepOf(step) }),
      ...(rollBackOn !== undefined && { roll_back_on: rulesOf(rollBackOn) }),
    },
  }
}

export function percentOf(option: string, text: string): number {
  const percent = Number(text.replace(/%$/, ''))
  if (text !== '' && percent > 0 && percent <= 100) return percent
  throw usage(`${option} takes a share of the keys, above 0 and up to 100, not ${text}.`)
}

const secondsIn: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function stepOf(text: string): { percent: number; seconds: number } {
  const [, percent = '', count = '', unit = ''] = /^([\d.]+)%?\/(\d+)([smhd])$/.exec(text) ?? []
  if (percent === '') throw usage(`--step is a share and how long after: 20/10m, not ${text}.`)
  return { percent: percentOf('--step', percent), seconds: Number(count) * (secondsIn[unit] ?? 1) }
}

const ruleNames: Record<string, keyof Rules> = { errors: 'error_rate', p95: 'p95_factor', differences: 'differences' }

function rulesOf(text: string): Rules {
  return Object.fromEntries(
    text.split(',').map((rule) => {
      const [name = '', limit = ''] = rule.split('=').map((part) => part.trim())
      const field = ruleNames[name]
      if (field !== undefined && limit !== '' && Number(limit) >= 0) return [field, Number(limit)]
      throw usage(`--roll-back-on takes errors, p95 and differences with a limit: errors=0.05,p95=2, not ${rule}.`)
    }),
  )
}

function usage(message: string): CommandFailure {
  return new CommandFailure('usage', message)
}
