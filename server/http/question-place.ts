/** Where a question stands among those that wait to be read. */
export type QuestionPlace = {
  /** Its body is there; refuses it where it has given up its place and there is no other. */
  bodyIsIn: () => void
  leave: () => void
}

/**
 * Takes a place from the head of a request on. Whoever is slow to send the body gives it up meanwhile: else a few
 * connections that send nothing more would keep everybody out.
 */
export function takePlace(turnstile: { enter(): () => void }, patienceMs: number): QuestionPlace {
  let leave = turnstile.enter()
  let isAway = false
  let isOver = false
  const timer = setTimeout(() => {
    isAway = true
    leave()
  }, patienceMs)
  return {
    bodyIsIn() {
      clearTimeout(timer)
      if (isAway && !isOver) leave = turnstile.enter()
    },
    leave() {
      clearTimeout(timer)
      isOver = true
      leave()
    },
  }
}
