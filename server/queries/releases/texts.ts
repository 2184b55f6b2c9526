import type { Transaction } from 'kysely'
import type { Dialect, Tables } from '../../store/index.ts'
import { contentOf, type QueryContent } from '../drafts/content.ts'
import { contentHashOf, draftOf, type Draft } from '../drafts/drafts.ts'
import { versionOf, type Version } from '../drafts/version-records.ts'

/** One content of a query, with all that has it: its draft, deployed versions, or both. */
export type QueryText = {
  draft: Draft
  /** A deployed version of this content; null for a draft that is deployed nowhere. */
  version: Version | null
  isDraft: boolean
  /** Environments where it is deployed. */
  places: Array<{ environment: string; versionId: string; number: number }>
}

type Reading = Pick<Transaction<Tables>, 'selectFrom'>

/** Contents of a project that are written for an engine, by the names of their queries; of each query the draft first. */
export async function readTexts(
  { db }: { db: Reading },
  { projectId, dialect }: { projectId: string; dialect: Dialect },
): Promise<QueryText[]> {
  const { drafts, live } = await readAll(db, projectId)
  return drafts.flatMap((draft) => {
    const own = live.filter(({ version }) => version.queryId === draft.id && version.dialect === dialect)
    const texts = new Map<string, QueryText>()
    if (draft.dialect === dialect) texts.set(draft.contentHash, { draft, version: null, isDraft: true, places: [] })
    for (const { environment, version } of own) {
      const text = texts.get(version.contentHash) ?? { draft, version, isDraft: false, places: [] }
      text.version ??= version
      text.places.push({ environment, versionId: version.id, number: version.number })
      texts.set(version.contentHash, text)
    }
    return [...texts.values()]
  })
}

export function contentOfText({ draft, version }: QueryText): QueryContent {
  return contentOf(version ?? draft)
}

/** The draft of the query with another content. */
export function asDraft({ draft }: QueryText, content: QueryContent): Draft {
  return { ...draft, ...content, contentHash: contentHashOf(content) }
}

/** Whether drafts and deployments have stayed as they were when `texts` was read. */
export async function areTextsStill(
  db: Reading,
  { projectId, dialect, texts }: { projectId: string; dialect: Dialect; texts: readonly QueryText[] },
): Promise<boolean> {
  const now = await readTexts({ db }, { projectId, dialect })
  return fingerprintOf(now) === fingerprintOf(texts)
}

function fingerprintOf(texts: readonly QueryText[]): string {
  const parts = texts.map(({ draft, isDraft, places }) => [
    draft.id,
    isDraft ? draft.revision : null,
    places.map(({ environment, versionId }) => `${environment} ${versionId}`).toSorted(),
  ])
  return JSON.stringify(parts.map((each) => JSON.stringify(each)).toSorted())
}

async function readAll(db: Reading, projectId: string) {
  const drafts = await db.selectFrom('queries').selectAll().where('projectId', '=', projectId).orderBy('name').execute()
  const rows = await db
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .selectAll('queryVersions')
    .select('deployments.environment')
    .where('deployments.projectId', '=', projectId)
    .orderBy('deployments.environment')
    .execute()
  return {
    drafts: drafts.map(draftOf),
    live: rows.map(({ environment, ...row }) => ({ environment, version: versionOf(row) })),
  }
}
