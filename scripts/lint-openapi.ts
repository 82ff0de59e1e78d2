/** Reports problems of `openapi.json`; a step of `npm run check`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentProblems } from './lint-document.ts'

const problems = await documentProblems(await readFile(join(import.meta.dirname, '../openapi.json'), 'utf8'))
console.log(problems.length === 0 ? 'redocly and spectral: no problem' : problems.join('\n'))
process.exit(problems.length === 0 ? 0 : 1)
