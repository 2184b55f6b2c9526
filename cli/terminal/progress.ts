import type { Style } from './style.ts'

type Screen = { isTTY?: boolean; columns?: number; write(text: string): unknown }

export type Progress = {
  /** From 0 to 1, or null where nobody knows; and what is being done. */
  show(share: number | null, text: string): void
  /** Takes the line away, or leaves `text` in its place. */
  end(text?: string): void
}

const barWidth = 24
const frameMs = 100
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** One line that changes where it stands. Where no person looks it is silent, and only its end is told. */
export function openProgress(screen: Screen, style: Style): Progress {
  const isLive = screen.isTTY === true
  let at = 0
  let shown: { share: number | null; text: string } | undefined
  const draw = (): void => {
    if (shown === undefined) return
    at += 1
    const { share, text } = shown
    const head = share === null ? style.name(frames[at % frames.length] ?? '') : bar(share, style)
    screen.write(`\r\u001b[2K${head} ${text.slice(0, Math.max(10, (screen.columns ?? 80) - barWidth - 10))}`)
  }
  const timer = isLive ? setInterval(draw, frameMs) : undefined
  timer?.unref()
  return {
    show(share, text) {
      shown = { share, text }
      if (isLive) draw()
    },
    end(text) {
      clearInterval(timer)
      if (isLive && shown !== undefined) screen.write('\r\u001b[2K')
      if (text !== undefined) screen.write(`${text}\n`)
      shown = undefined
    },
  }
}

function bar(share: number, style: Style): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * barWidth)
  const percent = `${Math.floor(share * 100)}`.padStart(3)
  return `${style.good('█'.repeat(full))}${style.dim('░'.repeat(barWidth - full))} ${percent} %`
}
