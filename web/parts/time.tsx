const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** A moment as people say it, with the exact one behind it. */
export function Ago({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={absolute.format(date)}>
      {sayRelative(date.getTime() - Date.now())}
    </time>
  )
}

/** A moment exactly. */
export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{absolute.format(new Date(at))}</time>
}

export function Day({ at }: { at: string }) {
  return <time dateTime={at}>{day.format(new Date(at))}</time>
}

function sayRelative(awayMs: number): string {
  const awaySeconds = awayMs / 1000
  for (const [unit, seconds] of units) {
    if (Math.abs(awaySeconds) >= seconds) return relative.format(Math.round(awaySeconds / seconds), unit)
  }
  return awaySeconds < 0 ? 'just now' : 'in a moment'
}
