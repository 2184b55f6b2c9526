import type { Observation } from '../../observe.ts'

export type Traces = {
  observe(event: Observation): void
  close(): Promise<void>
}

type QueryAnswered = Extract<Observation, { kind: 'query-answered' }>
type RequestAnswered = Extract<Observation, { kind: 'request-answered' }>

/** Calls whose request has not ended yet; beyond it they are left out of their traces. */
const maxWaiting = 10_000
const traceParent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Spans of requests, and of the queries they called, sent to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names. Made
 * of observations once a request has ended, so nothing is added to its path. Loaded only where it is asked for.
 */
export async function openTraces(now: () => number): Promise<Traces> {
  const [{ ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const named = resources.resourceFromAttributes({ 'service.name': 'sluice' })
  const resource = named.merge(resources.detectResources({ detectors: [resources.envDetector] }))
  const processor = new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })
  const provider = new sdk.TracerProvider({ resource, spanProcessors: [processor] })
  const tracer = provider.getTracer('sluice')
  const waiting = new Map<string, QueryAnswered[]>()

  const report = (event: RequestAnswered): void => {
    const endTime = now()
    const calls = waiting.get(event.requestId) ?? []
    waiting.delete(event.requestId)
    const [, traceId, spanId, flags = '0'] = traceParent.exec(event.traceParent ?? '') ?? []
    const parent =
      traceId === undefined || spanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId,
            spanId,
            traceFlags: Number.parseInt(flags, 16),
            isRemote: true,
          })
    const attributes = {
      'http.request.method': event.method,
      'http.route': event.route,
      'http.response.status_code': event.status,
      'sluice.request_id': event.requestId,
    }
    const startTime = endTime - event.elapsedMs
    const span = tracer.startSpan(
      `${event.method} ${event.route}`,
      { kind: SpanKind.SERVER, startTime, attributes },
      parent,
    )
    if (event.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    for (const call of calls) {
      const child = tracer.startSpan(
        `query ${call.query ?? call.entry}`,
        { startTime: Math.max(startTime, endTime - call.totalMs), attributes: attributesOf(call) },
        trace.setSpan(parent, span),
      )
      if (call.code !== null) child.setStatus({ code: SpanStatusCode.ERROR, message: call.code })
      child.end(endTime)
    }
    span.end(endTime)
  }

  return {
    observe(event) {
      if (event.kind === 'request-answered') report(event)
      if (event.kind !== 'query-answered' || typeof event.requestId !== 'string') return
      const calls = waiting.get(event.requestId)
      if (calls !== undefined) calls.push(event)
      else if (waiting.size < maxWaiting) waiting.set(event.requestId, [event])
    },
    close: () => provider.shutdown(),
  }
}

/** Attributes without the words of a question and without values. */
function attributesOf(call: QueryAnswered): Record<string, string | number> {
  return {
    'sluice.entry': call.entry,
    ...(call.projectId !== null && { 'sluice.project_id': call.projectId }),
    ...(call.environment !== null && { 'sluice.environment': call.environment }),
    ...(call.version !== null && { 'sluice.version': call.version }),
    'sluice.sql_ms': call.sqlMs,
    'sluice.queue_ms': call.queueMs,
    'sluice.rows': call.rows,
  }
}
