/** `2026-11-16T11:00:00.123Z` → `2026-11-16 11:00:00` */
export function timeText(timestamp: string | null): string {
  return timestamp === null ? '' : timestamp.slice(0, 19).replace('T', ' ')
}

export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = bytes / 1_000
  let at = 0
  for (; size >= 1_000 && at < units.length - 1; at += 1) size /= 1_000
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[at]}`
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
