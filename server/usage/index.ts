export { forgetOldAlerts, listDeliveries, listEvents, type AlertEvent, type Delivery } from './alerts/history.ts'
export {
  createAlert,
  deleteAlert,
  findAlert,
  listAlerts,
  rotateAlertSecret,
  testAlert,
  updateAlert,
  type AlertRecord,
} from './alerts/manage.ts'
export { resealChannels, resealSharedChannels } from './alerts/channels.ts'
export { alertMarks } from './alerts/marks.ts'
export { previewAlert } from './alerts/preview.ts'
export {
  createSharedChannel,
  deleteSharedChannel,
  listSharedChannels,
  rotateSharedChannel,
  testSharedChannel,
  updateSharedChannel,
  type SharedChannel,
} from './alerts/shared-channels.ts'
export { endSilence, silenceAlert } from './alerts/silence.ts'
export { knownChannels, readStoredChannels, shownChannel, type StoredChannel } from './alerts/defined-channels.ts'
export { openAlerts, type Alerts } from './alerts/open.ts'
export { renameWatched } from './alerts/renamed-query.ts'
export type { AlertSources } from './alerts/sources.ts'
export type { Post } from './alerts/post.ts'
export { callsByKey, figuresByVersion } from './figures.ts'
export { percentile, round } from './latencies.ts'
export { openPrometheus, type Prometheus } from './prometheus.ts'
export { forgetWords } from './questions.ts'
export { openUsage, type Usage } from './record.ts'
export { reportKeyUsage, reportUsage, type Report } from './report.ts'
export { findRequest } from './find-request.ts'
export { listRequests, tailRequests, type RequestEntry } from './requests.ts'
export { keepUsage } from './rollup.ts'
export { reportQueries } from './query-figures.ts'
export { changeView, createView, deleteView, listViews, type SavedView } from './views.ts'
export { openTraces, type Traces } from './traces.ts'
