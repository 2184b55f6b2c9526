/** Days after which a credential expires. */
export const lifetimes = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: '', label: 'Never' },
]

export function endAfter(lifetimeDays: number): string {
  return new Date(Date.now() + lifetimeDays * 86_400_000).toISOString()
}
