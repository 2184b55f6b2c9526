/** The outline of each part of a whole, clockwise from the top, in a square of this size. */
export function arcsOf(numbers: number[], size: number): string[] {
  const whole = numbers.reduce((total, number) => total + number, 0) || 1
  const [middle, radius] = [size / 2, size / 2 - 8]
  const pointAt = (angle: number): string =>
    `${(middle + radius * Math.cos(angle)).toFixed(1)} ${(middle + radius * Math.sin(angle)).toFixed(1)}`
  // A whole circle begins where it ends, which an arc cannot.
  const turn = `a ${radius} ${radius} 0 1 0`
  if (numbers.length === 1)
    return [`M ${middle} ${middle} m -${radius} 0 ${turn} ${2 * radius} 0 ${turn} -${2 * radius} 0`]
  let from = -Math.PI / 2
  return numbers.map((number) => {
    const to = from + (number / whole) * 2 * Math.PI
    const isLarge = to - from > Math.PI ? 1 : 0
    const outline = `M ${middle} ${middle} L ${pointAt(from)} A ${radius} ${radius} 0 ${isLarge} 1 ${pointAt(to)} Z`
    from = to
    return outline
  })
}
