/** How often something is tried under load: a few times in the gate, many times where `TEST_ROUNDS=all`, as CI sets it. */
export function rounds(few: number, many: number): number {
  return process.env['TEST_ROUNDS'] === 'all' ? many : few
}
