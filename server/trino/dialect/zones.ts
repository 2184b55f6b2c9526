/** `2026-03-29 02:30:00.123456 Europe/Berlin` as the same moment in UTC: `2026-03-29 00:30:00.123456`. */
export function utcOf(text: string): string {
  const [, wall = text, fraction = '', zone = 'UTC'] = /^(\S+ \d\d:\d\d:\d\d)(\.\d+)?(?: (\S+))?$/.exec(text) ?? []
  if (zone === 'UTC' || zone === 'Z') return `${wall}${fraction}`
  const wallMs = Date.parse(`${wall.replace(' ', 'T')}Z`)
  if (Number.isNaN(wallMs)) return `${wall}${fraction}`
  const moment = new Date(wallMs - offsetMs(zone, wallMs))
  return `${moment.toISOString().slice(0, 19).replace('T', ' ')}${fraction}`
}

const minuteMs = 60_000

/** How far ahead of UTC a zone is when its clocks show this. */
function offsetMs(zone: string, wallMs: number): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? []
  if (sign !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minuteMs
  // Twice: close to a change of clocks the first guess is on the other side of it.
  const guess = wallMs - shownMs(zone, wallMs) + wallMs
  return shownMs(zone, guess) - guess
}

/** Local time of a zone at a moment, as if it were UTC. */
function shownMs(zone: string, moment: number): number {
  const found = Object.fromEntries(
    clockOf(zone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = found
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((moment % 1_000) + 1_000) % 1_000)
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** There are a few hundred zones. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timeZone)
  if (clock === undefined) {
    const two = '2-digit'
    const parts = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two } as const
    clock = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts })
    clocks.set(timeZone, clock)
  }
  return clock
}
