const steps = 30
const ridge = 1

/**
 * Logistic regression by Newton's method: the bias, then a weight for each input. The ridge keeps weights small where
 * few cases speak of them.
 */
export function fitLogistic(cases: Array<{ inputs: number[]; isTrue: boolean }>): number[] {
  const size = (cases[0]?.inputs.length ?? 0) + 1
  let weights = Array.from({ length: size }, () => 0)
  for (let step = 0; step < steps; step += 1) {
    const slope = weights.map((weight, at) => (at === 0 ? 0 : ridge * weight))
    const curve = weights.map((_, row) => weights.map((__, column): number => (row === column && row > 0 ? ridge : 0)))
    for (const { inputs, isTrue } of cases) {
      const x = [1, ...inputs]
      const share = 1 / (1 + Math.exp(-x.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0)))
      for (const [row, value] of x.entries()) {
        slope[row] = (slope[row] ?? 0) + (share - Number(isTrue)) * value
        const line = curve[row] ?? []
        for (const [column, other] of x.entries()) {
          line[column] = (line[column] ?? 0) + share * (1 - share) * value * other
        }
      }
    }
    const move = solve(curve, slope)
    weights = weights.map((weight, at) => weight - (move[at] ?? 0))
  }
  return weights.map((weight) => Number(weight.toFixed(4)))
}

/** Gauss and Jordan, with the largest pivot. */
function solve(matrix: number[][], right: number[]): number[] {
  const rowsLeft = matrix.map((row, at) => [...row, right[at] ?? 0])
  for (let column = 0; column < right.length; column += 1) {
    const pivot = rowsLeft.reduce(
      (best, row, at) =>
        at >= column && Math.abs(row[column] ?? 0) > Math.abs(rowsLeft[best]?.[column] ?? 0) ? at : best,
      column,
    )
    const [chosen, own] = [rowsLeft[pivot] ?? [], rowsLeft[column] ?? []]
    rowsLeft[pivot] = own
    const scale = chosen[column] ?? 1
    const unit = chosen.map((value) => value / scale)
    rowsLeft[column] = unit
    for (const [at, row] of rowsLeft.entries()) {
      if (at === column) continue
      const factor = row[column] ?? 0
      rowsLeft[at] = row.map((value, place) => value - factor * (unit[place] ?? 0))
    }
  }
  return rowsLeft.map((row) => row.at(-1) ?? 0)
}
