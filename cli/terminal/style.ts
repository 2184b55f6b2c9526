import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

export type Style = {
  bold: (text: string) => string
  dim: (text: string) => string
  good: (text: string) => string
  bad: (text: string) => string
  warn: (text: string) => string
  name: (text: string) => string
}

/** Colours where a person looks at a terminal that has them, and has not asked for none (NO_COLOR, FORCE_COLOR). */
export function styleFor(stream: { isTTY?: boolean; hasColors?: () => boolean }, isWanted: boolean): Style {
  const isColoured = isWanted && stream.isTTY === true && stream.hasColors?.() === true
  const apply =
    (format: Format) =>
    (text: string): string =>
      isColoured && text !== '' ? styleText(format, text, { validateStream: false }) : text
  return {
    bold: apply('bold'),
    dim: apply('dim'),
    good: apply('green'),
    bad: apply('red'),
    warn: apply('yellow'),
    name: apply('cyan'),
  }
}
