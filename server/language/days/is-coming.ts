const comingBefore = /\b(?:next|coming|this|by|until|till|before|up to)\s+(?:the\s+)?$/iu
const coming = /\b(?:will|upcoming|due|planned|scheduled|forecast|expected|future)\b/iu

/** Whether a day without its year is ahead: data is mostly about what has been. */
export function isComing(text: string, start: number): boolean {
  return comingBefore.test(text.slice(0, start)) || coming.test(text)
}
