import type { Transaction } from 'kysely'
import type { Dialect, Tables } from '../../store/index.ts'
import { contentOf, type QueryContent } from '../content.ts'
import { contentHashOf, draftOf, type Draft } from '../drafts/drafts.ts'
import { versionOf, type Version } from '../drafts/version-records.ts'

/** A text of a query: that of its draft, or another that answers somewhere. */
export type QueryText = {
  draft: Draft
  /** What answers with it; null for a draft that nothing answers with. */
  version: Version | null
  isDraft: boolean
  /** Where it answers. */
  places: Array<{ environment: string; versionId: string; number: number }>
}

type Reading = Pick<Transaction<Tables>, 'selectFrom'>

/** Every text of a project that is written in a dialect, by the names of their queries; drafts first. */
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

/** What is written in a text, wherever it stands. */
export function contentOfText({ draft, version }: QueryText): QueryContent {
  return contentOf(version ?? draft)
}

/** The query as if this were its draft. */
export function asDraft({ draft }: QueryText, content: QueryContent): Draft {
  return { ...draft, ...content, contentHash: contentHashOf(content) }
}

/** Whether drafts and what answers are still what they were when these were read. */
export async function areTextsStill(
  db: Reading,
  { projectId, dialect, texts }: { projectId: string; dialect: Dialect; texts: readonly QueryText[] },
): Promise<boolean> {
  const now = await readTexts({ db }, { projectId, dialect })
  return namesOf(now) === namesOf(texts)
}

function namesOf(texts: readonly QueryText[]): string {
  const named = texts.map(({ draft, isDraft, places }) => [
    draft.id,
    isDraft ? draft.revision : null,
    places.map(({ environment, versionId }) => `${environment} ${versionId}`).toSorted(),
  ])
  return JSON.stringify(named.map((each) => JSON.stringify(each)).toSorted())
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
