/** Builds `vendor/postgres`: the published driver with all patches of `patches/` (docs/decisions/patched-driver.md). */
import { applyPatch, parsePatch } from 'diff'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const patchName = /^postgres\+(\d+\.\d+\.\d+)\+(\d{3})\+[a-z0-9-]+\.patch$/

/** By path from the repository root. Throws an error that names a patch that does not apply. */
export async function generatedDriver(
  published = join(root, 'node_modules/postgres'),
  patches = join(root, 'patches'),
): Promise<Record<string, string>> {
  const files = await readPublished(published)
  const { version } = JSON.parse(files['package.json']!) as { version: string }
  for (const name of (await readdir(patches)).toSorted()) {
    const madeFor = patchName.exec(name)?.[1]
    if (madeFor === undefined)
      throw new Error(`patches/${name} is not named like postgres+3.4.9+001+what-it-fixes.patch`)
    if (madeFor !== version)
      throw new Error(
        `patches/${name} was made for another release than ${version}, which is installed: rename it, or remove it where that mended the same`,
      )
    apply(files, name, await readFile(join(patches, name), 'utf8'), version)
  }
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`vendor/postgres/${path}`, text]))
}

function apply(files: Record<string, string>, name: string, text: string, version: string): void {
  for (const patch of parsePatch(text)) {
    const path = patch.newFileName?.replace(/^b\//, '') ?? ''
    const before = files[path]
    const after = before === undefined || patch.hunks.length === 0 ? false : applyPatch(before, patch)
    if (after === false)
      throw new Error(
        `patches/${name} does not apply to ${path} of postgres ${version}: renew it, or remove it where that mended the same`,
      )
    files[path] = after
  }
}

async function readPublished(folder: string): Promise<Record<string, string>> {
  const modules = (await readdir(join(folder, 'src'))).toSorted().map((file) => `src/${file}`)
  const paths = ['package.json', ...modules, 'types/index.d.ts', 'types/package.json']
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const)),
  )
}
