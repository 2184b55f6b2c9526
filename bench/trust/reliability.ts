const bins = 10

/** With which share an answer was given, and whether it was right. */
export type Judged = { share: number; isRight: boolean }

function binsOf(judged: Judged[]): Judged[][] {
  return Array.from({ length: bins }, (_, at) =>
    judged.filter(({ share }) => Math.min(bins - 1, Math.floor(share * bins)) === at),
  )
}

/** How far share and outcome lie apart in each tenth, by how many answers it has. */
export function calibrationError(judged: Judged[]): number {
  return (
    binsOf(judged).reduce((sum, own) => sum + Math.abs(total(own, 'share') - total(own, 'right')), 0) / judged.length
  )
}

export function printReliability(judged: Judged[]): void {
  console.log('share        answers  said   right')
  for (const [at, own] of binsOf(judged).entries()) {
    if (own.length === 0) continue
    const mean = (what: 'share' | 'right'): string => (total(own, what) / own.length).toFixed(3)
    const label = `${(at / bins).toFixed(1)} to ${((at + 1) / bins).toFixed(1)}`
    console.log(`${label}  ${String(own.length).padStart(9)}  ${mean('share')}  ${mean('right')}`)
  }
  console.log(`expected calibration error ${calibrationError(judged).toFixed(3)} (at most 0.03 is the goal)`)
}

function total(judged: Judged[], what: 'share' | 'right'): number {
  return judged.reduce((sum, { share, isRight }) => sum + (what === 'share' ? share : Number(isRight)), 0)
}
