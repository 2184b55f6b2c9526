import { exceedsDepth } from '../../json-depth.ts'
import type { Place } from '../../ids.ts'

/** A resource, by its address. */
export type ResourceUri =
  | { kind: 'table'; projectId: string; environment: string; table: string }
  | { kind: 'openapi'; projectId: string; environment: string }
  | { kind: 'freshness'; projectId: string; environment: string }
  | {
      kind: 'rows'
      projectId: string
      environment: string
      name: string
      version: number
      from: number
      parameters: Record<string, unknown>
    }

const scheme = 'sluice:'
const maxChars = 100_000

export const rowsTemplate =
  'sluice://projects/{project_id}/environments/{environment}/queries/{name}/rows{?version,from,parameters}'

export function tableUri({ projectId, environment }: Place, table: string): string {
  return `sluice://projects/${projectId}/environments/${environment}/tables/${encodeURIComponent(table)}`
}

export function openapiUri({ projectId, environment }: Place): string {
  return `sluice://projects/${projectId}/environments/${environment}/openapi.json`
}

export function freshnessUri({ projectId, environment }: Place): string {
  return `sluice://projects/${projectId}/environments/${environment}/freshness`
}

/** The same rows when read again, as long as the data is the same: the version is part of the address. */
export function rowsUri(
  { projectId, environment, name, version }: Place & { name: string; version: number },
  { from, parameters }: { from: number; parameters: Record<string, unknown> },
): string {
  const search = new URLSearchParams({
    version: String(version),
    from: String(from),
    parameters: JSON.stringify(parameters),
  })
  return `sluice://projects/${projectId}/environments/${environment}/queries/${name}/rows?${search.toString()}`
}

/** Undefined for what is no address of ours; whether it may be read is asked of the rooms that keep it. */
export function parseUri(text: string): ResourceUri | undefined {
  const url = text.length > maxChars ? null : URL.parse(text)
  if (url === null || url.protocol !== scheme || url.host !== 'projects') return undefined
  const parts = url.pathname.split('/').slice(1).map(decoded)
  const [projectId, environments, environment, kind, name, rows] = parts
  if (projectId === undefined || environments !== 'environments' || environment === undefined) return undefined
  if (kind === 'openapi.json' && parts.length === 4) return { kind: 'openapi', projectId, environment }
  if (kind === 'freshness' && parts.length === 4) return { kind: 'freshness', projectId, environment }
  if (name === undefined) return undefined
  if (kind === 'tables' && parts.length === 5) return { kind: 'table', projectId, environment, table: name }
  if (kind !== 'queries' || rows !== 'rows' || parts.length !== 6) return undefined
  const version = wholeNumber(url.searchParams.get('version'))
  const from = wholeNumber(url.searchParams.get('from') ?? '0')
  const parameters = objectIn(url.searchParams.get('parameters') ?? '{}')
  if (version === undefined || from === undefined || parameters === undefined) return undefined
  return { kind: 'rows', projectId, environment, name, version, from, parameters }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Slots hold values and lists of them, nothing deeper. */
const maxDepth = 4

function objectIn(text: string): Record<string, unknown> | undefined {
  if (exceedsDepth(text, maxDepth)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
