/** How long a credential is good, in days. */
export const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: '', label: 'No end' },
]

export function endAfter(lifetimeDays: number): string {
  return new Date(Date.now() + lifetimeDays * 86_400_000).toISOString()
}
