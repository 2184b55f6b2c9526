import type { z } from 'zod'
import type * as alerts from '../../../../api/alerts.ts'
import type * as usage from '../../../../api/usage.ts'

export type Metrics = z.output<typeof usage.metrics>
export type QueryFigures = z.output<typeof usage.queryFigures>
export type Timeline = z.output<typeof usage.timeline>
export type SavedView = z.output<typeof usage.savedView>
export type AlertPreview = z.output<typeof alerts.alertPreview>
export type SharedChannel = z.output<typeof alerts.notificationChannel>
export type RequestDetail = z.output<typeof usage.requestDetail>
export type RequestEntry = z.output<typeof usage.requestEntry>
export type { Alert } from '../../../client/wire.ts'
export type AlertType = z.output<typeof alerts.alert>['type']
export type NewAlert = z.input<typeof alerts.newAlert>
export type ChangeAlert = z.input<typeof alerts.changeAlert>
export type AlertEvent = z.output<typeof alerts.alertEvent>
export type AlertDelivery = z.output<typeof alerts.alertDelivery>
