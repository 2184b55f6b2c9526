/** Processor time of this thread so far: what an algorithm took, however busy the machine is. */
export function spentMs(): number {
  return process.threadCpuUsage().user / 1_000
}
