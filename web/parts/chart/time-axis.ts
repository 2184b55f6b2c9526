const minuteMs = 60_000
const dayMinutes = 1440

/** How far apart marks may stand, in minutes: each divides the day, or is a number of days. */
const steps = [1, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, dayMinutes, 2 * dayMinutes, 7 * dayMinutes]

export type TimeAxis = {
  /** Those of the times that get a mark. */
  ticks: string[]
  /** The label at a mark: the hour, and the day where one begins. */
  label: (time: string) => string
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** Marks at even distances on whole hours and days, as many as fit and no more. The times are in their order. */
export function timeAxis(times: string[], mostTicks: number): TimeAxis {
  const spanMinutes = minutesBetween(times[0], times.at(-1))
  const stepMinutes = steps.find((step) => spanMinutes / step <= mostTicks) ?? 30 * dayMinutes
  const ticks = times.filter((time) => isOn(new Date(time), stepMinutes))
  return {
    // A span shorter than a step may miss every mark.
    ticks: ticks.length === 0 ? times.slice(0, 1) : ticks,
    label: (time) => {
      const date = new Date(time)
      return stepMinutes >= dayMinutes || minutesOfDay(date) === 0 ? day.format(date) : clock.format(date)
    },
  }
}

function minutesBetween(first: string | undefined, last: string | undefined): number {
  return first === undefined || last === undefined ? 0 : (Date.parse(last) - Date.parse(first)) / minuteMs
}

function isOn(date: Date, stepMinutes: number): boolean {
  if (stepMinutes < dayMinutes) return minutesOfDay(date) % stepMinutes === 0
  // Days of the reader's calendar, each the same number whatever the clocks do.
  const days = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / (dayMinutes * minuteMs)
  return days % (stepMinutes / dayMinutes) === 0
}

function minutesOfDay(date: Date): number {
  return date.getHours() * 60 + date.getMinutes()
}
