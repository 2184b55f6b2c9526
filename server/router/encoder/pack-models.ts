import { writeFile } from 'node:fs/promises'
import { leaveSignalsToParent } from '../../process/index.ts'
import { encoderLevel, openPacked, openShipped, packedFiles, probeModel, readerLevel } from './model-session.ts'

/**
 * A process that opens models once and writes them down as they are when they are ready to run: optimised, and with
 * their weights in the order in which this processor reads them. It ends with an error where what was written says
 * another thing than the model itself. What it needs for this goes with it.
 */
leaveSignalsToParent()
const [, , folder = '', ...paths] = process.argv
// The encoder comes first, and the reader, if there is one, second.
for (const [at, path] of paths.entries()) {
  const { graph, weightsName, said } = packedFiles(folder, path)
  const shipped = await openShipped(path, at === 0 ? encoderLevel : readerLevel, { graph, weightsName })
  const says = await probeModel(shipped)
  const packed = await openPacked(graph)
  if (!says.equals(await probeModel(packed))) throw new Error(`${path} says another thing once it is packed.`)
  await writeFile(said, says)
}
