/** Builds `console/dist` when its sources changed. Plain JavaScript, because it runs on any Node. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Besides the files of `console/`. */
const sharedSources = ['package-lock.json', 'openapi.json', 'console-openapi.json']

/** `lock` resolves to its release. False if the build failed: the earlier build stays. */
export async function buildConsole(root, node, lock) {
  const folder = join(root, 'console')
  if (!existsSync(join(folder, 'package.json'))) return true
  const stamp = stampOf(root)
  if (builtStamp(folder) === stamp) return true
  const unlock = await lock()
  try {
    return builtStamp(folder) === stamp || build(root, node, stamp)
  } finally {
    unlock()
  }
}

function stampOf(root) {
  const hash = createHash('sha256')
  const shared = sharedSources.map((name) => join(root, name)).filter((file) => existsSync(file))
  for (const file of [...filesOf(join(root, 'console')), ...shared])
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

/** Without installed and built files. */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) return [path]
      return entry.name === 'node_modules' || entry.name.startsWith('dist') ? [] : filesOf(path)
    })
}

const builtStamp = (folder) => {
  const file = join(folder, 'dist', 'stamp')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** In a temporary folder that then replaces the earlier one. */
function build(root, node, stamp) {
  console.error('posthorn: building the console, once ...')
  const folder = join(root, 'console')
  const made = join(folder, 'dist-new')
  rmSync(made, { recursive: true, force: true })
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { status } = spawnSync(node, [vite, 'build', '--outDir', made, '--emptyOutDir', '--logLevel', 'warn'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) {
    console.error(
      'posthorn: the console could not be built (see above); the service runs without it, or with an earlier build of it.',
    )
    return false
  }
  compress(join(made, 'assets'))
  writeFileSync(join(made, 'stamp'), stamp)
  const [current, earlier] = [join(folder, 'dist'), join(folder, 'dist-old')]
  rmSync(earlier, { recursive: true, force: true })
  if (existsSync(current)) renameSync(current, earlier)
  renameSync(made, current)
  rmSync(earlier, { recursive: true, force: true })
  return true
}

/** At build time instead of at every request. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!/\.(js|css|svg)$/.test(name)) continue
    const bytes = readFileSync(file)
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }),
    )
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
