/** Writes every generated file. With `--check` writes nothing, and fails when one is stale. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { generatedDriver } from './gen-driver.ts'

const root = join(import.meta.dirname, '..')
const check = process.argv.includes('--check')
const stale: string[] = []

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path)
    const there = await readFile(file, 'utf8').catch(() => '')
    if (there === text) continue
    stale.push(path)
    if (check) continue
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

await write(await generatedDriver())
// loaded late, because they use the generated driver
const [{ generatedSchema }, { generatedDocuments }] = await Promise.all([
  import('./gen-schema.ts'),
  import('./gen-documents.ts'),
])
await write({ 'schema.sql': await generatedSchema(), ...(await generatedDocuments()) })
if (stale.length === 0) console.log('generated files are fresh')
else console.log(`${check ? 'stale' : 'written'}: ${stale.join(', ')}`)
process.exit(check && stale.length > 0 ? 1 : 0)
