/**
 * For child processes that end with their parent: a terminal or a service manager that asks for a stop tells every
 * process at once, and one that ended by itself would take the calls with it that its parent is about to finish.
 */
export function leaveSignalsToParent(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
}
