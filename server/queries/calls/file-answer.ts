import type { ReadFormat } from '../../engine/index.ts'
import { bindSlots } from '../slots/slots.ts'
import type { FileAnswer, KeptFiles } from './kept-files.ts'
import { answerKey, readBy, streamQuery } from './run.ts'
import type { Run, RunParts } from './run-types.ts'
import { answered, noteCaller, tellRun } from './watch-run.ts'

/** The whole result as a file, which is made once for all parts that are asked of it while the data stays. */
export async function fileAnswer(
  app: RunParts & { keptFiles: KeptFiles },
  run: Run,
  format: ReadFormat,
): Promise<FileAnswer> {
  const startedMs = performance.now()
  const bound = bindSlots(run.version.compiled(), run.parameters)
  const catalog = readBy(run, await app.catalogs.get(run.projectId))
  const key = `${format}\n${run.version.id}\n${answerKey(run.version, { bound, catalog })}`
  const answer = await app.keptFiles.open(key, () => streamQuery(app, run, format))
  if (!answer.isNew) {
    noteCaller(app, run)
    const { rowCount: rows, file } = answer
    tellRun(app, run, { ...answered(run), startedMs, rows, bytes: file.sizeBytes, sqlMs: 0, cache: 'hit' })
  }
  return answer
}
