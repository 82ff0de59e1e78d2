/** Writes every generated file. With `--check` writes nothing, and fails when one is stale. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatedDocuments } from './gen-documents.ts'
import { generatedSchema } from './gen-schema.ts'

const root = join(import.meta.dirname, '..')
const check = process.argv.includes('--check')
const files: Record<string, string> = { 'schema.sql': await generatedSchema(), ...(await generatedDocuments()) }
const stale: string[] = []
for (const [path, text] of Object.entries(files)) {
  const there = await readFile(join(root, path), 'utf8').catch(() => '')
  if (there === text) continue
  stale.push(path)
  if (!check) await writeFile(join(root, path), text)
}
if (stale.length === 0) console.log('generated files are fresh')
else console.log(`${check ? 'stale' : 'written'}: ${stale.join(', ')}`)
process.exit(check && stale.length > 0 ? 1 : 0)
