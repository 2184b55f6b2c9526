export { forgetOldAlerts, listDeliveries, listEvents } from './alerts/history.ts'
export {
  createAlert,
  deleteAlert,
  findAlert,
  listAlerts,
  renameWatched,
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
} from './alerts/shared-channels.ts'
export { endSilence, silenceAlert } from './alerts/silence.ts'
export { knownChannels, readStoredChannels, shownChannel, type StoredChannel } from './alerts/defined-channels.ts'
export { openAlerts, type Alerts } from './alerts/open-alerts.ts'
export type { AlertSources } from './alerts/measure/sources.ts'
export type { Post } from './alerts/send/post.ts'
export { callsByKey, figuresByVersion } from './report/figures.ts'
export { openPrometheus, type Prometheus } from './metrics/prometheus.ts'
export { forgetWords } from './report/questions.ts'
export { openUsage, type Usage } from './record/record.ts'
export { reportKeyUsage, reportUsage } from './report/report.ts'
export { findRequest } from './report/find-request.ts'
export { listRequests, tailRequests } from './report/requests.ts'
export { keepUsage } from './report/rollup.ts'
export { reportQueries } from './report/query-figures.ts'
export { changeView, createView, deleteView, listViews } from './report/views.ts'
export { openTraces, type Traces } from './metrics/traces.ts'
