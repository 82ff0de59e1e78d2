/** How far something is, on standard error: one line that is written over where somebody looks, a line every few seconds elsewhere. */
import type { Terminal } from './program.ts'

const rewriteEveryMs = 200
const lineEveryMs = 5_000

export interface ProgressTeller {
  /** May be called as often as there is something new. */
  tell(line: string): void
  /** Leaves nothing half written. */
  end(): void
}

export function progressTeller({ err, rewrites }: Pick<Terminal, 'err' | 'rewrites'>): ProgressTeller {
  let toldAt = performance.now() - (rewrites === true ? rewriteEveryMs : 0)
  let isOpen = false
  return {
    tell(line) {
      const now = performance.now()
      if (now - toldAt < (rewrites === true ? rewriteEveryMs : lineEveryMs)) return
      toldAt = now
      isOpen = rewrites === true
      err(isOpen ? `\r${line}\u001B[K` : `${line}\n`)
    },
    end() {
      if (isOpen) err('\r\u001B[K')
      isOpen = false
    },
  }
}

/** `1.4 MB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
