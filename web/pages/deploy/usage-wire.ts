import type { z } from 'zod'
import type * as usage from '../../../api/usage.ts'

export type Metrics = z.output<typeof usage.metrics>
export type RequestEntry = z.output<typeof usage.requestEntry>
