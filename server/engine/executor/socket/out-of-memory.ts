/** Whether an error says that not DuckDB's own limit but the operating system refused memory. */
export function isRefusedBySystem(cause: string): boolean {
  return /bad.alloc|Cannot allocate memory|Allocation failure/i.test(cause)
}
